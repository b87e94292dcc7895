//! Kubernetes operators, generated from annotated structs.
//!
//! A resource says what it *is* (`#[derive(Managed)]`) and what it is *made of* (`#[derive(Provisioner)]`); its definition, its
//! controller, the watches, finalizers, role and manifests follow. Start with [`prelude`], and with [`Operator`] for what
//! runs.

#![warn(missing_docs)]

#[cfg(panic = "abort")]
compile_error!("opgen contains the panics of provisioners; remove `panic = \"abort\"` from the profile");

pub mod access;
#[doc(hidden)]
pub mod cache;
mod client;
pub mod command;
pub mod context;
pub mod controller;
pub mod counters;
mod engine;
pub mod environment;
pub mod error;
mod event;
mod foreign;
mod garbage;
mod informer;
#[cfg(test)]
mod log;
mod managed;
mod manager;
pub mod manifest;
pub mod metrics;
mod panic;
pub mod patch;
mod predicate;
mod provisioner;
#[doc(hidden)]
pub mod queue;
pub mod readiness;
mod reconcile;
pub mod reference;
pub mod shape;
pub mod testing;

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
pub use manager::{conditions::ConditionsError, operator::Operator, run::RunOptions, run_error::RunError};
pub use opgen_api::{Kind, Managed, Status, Typed, condition, dynamic_kind};
pub(crate) use opgen_api::{bounds, kind};
pub use opgen_macros::{Provisioner, operator};
pub use predicate::Predicate;
pub use provisioner::{Keyed, Provision, group::Wanted, manifest::Manifest, output::Output};
pub use queue::Backoff;
pub use reference::NamespacedName;
pub use shape::Provisioner;

/// The objects of a [`Lister`], as [`Lister::read`] passes them.
pub mod lister {
    pub use crate::informer::lister::ListedObjects;
}

/// The trait `Factory`, which describes one controlled kind to an operator, and its parts.
pub mod factory {
    pub use crate::controller::{
        Settings,
        factory::{BoxReconciler, Factory, SpecFacts},
    };
}

/// What a project of an operator names all the time; and of kube what a builder asks an object: its name, its namespace, its uid.
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
    pub use kube::ResourceExt;

    pub use crate::{
        Context, Draft, Each, Error, EventType, For, Foreign, Keyed, Managed, Manifest, Operator, Output, Provision,
        Provisioner, Result, Status, Teardown, Wanted, operator, yield_because,
    };
}

/// What expansions name; nothing for people.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        command::cli::{main, main_with},
        context::Draft,
        provisioner::{
            build::{BuildResult, ResourceField, wanted},
            escalation::granted_roles,
            group::{
                WhenResult, apply, apply_with, down, edge, is_wanted, not_wanted, remove, remove_with, resource_edge,
                retire, up, up_with,
            },
            input::{call1, call2, call3, call4, subject},
            keyed::{Keys, down_each, keyed, keys_below, keys_of_objects, text, up_each},
            manifest::{applied, apply_file, apply_manifest, manifest_edge, remove_manifest, text_of},
            nested::{ErroneousChild, Group, NoChildren, NodeChild as Node, ResourceChild as Resource, Several},
            output::{HasOutput, inputs_digest, node_output, read, version},
            schedule::{boxed, concurrently, in_order},
        },
        readiness::pod::PODS,
    };
    pub use opgen_api::__private::{
        CustomResourceDefinition, CustomResourceExt, ObjectMeta, Value, dynamic, dynamic_kind, kind_of, schema_by_names,
    };

    /// What a function sees that runs in every pass.
    pub fn draft<'c, O: crate::Owner, P: crate::Provisioner>(cx: &'c crate::Context<'_, O, P>) -> Draft<'c, O> {
        cx.untracked_draft()
    }

    /// What a function sees that makes the items of an `each`.
    pub fn draft_of_items<'c, O: crate::Owner, P: crate::Provisioner>(
        cx: &'c crate::Context<'_, O, P>,
    ) -> Draft<'c, O> {
        cx.items_draft()
    }
}

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
