//! Parses one webhook of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration.

use std::time::Duration;

use serde_json::Value;

use crate::{
    admission::{expression::Expression, match_rules::MatchRules},
    object,
};

/// One webhook of a configuration.
#[derive(Debug)]
pub(crate) struct Hook {
    /// The unique key of the webhook.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) client: Value,
    pub(super) matching: MatchRules,
    pub(super) conditions: Vec<Result<Expression, String>>,
    pub(super) ignores_failure: bool,
    pub(super) patience: Duration,
    /// Whether it may be called in a dry run (`sideEffects`).
    pub(super) harmless: bool,
    /// Whether `reinvocationPolicy` is `IfNeeded`.
    pub(super) again: bool,
}

impl Hook {
    pub(super) fn of(configuration: &str, hook: &Value) -> Self {
        let conditions = hook["matchConditions"].as_array().into_iter().flatten();
        let name = object::text(hook, &["name"]).to_owned();
        let seconds = object::number(hook, &["timeoutSeconds"]).unwrap_or(10);
        Self {
            key: format!("webhook {configuration} {name}"),
            name,
            client: hook["clientConfig"].clone(),
            matching: MatchRules::of(hook, "rules"),
            conditions: conditions.map(|own| Expression::compile(object::text(own, &["expression"]))).collect(),
            ignores_failure: hook["failurePolicy"] == "Ignore",
            patience: Duration::from_secs(seconds.unsigned_abs()),
            harmless: matches!(hook["sideEffects"].as_str(), Some("None" | "NoneOnDryRun")),
            again: hook["reinvocationPolicy"] == "IfNeeded",
        }
    }
}
