//! Admission webhooks: programs outside that change a write or refuse it.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::{
    Operation, Review,
    expression::{Expression, Scope},
    matching::{Hit, Matching},
    policy::{Cache, conditions_hold},
};
use crate::{failure::Failure, object};

pub(super) use mutating::mutate;
pub(super) use validating::validate;

mod ask;
mod mutating;
mod validating;

/// The configurations that were read.
#[derive(Debug, Default)]
pub(crate) struct Webhooks(Cache<Vec<Hook>>);

/// One webhook of a configuration.
#[derive(Debug)]
struct Hook {
    /// What tells it apart from all others.
    key: String,
    name: String,
    client: Value,
    matching: Matching,
    conditions: Vec<Result<Expression, String>>,
    ignores_failure: bool,
    patience: Duration,
    /// Whether it may be asked about writes that are only tried.
    harmless: bool,
    /// `reinvocationPolicy: IfNeeded`.
    again: bool,
}

impl Hook {
    fn of(configuration: &str, hook: &Value) -> Self {
        let conditions = hook["matchConditions"].as_array().into_iter().flatten();
        let name = object::text(hook, &["name"]).to_owned();
        let seconds = object::number(hook, &["timeoutSeconds"]).unwrap_or(10);
        Self {
            key: format!("webhook {configuration} {name}"),
            name,
            client: hook["clientConfig"].clone(),
            matching: Matching::of(hook, "rules"),
            conditions: conditions.map(|own| Expression::compile(object::text(own, &["expression"]))).collect(),
            ignores_failure: hook["failurePolicy"] == "Ignore",
            patience: Duration::from_secs(seconds.unsigned_abs()),
            harmless: matches!(hook["sideEffects"].as_str(), Some("None" | "NoneOnDryRun")),
            again: hook["reinvocationPolicy"] == "IfNeeded",
        }
    }

    /// The kind as which a write concerns it, or `None`.
    fn concerns(&self, review: &Review<'_>) -> Result<Option<Hit>, Failure> {
        let Some(hit) = self.matching.hit(review) else { return Ok(None) };
        if self.conditions.is_empty() {
            return Ok(Some(hit));
        }
        match conditions_hold(&self.conditions, &Scope::new(review, &hit, None, &[])) {
            Ok(true) => Ok(Some(hit)),
            Ok(false) => Ok(None),
            Err(_) if self.ignores_failure => Ok(None),
            Err(why) => Err(review.forbidden(&why)),
        }
    }
}

/// The webhooks of all configurations of a sort, in the order in which they are asked.
fn hooks(review: &Review<'_>, shelf: &str) -> Vec<Arc<Vec<Hook>>> {
    let server = review.asked.server;
    let (_, items) = server.store.list(shelf, None);
    let read = |configuration: &Value| {
        let name = object::name(configuration);
        let hooks = configuration["webhooks"].as_array().into_iter().flatten();
        hooks.map(|hook| Hook::of(name, hook)).filter(|hook| hook.matching.has_rules()).collect()
    };
    items.iter().map(|item| server.admission.webhooks.0.get(item, read)).collect()
}

/// What no webhook is asked about, so that none can lock itself in: what admits.
fn is_exempt(review: &Review<'_>) -> bool {
    let kind = review.asked.kind;
    kind.group == "admissionregistration.k8s.io" && kind.custom().is_none() || review.operation == Operation::Connect
}
