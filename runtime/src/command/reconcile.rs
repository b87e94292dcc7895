//! Implements the verb `reconcile`: sets an annotation on an object, so that the running operator reconciles the object at once.

use crate::{
    command::{
        lookup::{ControlledKind, LookupError},
        object_arg::ObjectArg,
    },
    manager::operator::Operator,
    reconcile::change::RECONCILE_ANNOTATION,
};
use kube::api::Patch;
use serde::Serialize;
use serde_json::{Value, json};
use std::{fmt, process::ExitCode};

#[derive(Debug, clap::Args)]
pub(crate) struct ReconcileArgs {
    #[command(flatten)]
    object: ObjectArg,
}

/// The answer of the verb: the object, and the time of the request.
#[derive(Serialize)]
struct PassRequest {
    #[serde(rename = "asked")]
    object: Value,
    at: String,
    #[serde(skip)]
    object_name: String,
}

impl fmt::Display for PassRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "requested a reconcile of {}", self.object_name)
    }
}

impl ReconcileArgs {
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        self.object.run(operator, async |_, target, name| request(operator, target, name).await)
    }
}

/// Sets an annotation of the object to the current time, which makes the running operator reconcile the object at once.
async fn request(operator: &Operator, target: &ControlledKind<'_>, name: &str) -> Result<PassRequest, LookupError> {
    let at = operator.environment.now().to_string();
    let patch = Patch::Merge(json!({"metadata": {"annotations": {RECONCILE_ANNOTATION: &at}}}));
    match target.client.patch(target.target(name), &patch, &operator.name).await {
        Ok(_) => {
            let kind = &target.controlled.kind;
            let object = json!({"kind": kind.kind, "namespace": target.namespace, "name": name});
            Ok(PassRequest { object, at, object_name: format!("{kind} {}", target.full_name(name)) })
        }
        Err(error) if error.is_not_found() => Err(target.absent(name)),
        Err(error) => Err(LookupError::Call(Box::new(error))),
    }
}
