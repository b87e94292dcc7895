//! References: objects that a spec or a node names, and that can't go while it does.
//!
//! A reference is a finalizer on the object that is named, [`id`]. Adding one before use, waiting until the object is ready,
//! and taking it away when it is no longer named is the loop's work; that of a field is to say which objects it means
//! ([`Names`]). A node says so by [`Calls::references`](crate::Calls::references). What is named is watched, so all concerned
//! are woken at once; nobody polls.
//!
//! A field of an object in a namespace names objects of that namespace, or of none. With `#[managed(reference = Kind, grant)]` it
//! names those of other namespaces, too, that allow it by the annotation [`ALLOW_FROM`]. An object that is in no namespace may name
//! any. The same holds for the references of a node.
//!
//! Objects that name each other in a ring are deleted all the same, once all of them, and all that name one of them, are to go: the
//! references that the youngest of them holds in the ring are released first, youngest by `creationTimestamp`, and by uid where that
//! is the same. Their conditions name the ring (`ReferenceRing`).
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
//!     // The relay's own key.
//!     #[managed(reference = Secret)]
//!     pub key: String,
//!     // The keys of all others that it talks to: whatever has these labels at the time.
//!     #[managed(reference = Secret)]
//!     #[schemars(schema_with = "opgen::reference::label_selector")]
//!     pub others: LabelSelector,
//! }
//! # fn main() {}
//! ```

pub(crate) mod finalizer;
mod hold;
mod named;
mod referrers;
mod ring;
mod selector;
mod targets;

use crate::cache::ObjectKey;

pub(crate) use finalizer::{id, is_reference, of_kind, referrer, said};
pub(crate) use named::{Named, NamespaceRule, Pointer, To, allows};
pub use opgen_api::reference::{ALLOW_FROM, Names, NamespacedName, ReferenceField, ReferenceTarget, label_selector};
pub(crate) use referrers::Referrers;
pub(crate) use selector::Selected;
pub(crate) use targets::{Graph, Targets};
