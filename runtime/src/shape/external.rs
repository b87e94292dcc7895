//! Defines the permissions for the ConfigMap in which a tree node that manages an external resource keeps its record.

use super::{location::SourceLocation, permission::Access, verb::Verb};
use crate::kind::kind_of;
use k8s_openapi::api::core::v1::ConfigMap;

/// The permissions for the record of an external node: a ConfigMap in the namespace of the operator, which the operator reads live.
pub(crate) const EXTERNAL_RECORD_ACCESS: &[Access] = &[Access::to(
    kind_of::<ConfigMap>,
    &[Verb::Get, Verb::List, Verb::Create, Verb::Patch, Verb::Delete],
    SourceLocation::UNKNOWN,
)];
