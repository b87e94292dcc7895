//! `BucketDefinition`: the key-value bucket of NATS that keeps the objects of a kind.

use crate::kind::Kind;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::{borrow::Cow, time::Duration};

/// The bucket that keeps the objects of a kind instead of Kubernetes: its name, and the settings with which it is created.
///
/// `#[managed(nats(bucket = "units"))]` sets it as [`Managed::BUCKET`](crate::Managed::BUCKET).
///
/// ```
/// # extern crate opgen_api as opgen;
/// # use std::time::Duration;
/// use opgen::bucket::BucketDefinition;
///
/// const UNITS: BucketDefinition = BucketDefinition::new("units").history(10).max_age(Duration::from_secs(3_600));
/// assert_eq!((UNITS.history, UNITS.replicas), (10, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketDefinition {
    /// The name: letters, digits, `-` and `_`.
    pub name: Cow<'static, str>,
    /// The number of values that are kept of each key, 1 to 64. Default: 5. An operator that creates the bucket takes the nearest number
    /// for any other: 1 for 0, and 64 for more.
    pub history: u8,
    /// The number of servers that keep the bucket, 1 to 5. Default: 1. NATS takes 0 as 1, and refuses to create a bucket with more than 5.
    pub replicas: u8,
    /// The time after its last write at which an entry is deleted. Default: `None`, never.
    pub max_age: Option<Duration>,
    /// Where the servers keep the bucket. Default: in files.
    pub storage: BucketStorage,
}

/// A kind whose objects are in a bucket.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KindInBucket {
    /// The kind.
    pub kind: Kind,
    /// The bucket with the objects.
    pub bucket: BucketDefinition,
    /// Returns the definition of the kind, with the schema of the objects; `None` if there is none.
    pub definition: Option<fn() -> CustomResourceDefinition>,
}

/// Where servers keep a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BucketStorage {
    /// In files.
    #[default]
    File,
    /// In memory: the bucket is lost with the last server that has it.
    Memory,
}

impl BucketStorage {
    /// Returns the name that NATS uses: `file` or `memory`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Memory => "memory",
        }
    }
}

impl BucketDefinition {
    /// Returns a bucket with the default settings.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self::named(Cow::Borrowed(name))
    }

    /// Returns a bucket with the default settings, whose name is known at run time only.
    #[must_use]
    pub const fn named(name: Cow<'static, str>) -> Self {
        Self { name, history: 5, replicas: 1, max_age: None, storage: BucketStorage::File }
    }

    /// Sets the number of values that the bucket keeps of each key, 1 to 64. An operator that creates the bucket replaces 0 by 1, and more
    /// than 64 by 64.
    #[must_use]
    pub const fn history(mut self, values: u8) -> Self {
        self.history = values;
        self
    }

    /// Sets the number of servers that keep the bucket, 1 to 5. NATS takes 0 as 1, and refuses to create a bucket with more than 5.
    #[must_use]
    pub const fn replicas(mut self, servers: u8) -> Self {
        self.replicas = servers;
        self
    }

    /// Sets the time after its last write at which an entry is deleted, at least one second.
    #[must_use]
    pub const fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }

    /// Sets where the servers keep the bucket.
    #[must_use]
    pub const fn storage(mut self, storage: BucketStorage) -> Self {
        self.storage = storage;
        self
    }
}
