//! The verb `why`: why an object is not ready, or not gone, down to the cause.

mod ending;
mod look;
mod named;
mod panics;
mod text;

use crate::{
    client::Client,
    command::{
        lookup::{LiveError, Place, controlled},
        object_arg::Asked,
    },
    manager::operator::Operator,
    manifest::{Described, Project},
};
use look::Look;
use serde::Serialize;
use std::process::ExitCode;

/// Why an object is as it is.
///
/// It is read from the cluster as it is now, with the rights of who asks: conditions, what the object names and what names it,
/// what it is made of, and who holds it by finalizers. Its text fits a screen and ends with the causes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Why {
    /// The object, for example `WebApp shop/blue`.
    pub object: String,
    /// What is to be said of it.
    pub says: String,
    /// What that comes of; nothing for a cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Why>,
}

impl Why {
    fn new(object: impl Into<String>, says: impl Into<String>) -> Self {
        Self { object: object.into(), says: says.into(), because: Vec::new() }
    }

    fn because(mut self, because: Vec<Self>) -> Self {
        self.because = because;
        self
    }

    /// Where the questions end: what comes of nothing else.
    pub fn causes(&self) -> Vec<&Self> {
        if self.because.is_empty() { vec![self] } else { self.because.iter().flat_map(Self::causes).collect() }
    }
}

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
        let place = Place { client: Client::new(client), controlled, namespace };
        self.why_at(&project, &place, name).await
    }

    async fn why_at(&self, project: &Project, place: &Place<'_>, name: &str) -> Result<Why, LiveError> {
        place.object(name).await?;
        let mut look = Look::new(self, project, place.client.clone());
        look.at(&place.controlled.kind, place.namespace.as_deref(), name).await
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    asked: Asked,
}

impl WhyArgs {
    pub(crate) fn run(&self, operator: &Operator) -> ExitCode {
        self.asked.answer(operator, async |project, place, name| operator.why_at(project, place, name).await)
    }
}
