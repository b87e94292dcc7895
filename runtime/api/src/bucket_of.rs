//! `BucketOf` finds the bucket of a type in the expansion of a macro, which can't know whether the type implements `Managed`.

use crate::{
    bucket::{BucketDefinition, KindInBucket},
    managed::Managed,
};
use std::marker::PhantomData;

impl KindInBucket {
    /// Returns a kind with the NATS bucket that stores its objects; `None` if Kubernetes stores them.
    ///
    /// ```
    /// # extern crate opgen_api as opgen;
    /// use opgen::{bucket::KindInBucket, prelude::*};
    ///
    /// #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
    /// #[kube(group = "demo.example.com", version = "v1", kind = "Team", namespaced, status = "Status")]
    /// #[managed(nats(bucket = "teams"))]
    /// pub struct TeamSpec {
    ///     pub size: i32,
    /// }
    ///
    /// let team = KindInBucket::of::<Team>();
    /// assert_eq!(team.map(|team| team.bucket.name), Some("teams".into()));
    /// # fn main() {}
    /// ```
    pub fn of<K: Managed>() -> Option<Self> {
        let in_bucket = |bucket: BucketDefinition| Self { kind: K::kind(), bucket, definition: K::DEFINITION };
        K::BUCKET.map(in_bucket)
    }
}

/// Finds the bucket of `T`: a kind, or `Option` or `Vec` of one. For a [`Managed`] kind, `BucketOf::<T>::KIND` is the constant of this
/// type, and for any other that of [`InKubernetes`]: the compiler prefers a constant of the type to one of a trait.
#[derive(Debug)]
pub struct BucketOf<T>(PhantomData<fn() -> T>);

impl<K: Managed> BucketOf<K> {
    /// Returns the kind with its bucket; `None` for a kind in Kubernetes.
    pub const KIND: fn() -> Option<KindInBucket> = KindInBucket::of::<K>;
}

impl<K: Managed> BucketOf<Option<K>> {
    /// Returns the kind with its bucket; `None` for a kind in Kubernetes.
    pub const KIND: fn() -> Option<KindInBucket> = KindInBucket::of::<K>;
}

impl<K: Managed> BucketOf<Vec<K>> {
    /// Returns the kind with its bucket; `None` for a kind in Kubernetes.
    pub const KIND: fn() -> Option<KindInBucket> = KindInBucket::of::<K>;
}

/// Has the constant `KIND` of [`BucketOf`] for types that are no [`Managed`] kind.
pub trait InKubernetes {
    /// Returns `None`.
    const KIND: fn() -> Option<KindInBucket> = || None;
}

impl<T> InKubernetes for BucketOf<T> {}

/// Expands to a function that returns the NATS bucket of a kind, or of the kind in an `Option` or `Vec`. The function returns `None` for a
/// kind in Kubernetes: a type that is not `Managed` gets the constant of the trait `InKubernetes`.
#[doc(hidden)]
#[macro_export]
macro_rules! __bucket_of {
    ($type:ty) => {{
        #[allow(unused_imports, reason = "a kind in a bucket needs no trait")]
        use $crate::__private::InKubernetes as _;
        $crate::__private::BucketOf::<$type>::KIND
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;

    #[test]
    fn a_kind_that_is_not_managed_is_in_kubernetes() {
        assert!((BucketOf::<ConfigMap>::KIND)().is_none());
        assert!((BucketOf::<Option<ConfigMap>>::KIND)().is_none());
        assert!((BucketOf::<Vec<ConfigMap>>::KIND)().is_none());
    }
}
