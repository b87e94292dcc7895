//! The verb `reconcile`: a pass over an object, now.

use crate::{
    command::{
        lookup::{ControlledKind, LiveError},
        object_arg::ObjectArg,
    },
    manager::operator::Operator,
    reconcile::change::RECONCILE,
};
use kube::api::Patch;
use serde::Serialize;
use serde_json::{Value, json};
use std::{fmt, process::ExitCode};

#[derive(Debug, clap::Args)]
pub(crate) struct ReconcileArgs {
    #[command(flatten)]
    asked: ObjectArg,
}

/// A pass that is asked for.
#[derive(Serialize)]
struct PassRequest {
    asked: Value,
    at: String,
    #[serde(skip)]
    said: String,
}

impl fmt::Display for PassRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "asked for a pass over {}", self.said)
    }
}

impl ReconcileArgs {
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        self.asked.answer(operator, async |_, place, name| request(operator, place, name).await)
    }
}

async fn request(operator: &Operator, place: &ControlledKind<'_>, name: &str) -> Result<PassRequest, LiveError> {
    let at = operator.environment.now().to_string();
    let patch = Patch::Merge(json!({"metadata": {"annotations": {RECONCILE: &at}}}));
    match place.client.patch(place.target(name), &patch, &operator.name).await {
        Ok(_) => {
            let kind = &place.controlled.kind;
            let asked = json!({"kind": kind.kind, "namespace": place.namespace, "name": name});
            Ok(PassRequest { asked, at, said: format!("{kind} {}", place.said(name)) })
        }
        Err(error) if error.is_not_found() => Err(place.absent(name)),
        Err(error) => Err(LiveError::Call(Box::new(error))),
    }
}
