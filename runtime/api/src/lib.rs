//! Provides the API types of opgen for crates that define Kubernetes kinds: the derive [`Managed`], [`Status`], and references.
//!
//! A crate of API types depends on this crate only, under the name `opgen`. So clients of the kinds don't link the operator
//! runtime:
//!
//! ```toml
//! [dependencies]
//! opgen = { package = "opgen-api", version = "0.1" }
//! ```
//!
//! The derives of a kind expand to paths of k8s-openapi, kube, schemars, serde and serde_json, so the crate depends on these as well.
//!
//! `opgen` re-exports all items under the same paths.
//!
//! # Example
//!
//! ```
//! # extern crate opgen_api as opgen;
//! use opgen::prelude::*;
//!
//! #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
//! #[kube(group = "demo.example.com", version = "v1", kind = "Team", namespaced, status = "Status")]
//! pub struct TeamSpec {
//!     pub mail: String,
//! }
//! # fn main() {}
//! ```

#![warn(missing_docs)]

#[doc(hidden)]
pub mod bounds;
pub mod bucket;
mod bucket_of;
pub mod condition;
#[doc(hidden)]
pub mod kind;
mod managed;
pub mod reference;
mod schema;
pub mod validation;
pub mod versions;

pub use condition::Status;
pub use kind::{Kind, Typed};
pub use managed::Managed;
pub use opgen_macros::{Managed, versions};
pub use reference::NamespacedName;

/// The names that a crate of API types uses: the derives of a kind, their traits, [`Status`], and kube's `ResourceExt`.
///
/// The derives of kube, schemars and serde expand to paths of these crates, so a crate that uses them depends on these crates, too.
/// `opgen::prelude` has the same names, and those of an operator.
///
/// # Example
///
/// ```
/// # extern crate opgen_api as opgen;
/// use opgen::prelude::*;
///
/// #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
/// #[kube(group = "demo.example.com", version = "v1", kind = "Team", namespaced, status = "Status")]
/// pub struct TeamSpec {
///     pub members: Members,
/// }
///
/// #[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug)]
/// pub struct Members {
///     #[valid(at_most(most))]
///     pub least: i32,
///     pub most: i32,
/// }
///
/// let team = Team::new("blue", TeamSpec { members: Members { least: 3, most: 2 } });
/// assert_eq!(team.name_any(), "blue");
/// assert!(team.spec.members.validate(None).is_err());
/// # fn main() {}
/// ```
pub mod prelude {
    pub use kube::{CustomResource, ResourceExt};
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};

    pub use crate::{Managed, Status, validation::Validated};
}

/// Items for the expansions of macros and for `opgen`; not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        __bucket_of as bucket_of,
        bucket_of::{BucketOf, InKubernetes},
        condition::{Truth, Verdict, VerdictState, is_type},
        dynamic_kind,
        kind::kind_of,
        schema::schema_by_names,
        validation::{TypeOfField, WithoutRules},
    };
    pub use k8s_openapi::{
        apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };
    pub use kube::CustomResourceExt;
    pub use serde_json::Value;

    /// Items for the expansion of [`#[versions]`](macro@crate::versions).
    pub mod versions {
        pub use crate::versions::expansion::{Converted, Infallible, read, write};
    }

    /// Items for the expansion of [`dynamic_kind!`](crate::dynamic_kind).
    pub mod dynamic {
        pub use crate::kind::dynamic::{Content, deserialize, parts, serialize, split};
        pub use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
        pub use kube::Resource;
        pub use serde::{Deserialize, Deserializer, Serialize, Serializer};
        pub use serde_json::Value;
    }
}
