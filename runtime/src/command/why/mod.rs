//! Implements the verb `why`: explains why an object is not ready or not deleted, down to the root causes.

pub(crate) mod cause;
mod deletion;
mod examine;
mod panics;
mod references;
mod text;

use crate::{
    client::Client,
    command::{
        lookup::{ControlledKind, LookupError, find_controlled},
        object_arg::ObjectArg,
        why::cause::Why,
    },
    manager::{buckets, operator::Operator},
    manifest::{Describe, Project},
};
use examine::Examiner;
use std::process::ExitCode;

impl Operator {
    /// Explains why an object of a controlled kind is not ready, or not deleted. `namespace` is ignored for a cluster-scoped
    /// kind.
    ///
    /// # Errors
    /// Fails if the operator does not control the kind, a bucket of the operator can't be opened, the object does not exist, or a call
    /// fails. A call that is forbidden is no error where the explanation can mention it.
    pub async fn why(
        &self,
        client: kube::Client,
        kind: &str,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<Why, LookupError> {
        let project = self.project().map_err(|error| LookupError::Project(Box::new(error)))?;
        let controlled = find_controlled(&project, kind)?;
        let namespace = namespace.filter(|_| controlled.kind.namespaced).map(str::to_owned);
        let client = buckets::connect(self, Client::new(client)).await.map_err(LookupError::Buckets)?;
        let target = ControlledKind { client, controlled, namespace };
        self.why_at(&project, &target, name).await
    }

    /// Explains the state of the object with this name and all causes of it. Fails if the object does not exist.
    async fn why_at(&self, project: &Project, target: &ControlledKind<'_>, name: &str) -> Result<Why, LookupError> {
        target.object(name).await?;
        let mut examiner = Examiner::new(self, project, target.client.clone());
        examiner.examine(&target.controlled.kind, target.namespace.as_deref(), name).await
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    object: ObjectArg,
}

impl WhyArgs {
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        self.object.run(operator, async |project, target, name| operator.why_at(project, target, name).await)
    }
}
