//! The verb `why`: why an object is not ready, or not gone, down to the cause.

pub(crate) mod cause;
mod ending;
mod look;
mod named;
mod panics;
mod text;

use crate::{
    client::Client,
    command::{
        lookup::{ControlledKind, LiveError, controlled},
        object_arg::ObjectArg,
        why::cause::Why,
    },
    manager::operator::Operator,
    manifest::{Described, Project},
};
use look::Look;
use std::process::ExitCode;

impl Operator {
    /// Why an object of a kind that this operator controls is not ready, or not gone. A `namespace` of a kind without
    /// namespaces is not looked at.
    ///
    /// # Errors
    /// If the kind is none of the operator's, the object isn't there, or a call fails. What may not be read on the way is said
    /// in the answer.
    pub async fn why(
        &self,
        client: kube::Client,
        kind: &str,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<Why, LiveError> {
        let project = self.project().map_err(|error| LiveError::Project(Box::new(error)))?;
        let controlled = controlled(&project, kind)?;
        let namespace = namespace.filter(|_| controlled.kind.namespaced).map(str::to_owned);
        let place = ControlledKind { client: Client::new(client), controlled, namespace };
        self.why_at(&project, &place, name).await
    }

    async fn why_at(&self, project: &Project, place: &ControlledKind<'_>, name: &str) -> Result<Why, LiveError> {
        place.object(name).await?;
        let mut look = Look::new(self, project, place.client.clone());
        look.at(&place.controlled.kind, place.namespace.as_deref(), name).await
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    asked: ObjectArg,
}

impl WhyArgs {
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        self.asked.answer(operator, async |project, place, name| operator.why_at(project, place, name).await)
    }
}
