//! `bucket_client`: creates a Kubernetes client for objects that are stored in key-value buckets, for tests that read and write them as an
//! operator does.

use crate::{
    bucket::{Bucket, BucketApi, BucketKind},
    environment::Environment,
    kind::Kind,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::sync::Arc;

/// Returns a client that serves the objects of these kinds from their buckets, as an operator serves them to itself. The clock of the
/// environment sets the times of new objects. The client has no other kinds: it answers requests for them with 404.
#[doc(hidden)]
pub fn bucket_client(
    kinds: impl IntoIterator<Item = (CustomResourceDefinition, Arc<dyn Bucket>)>,
    environment: Environment,
) -> kube::Client {
    let kinds =
        kinds.into_iter().map(|(definition, bucket)| BucketKind::defined(kind(&definition), bucket, &definition));
    BucketApi::new(kinds.collect(), environment).standalone_client()
}

/// Returns the kind that a CustomResourceDefinition defines, in its storage version.
fn kind(definition: &CustomResourceDefinition) -> Kind {
    let spec = &definition.spec;
    let stored = spec.versions.iter().find(|version| version.storage).or(spec.versions.first());
    Kind {
        group: spec.group.clone().into(),
        version: stored.map(|version| version.name.clone()).unwrap_or_default().into(),
        kind: spec.names.kind.clone().into(),
        plural: spec.names.plural.clone().into(),
        namespaced: spec.scope == "Namespaced",
    }
}
