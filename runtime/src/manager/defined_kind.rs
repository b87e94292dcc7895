//! `DefinedKind`: a kind whose CustomResourceDefinition the operator provides, and whose objects no controller of the operator reconciles.

use crate::{
    bucket::BucketDefinition, kind::Kind, manifest::RoundTrip, validation::ValidationOf, versions::VersionsOf,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

/// A kind whose definition is installed, and whose objects have no controller in this operator.
#[derive(Clone, Debug)]
pub(crate) struct DefinedKind {
    pub(super) kind: Kind,
    pub(super) definition: fn() -> CustomResourceDefinition,
    pub(super) schema: Option<fn() -> Value>,
    pub(super) validation: Option<ValidationOf>,
    pub(super) versions: Option<VersionsOf>,
    pub(super) bucket: Option<BucketDefinition>,
    pub(super) round_trip: RoundTrip,
}
