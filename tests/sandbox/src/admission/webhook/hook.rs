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
    pub(super) timeout: Duration,
    /// Whether it may be called in a dry run (`sideEffects`).
    pub(super) allows_dry_run: bool,
    /// Whether `reinvocationPolicy` is `IfNeeded`.
    pub(super) reinvoke_if_needed: bool,
}

impl Hook {
    /// Parses one webhook of the configuration with the name `configuration`.
    pub(super) fn parse(configuration: &str, hook: &Value) -> Self {
        let conditions = hook["matchConditions"].as_array().into_iter().flatten();
        let name = object::text(hook, &["name"]).to_owned();
        let seconds = object::number(hook, &["timeoutSeconds"]).unwrap_or(10);
        Self {
            key: format!("webhook {configuration} {name}"),
            name,
            client: hook["clientConfig"].clone(),
            matching: MatchRules::parse(hook, "rules"),
            conditions: conditions
                .map(|condition| Expression::compile(object::text(condition, &["expression"])))
                .collect(),
            ignores_failure: hook["failurePolicy"] == "Ignore",
            timeout: Duration::from_secs(seconds.unsigned_abs()),
            allows_dry_run: matches!(hook["sideEffects"].as_str(), Some("None" | "NoneOnDryRun")),
            reinvoke_if_needed: hook["reinvocationPolicy"] == "IfNeeded",
        }
    }
}
