//! Manages references: finalizers that keep an object from being deleted while a spec or a node names it.
//!
//! A reference is a finalizer on the referenced object (the *target*), whose name identifies the referring object (the *referrer*).
//! The control loop adds the finalizer before the first use, waits until the target is ready, and removes the finalizer when the
//! referrer no longer names the target. The type of a field decides which objects the field names ([`Names`]). A node references
//! objects with [`Calls::references`](crate::context::Calls::references). The operator watches the targets, so a change of
//! the readiness or of the content of a target enqueues its referrers at once, without polling. A target without
//! `metadata.generation`, such as a ConfigMap, is compared by hashes of its content. If only its metadata is watched, each new
//! `resourceVersion` counts, unless the metadata shows that the write changed only finalizers, annotations of operators or the status.
//! The renewal of a Lease counts as no change. Endpoints change whenever one of their Pods gets ready or goes.
//!
//! A field of a namespaced object names objects in the same namespace, or cluster-scoped objects. With
//! `#[managed(reference = Kind, grant)]` it can also name objects in other namespaces that allow it by the annotation
//! [`ALLOW_FROM`]. A cluster-scoped object can name any object. The same rules apply to the references of a node.
//!
//! Objects can name each other in a ring. The ring is broken once all its members, and all objects that name one of them, are
//! being deleted: the operator first releases the references of the youngest member on other members. The youngest is the member
//! with the latest `creationTimestamp`, and among equals the one with the greatest uid. The conditions of the members name the
//! ring (`ReferenceRing`).
//!
//! ```
//! # use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::LabelSelector};
//! # use kube::CustomResource;
//! # use opgen::prelude::*;
//! # use schemars::JsonSchema;
//! # use serde::{Deserialize, Serialize};
//! #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
//! #[kube(group = "demo.example.com", version = "v1", kind = "Relay", namespaced, status = "Status")]
//! pub struct RelaySpec {
//!     // The Secret with the key of this relay.
//!     #[managed(reference = Secret)]
//!     pub key: String,
//!     // The Secrets with the keys of its peers: all Secrets that have these labels now.
//!     #[managed(reference = Secret)]
//!     #[schemars(schema_with = "opgen::reference::label_selector")]
//!     pub others: LabelSelector,
//! }
//! # fn main() {}
//! ```

mod content;
pub(crate) mod finalizer;
mod hold;
mod named;
mod referrers;
mod ring;
mod selector;
mod targets;

use crate::cache::ObjectKey;

pub(crate) use finalizer::{describe, finalizer_name, finalizer_prefix, is_reference, referrer};
pub(crate) use named::{NamedTarget, NamespaceRule, Pointer, PointerTarget, allows};
pub use opgen_api::reference::{ALLOW_FROM, Names, NamespacedName, ReferenceField, ReferenceTarget, label_selector};
pub(crate) use referrers::Referrers;
pub(crate) use selector::ScopedSelector;
pub(crate) use targets::{Graph, TargetState, Targets};
