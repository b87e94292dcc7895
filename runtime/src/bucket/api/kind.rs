//! `BucketKind`: a kind whose objects are in a key-value bucket, with its schema and subresources.

use crate::{bucket::store::Bucket, kind::Kind};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opgen_schema::{Schema, parse_schema};
use serde_json::Value;
use std::sync::Arc;

/// A kind whose objects are in a bucket. The bucket has objects of this kind only.
#[derive(Clone, Debug)]
pub(crate) struct BucketKind {
    pub(crate) kind: Kind,
    pub(crate) bucket: Arc<dyn Bucket>,
    /// The structural schema; `None` accepts any object.
    pub(crate) schema: Option<Arc<Schema>>,
    /// Whether the status is a subresource, which other writes don't change.
    pub(crate) has_status: bool,
    /// Whether the objects have a generation, which counts changes of the spec.
    pub(crate) has_generation: bool,
    /// Whether each replica reconciles only a shard of the objects, which their uids determine.
    pub(crate) has_shards: bool,
}

impl BucketKind {
    /// Returns a kind without a schema, status and generation, such as a Lease or a ConfigMap.
    pub(crate) fn plain(kind: Kind, bucket: Arc<dyn Bucket>) -> Self {
        Self { kind, bucket, schema: None, has_status: false, has_generation: false, has_shards: false }
    }

    /// Returns a custom kind with the schema of its version in the CustomResourceDefinition, and with a status if that version declares the
    /// status subresource.
    pub(crate) fn defined(kind: Kind, bucket: Arc<dyn Bucket>, definition: &CustomResourceDefinition) -> Self {
        let version = definition.spec.versions.iter().find(|version| version.name == kind.version);
        let version = version.and_then(|version| serde_json::to_value(version).ok()).unwrap_or_default();
        let schema = version.pointer("/schema/openAPIV3Schema").filter(|schema| schema.is_object());
        let schema = schema.map(|schema| Arc::new(parse_schema(schema, None)));
        let has_status = version.pointer("/subresources/status").is_some_and(Value::is_object);
        Self { kind, bucket, schema, has_status, has_generation: true, has_shards: false }
    }

    /// Sets whether each replica reconciles only a shard of the objects, which their uids determine.
    pub(crate) fn with_shards(mut self, has_shards: bool) -> Self {
        self.has_shards = has_shards;
        self
    }

    /// Returns the full name of the resource, as messages have it: `webapps.demo.example.com`.
    pub(crate) fn resource(&self) -> String {
        self.kind.full_name()
    }
}
