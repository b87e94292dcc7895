//! A framework for Kubernetes operators in Rust, which derives controllers, roles and manifests from annotated structs.
//!
//! - [`Managed`](derive@Managed) is the derive for the spec of a custom resource that an operator controls.
//! - [`Provisioner`](derive@Provisioner) is the derive for a *tree*: a struct whose fields are the child objects of the resource,
//!   groups of them, or hand-written nodes.
//!
//! From both, opgen derives the CustomResourceDefinition, the controller with its informers and finalizers, the RBAC role and the
//! install manifests.
//!
//! # Where to start
//!
//! 1. Import the [`prelude`]. It contains the names that nearly every file of an operator uses.
//! 2. Declare a kind and its tree, as below. The derive [`Provisioner`](derive@Provisioner) lists the attributes of a tree, and
//!    [`Provision`] is the trait of a hand-written node.
//! 3. Build an [`Operator`], which runs one controller for each kind. The macro [`operator!`] expands to its `main` function.
//! 4. Set the options of a controller, such as other watched kinds, listers and resync periods, with [`Controller`].
//! 5. Test trees without a cluster with [`testing`].
//!
//! # Example
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use opgen::prelude::*;
//!
//! // A web application.
//! #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
//! #[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
//! pub struct WebAppSpec {
//!     pub greeting: String,
//! }
//!
//! // The child objects of a WebApp.
//! #[derive(Provisioner)]
//! #[provisioner(serial, owner = WebApp)]
//! pub struct WebAppTree {
//!     #[provisioner(resource)]
//!     config: ConfigMap,
//! }
//!
//! impl WebAppTree {
//!     fn config(app: &WebApp) -> ConfigMap {
//!         ConfigMap { data: Some([("greeting".into(), app.spec.greeting.clone())].into()), ..ConfigMap::default() }
//!     }
//! }
//!
//! // In a binary, `opgen::operator! { WebApp => WebAppTree }` expands to the `main` of this operator.
//! let operator = Operator::new("webapp").controls::<WebApp, WebAppTree>();
//! # drop(operator);
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`prelude`] | The names that nearly every file of an operator uses. |
//! | [`shape`] | The description of trees as constant data: nodes, edges and permissions. |
//! | [`context`] | The arguments of provisioners, and the API calls of hand-written nodes. |
//! | [`access`] | The permissions of hand-written nodes, as traits that the compiler checks. |
//! | [`bucket`] | Stores of objects that no API server knows. |
//! | [`error`] | The outcomes of a pass besides success, and when the operator retries after each. |
//! | [`controller`] | The options of the controller of one kind. |
//! | [`manager`] | Work of your own in the process of an operator. |
//! | [`command`] | The verbs of an operator's command line. |
//! | [`reference`] | Finalizers that keep an object from being deleted while another one names it. |
//! | [`readiness`] | The readiness of objects, by the rules of kstatus. |
//! | [`condition`] | The status conditions of managed kinds. |
//! | [`patch`] | The difference between an object as read and as edited, for writes. |
//! | [`manifest`] | Generation, checks and comparison of the YAML manifests of an operator. |
//! | [`counters`] | Counters of an operator, for a metrics exporter. |
//! | [`environment`] | The clock and the random numbers of an operator, replaceable in tests. |
//! | [`testing`] | Unit tests of trees and webhooks without a cluster. |
//! | [`versions`](mod@versions) | Versions of a kind, and the conversion between them. |
//! | [`cd`] | Applications, which a tree deploys with Argo CD, Flux or Helm. |
//! | [`scope`] | Nodes whose objects are in another cluster. |
//! | [`bucket`] | Objects in key-value buckets, for example of NATS, instead of Kubernetes. |
//! | [`external`] | Nodes that own external resources, such as DNS records. |
//! | `nats` | Buckets in NATS JetStream, with the feature `nats`. |
//! | [`webhook`] | Admission webhooks: validation and defaults by functions. |

#![warn(missing_docs)]

#[cfg(panic = "abort")]
compile_error!("opgen contains the panics of provisioners; remove `panic = \"abort\"` from the profile");

pub mod access;
pub mod bucket;
#[doc(hidden)]
pub mod cache;
pub mod cd;
mod child_process;
mod client;
pub mod command;
pub mod context;
pub mod controller;
pub mod counters;
mod crypto_provider;
mod dns_name;
mod engine;
pub mod environment;
pub mod error;
mod event;
pub mod external;
mod foreign;
mod garbage;
mod informer;
mod json_order;
mod label_value;
mod lease;
#[cfg(test)]
mod log;
#[cfg(test)]
mod loopback;
mod managed;
pub mod manager;
pub mod manifest;
pub mod metrics;
#[cfg(feature = "nats")]
pub mod nats;
mod nearest;
mod panic;
pub mod patch;
pub mod policy;
mod predicate;
mod provisioner;
#[doc(hidden)]
pub mod queue;
pub mod readiness;
mod reconcile;
pub mod reference;
pub mod scope;
mod server;
pub mod shape;
mod shard;
mod spans;
mod tasks;
pub mod testing;
mod text_hash;
pub mod webhook;

pub use access::subresource::Subresource;
pub use cache::ObjectKey;
pub use client::timeouts::Timeouts;
pub use context::{Cause, Context, Draft, Teardown};
pub use controller::{Controller, channel::Channel, mapped::Enqueue};
pub use error::{CallError, Error, Result, yield_because};
pub use event::EventType;
pub use foreign::Foreign;
pub use informer::lister::Lister;
pub use managed::{Each, For, Owner};
pub use manager::{operator::Operator, run_error::RunError, run_options::RunOptions};
pub use opgen_api::{Kind, Managed, Status, Typed, condition, dynamic_kind};
pub(crate) use opgen_api::{bounds, kind};
pub use opgen_macros::{Provisioner, operator, versions};
pub use predicate::Predicate;
pub use provisioner::{Keyed, Provision, group::Wanted, manifest::Manifest, output::Output};
pub use queue::Backoff;
pub use reference::NamespacedName;
pub use shape::Provisioner;

/// The objects of a [`Lister`], as [`Lister::read`] passes them.
pub mod lister {
    pub use crate::informer::lister::ListedObjects;
}

/// Leader election: its options, and why a lead is lost.
pub mod leader_election {
    pub use crate::lease::{
        elector::LeadLoss,
        options::{LeaderElection, LeaderElectionError},
    };
}

/// Rules between the fields of a spec: the trait and derive `Validated`, and the rules as data.
pub mod validation {
    pub use opgen_api::validation::{
        FieldCondition, FieldValue, InvalidField, RuleExpression, RuleKind, RuleProblem, Validated, Validation,
        ValidationOf, ValidationRule,
    };
}

/// The versions of a kind, and the conversion of objects between them. The attribute [`#[versions]`](macro@versions) makes both from the
/// history of a struct.
pub mod versions {
    pub use opgen_api::versions::{
        CONVERSION_DATA_ANNOTATION, Conversion, ConversionError, ConversionOf, ConvertError, ConvertFields,
        FieldChange, FieldPath, FieldProblem, VariantChange, Version, Versioned, VersionedKind, Versions, VersionsOf,
        convert,
    };
}

/// The trait `Factory`, which describes one controlled kind to an operator, and its parts.
pub mod factory {
    pub use crate::controller::{
        Settings,
        factory::{BoxReconciler, Factory, SpecFacts},
    };
}

/// The names that nearly every file of an operator uses. It includes kube's `ResourceExt`, with which build functions read the
/// name, the namespace and the uid of an object, and all names of [`opgen_api::prelude`]: the derives of a kind.
///
/// The derives of kube, schemars and serde expand to paths of these crates, so a crate that uses them depends on these crates, too.
///
/// # Example
///
/// ```
/// # use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
/// use opgen::prelude::*;
///
/// fn settings(team: &Namespace) -> ConfigMap {
///     let mut settings = ConfigMap::default();
///     settings.metadata.name = Some(format!("{}-settings", team.name_any()));
///     settings
/// }
/// # let mut team = Namespace::default();
/// # team.metadata.name = Some("blue".to_owned());
/// # assert_eq!(settings(&team).metadata.name.as_deref(), Some("blue-settings"));
/// ```
pub mod prelude {
    pub use kube::{CustomResource, ResourceExt};
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};

    pub use crate::{
        Context, Draft, Each, Error, EventType, For, Foreign, Keyed, Managed, Manifest, Operator, Output, Provision,
        Provisioner, Result, Status, Teardown, Wanted, operator, validation::Validated, yield_because,
    };
}

/// Items that the expansions of the macros use; not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        command::cli::{main, main_with},
        context::Draft,
        provisioner::{
            application::{application_edge, application_of, apply_application, remove_application},
            build::{BuildResult, ResourceField, desired_objects},
            escalation::granted_roles,
            group::{
                WhenResult, apply, apply_with, down, edge, is_wanted, namespace_node, namespace_of_group,
                namespace_of_resource, not_wanted, remove, remove_with, resource_edge, retire, up, up_with,
            },
            input::{call1, call2, call3, call4, subject},
            keyed::{Keys, down_each, keyed, keys_below, keys_of_objects, text, up_each},
            manifest::{applied, apply_file, apply_manifest, manifest_edge, remove_manifest, text_of},
            nested::{ErroneousChild, Group, NoChildren, NodeChild as Node, ResourceChild as Resource, Several},
            output::{HasOutput, inputs_digest, node_output, read, version},
            remote::{down_remote, kubeconfig_of, remote_edge, up_remote},
            schedule::{boxed, concurrently, in_order},
        },
        readiness::pod::PODS,
    };
    pub use opgen_api::__private::{
        CustomResourceDefinition, CustomResourceExt, ObjectMeta, TypeOfField, Value, WithoutRules, bucket_of, dynamic,
        dynamic_kind, kind_of, schema_by_names, versions,
    };

    /// Returns the draft (the argument of user functions) for a function that runs in every pass, such as a `when`. The result of such a
    /// function is never reused, so that its reads need no tracking.
    pub fn draft<'c, O: crate::Owner, P: crate::Provisioner>(cx: &'c crate::Context<'_, O, P>) -> Draft<'c, O> {
        cx.untracked_draft()
    }

    /// Returns the draft for the function that computes the items of an `each`.
    pub fn draft_of_items<'c, O: crate::Owner, P: crate::Provisioner>(
        cx: &'c crate::Context<'_, O, P>,
    ) -> Draft<'c, O> {
        cx.items_draft()
    }
}

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
