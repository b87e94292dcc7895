//! Kubernetes operators, generated from annotated structs.
//!
//! A resource says what it *is* (`#[derive(Managed)]`) and what it is *made of* (`#[derive(Provisioner)]`); its definition, its
//! controller, the watches, finalizers, role and manifests follow. Start with [`prelude`], and with [`Operator`] for what
//! runs.

#[cfg(panic = "abort")]
compile_error!("opgen contains the panics of provisioners; remove `panic = \"abort\"` from the profile");

pub mod access;
pub mod cache;
mod client;
mod command;
mod context;
mod controller;
mod counters;
mod engine;
mod environment;
mod error;
mod event;
mod foreign;
mod garbage;
mod informer;
#[cfg(test)]
mod log;
mod managed;
mod manager;
pub mod manifest;
mod panic;
pub mod patch;
mod predicate;
mod provisioner;
pub mod queue;
mod readiness;
mod reconcile;
pub mod reference;
mod shape;
pub mod testing;

pub use crate::reconcile::{
    change::{News, RECONCILE},
    next::REQUEUE,
};
pub use access::part::{self, Part};
pub use client::{CallError, MissingRule, timeouts::Timeouts};
pub use context::{Calls, Cause, Context, Draft, PartCalls, References, Teardown};
pub use controller::{
    Controller, Settings,
    channel::{Channel, Lane},
    factory::{Factory, Runs, SpecFacts},
    mapped::{Follow, Mapped},
};
pub use counters::{Counters, Orphans};
pub use environment::{Environment, Passed, Passing};
pub use error::{BoxError, Error, Result, yield_because};
pub use event::EventType;
pub use foreign::Foreign;
pub use informer::view::{Shown, View};
pub use informer::watch::{Health, WatchState};
pub use managed::{Each, For, Owner};
pub use opgen_api::{Kind, Managed, Status, Typed, condition, dynamic_kind};
pub(crate) use opgen_api::{bounds, kind};
pub use opgen_macros::{Provisioner, operator};
pub use panic::Closure;
pub use predicate::Predicate;
pub use readiness::{Readiness, readiness};
pub use reference::NamespacedName;
pub use {
    crate::shape::Provisioner,
    provisioner::{
        Keyed, Provision,
        build::{Builds, Objects},
        group::{Answers, Wanted},
        manifest::Manifest,
        output::Made,
    },
    shape::{
        Access, Count, Edge, Embedded, Malformed, Node, Order, Path, Place, Reach, ResourceOptions, Shape, Stop, Verb,
    },
};
pub use {
    command::{lookup::LiveError, why::cause::Why},
    manager::{conditions::ConditionsError, operator::Operator, run::RunOptions, run_error::RunError},
};

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
        Context, Draft, Each, Error, EventType, For, Foreign, Keyed, Made, Managed, Manifest, Operator, Provision,
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
            build::wanted,
            escalation::hand_on,
            group::{
                apply, apply_with, down, edge, is_wanted, not_wanted, remove, remove_with, resource_edge, retire, up,
                up_with,
            },
            input::{ask1, ask2, ask3, ask4, subject},
            keyed::{Keys, down_each, keyed, keys_below, keys_of_objects, text, up_each},
            manifest::{applied, apply_file, apply_manifest, manifest_edge, remove_manifest, text_of},
            nested::{Group, Mended, NoChildren, NodeChild as Node, ResourceChild as Resource, Several},
            output::{GivesValue, given, inputs, read, version},
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
