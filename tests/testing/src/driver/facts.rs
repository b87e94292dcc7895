//! `DriverFacts`: the constants and functions of a driver of a CD system as values, so that the suite is not generic over the driver's
//! type.

use std::any::type_name;

use opgen::{
    Kind,
    cd::{Application, ApplicationSpec, Driver, InvalidApplication, Registration},
    shape::{Access, AccessTarget, Verb},
    testing::ApplicationHarness,
};
use serde_json::Value;

use crate::simulation::catch_panic;

/// The verbs that the operator needs to apply, watch and delete an object.
pub(super) const VERBS: [Verb; 6] = [Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];

/// The constants and functions of a driver.
#[derive(Clone, Copy)]
pub(super) struct DriverFacts {
    pub(super) type_name: &'static str,
    pub(super) name: &'static str,
    pub(super) access: &'static [Access],
    pub(super) registration: Option<Registration>,
    objects: fn(&ApplicationSpec) -> Result<Vec<Value>, InvalidApplication>,
    resolve: fn(&ApplicationHarness, Application) -> Result<ApplicationSpec, InvalidApplication>,
}

/// A kind of a driver's access, with the namespace to which its permission is limited.
pub(super) struct AppliedKind {
    pub(super) kind: Kind,
    pub(super) namespace: Option<&'static str>,
}

/// What a driver returns for an application.
#[derive(PartialEq)]
pub(super) enum DriverAnswer {
    Objects(Vec<Value>),
    /// The text of the error.
    Refused(String),
    /// The message and the location of the panic.
    Panicked(String),
}

impl DriverFacts {
    /// Returns the constants and functions of a driver.
    pub(super) fn of<D: Driver>() -> Self {
        Self {
            type_name: type_name::<D>(),
            name: D::NAME,
            access: D::ACCESS,
            registration: D::REGISTRATION,
            objects: D::objects,
            resolve: |harness, application| harness.resolve::<D>(application),
        }
    }

    /// Returns the kinds in the driver's `ACCESS`, its declared permissions, in order. A permission for a URL has no kind.
    pub(super) fn applied_kinds(&self) -> Vec<AppliedKind> {
        let applied_kind = |access: &Access| match access.target {
            AccessTarget::Objects { kind, namespace, .. } => Some(AppliedKind { kind: kind(), namespace }),
            AccessTarget::Url(_) => None,
        };
        self.access.iter().filter_map(applied_kind).collect()
    }

    /// Returns the kind of the objects that deploy applications: the last one in the driver's `ACCESS`.
    pub(super) fn deploying_kind(&self) -> Option<Kind> {
        self.applied_kinds().pop().map(|applied| applied.kind)
    }

    /// Calls the driver for the objects of an application, and returns the objects, the error or the message of a panic.
    pub(super) fn objects(&self, spec: &ApplicationSpec) -> DriverAnswer {
        match catch_panic(|| (self.objects)(spec)) {
            Ok(Ok(objects)) => DriverAnswer::Objects(objects),
            Ok(Err(error)) => DriverAnswer::Refused(error.to_string()),
            Err(panic) => DriverAnswer::Panicked(panic),
        }
    }

    /// Returns the spec of an application as the operator passes it to the driver, with all defaults and the destination cluster.
    ///
    /// # Errors
    /// If the application is invalid, or if the function that registers a cluster with the CD system panics or returns a
    /// Secret that is no JSON object.
    pub(super) fn resolve(
        &self,
        harness: &ApplicationHarness,
        application: Application,
    ) -> Result<ApplicationSpec, String> {
        match catch_panic(|| (self.resolve)(harness, application)) {
            Ok(resolved) => resolved.map_err(|error| error.to_string()),
            Err(panic) => Err(format!("the registration panics, or its Secret is no object: {panic}")),
        }
    }
}

/// Returns the verbs of [`VERBS`] that a permission lacks, as a list in a message; empty if it has all.
pub(super) fn missing_verbs(verbs: &[Verb]) -> String {
    let missing = VERBS.iter().filter(|verb| !verbs.contains(verb));
    missing.map(|verb| verb.as_str()).collect::<Vec<_>>().join(", ")
}
