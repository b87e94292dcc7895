//! Validates the webhooks of admission webhook configurations, and the rules of webhooks and admission policies.

use std::collections::BTreeSet;

use super::{
    field::{Causes, Field},
    name::NameRule,
};

/// The operations of rules, as the message about an unknown operation lists them.
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
/// The maximum timeout of a webhook, in seconds.
const MAX_TIMEOUT_SECONDS: i64 = 30;

/// Validates the webhooks of a configuration, whose names must be unique.
pub(super) fn validate_webhooks(webhooks: &Field<'_>, causes: &mut Causes) {
    let mut names = BTreeSet::new();
    for webhook in webhooks.items() {
        validate_webhook(&webhook, causes);
        let name = webhook.child("name");
        if !name.is_empty() && !names.insert(name.text()) {
            name.duplicate(causes);
        }
    }
}

/// Validates a webhook (upstream: `validateValidatingWebhook` and `validateMutatingWebhook`).
fn validate_webhook(webhook: &Field<'_>, causes: &mut Causes) {
    validate_webhook_name(&webhook.child("name"), causes);
    for rule in webhook.child("rules").items() {
        validate_rule(&rule, causes);
    }
    webhook.child("failurePolicy").optional_enum(causes, &["Fail", "Ignore"]);
    webhook.child("matchPolicy").optional_enum(causes, &["Equivalent", "Exact"]);
    let effects = webhook.child("sideEffects");
    if effects.is_empty() {
        effects.required(causes, "must specify one of None, NoneOnDryRun");
    } else {
        effects.optional_enum(causes, &["None", "NoneOnDryRun"]);
    }
    let seconds = webhook.child("timeoutSeconds");
    if seconds.number().is_some_and(|seconds| !(1..=MAX_TIMEOUT_SECONDS).contains(&seconds)) {
        seconds.invalid(causes, "the timeout value must be between 1 and 30 seconds");
    }
    for selector in ["namespaceSelector", "objectSelector"] {
        super::selector::validate_label_selector(&webhook.child(selector), causes);
    }
    validate_client_config(&webhook.child("clientConfig"), causes);
    let versions = webhook.child("admissionReviewVersions");
    if versions.is_empty() {
        versions.required(causes, "must specify one of v1, v1beta1");
    } else if !versions.items().any(|version| matches!(version.text(), "v1" | "v1beta1")) {
        versions.invalid(causes, "must include at least one of v1, v1beta1");
    }
}

/// Validates that the name of a webhook is a domain of at least three segments.
fn validate_webhook_name(name: &Field<'_>, causes: &mut Causes) {
    if name.is_empty() {
        name.required(causes, "");
    } else if let Some(detail) = super::name::violation(NameRule::Subdomain, name.text()) {
        name.invalid(causes, &detail);
    } else if name.text().split('.').count() < 3 {
        name.invalid(causes, "should be a domain with at least three segments separated by dots");
    }
}

/// Validates that a webhook is called either at a URL or at a Service.
fn validate_client_config(client: &Field<'_>, causes: &mut Causes) {
    let (url, service) = (client.child("url"), client.child("service"));
    if url.is_set() == service.is_set() {
        client.required(causes, "exactly one of url or service is required");
    } else if url.is_set() {
        if !url.text().starts_with("https://") {
            url.invalid(causes, "'https' is the only allowed URL scheme");
        }
    } else {
        service.child("name").require(causes, "service name is required");
        service.child("namespace").require(causes, "service namespace is required");
        service.child("port").in_range(causes, 1, 65535);
    }
}

/// Validates a rule of a webhook or of an admission policy: operations, groups, versions, resources and scope.
pub(super) fn validate_rule(rule: &Field<'_>, causes: &mut Causes) {
    let operations = rule.child("operations");
    operations.require(causes, "");
    forbid_wildcard_with_others(&operations, "if '*' is present, must not specify other operations", causes);
    for operation in operations.items() {
        operation.optional_enum(causes, &OPERATIONS);
    }
    for part in ["apiGroups", "apiVersions"] {
        let part = rule.child(part);
        part.require(causes, "");
        forbid_wildcard_with_others(&part, "if '*' is present, must not specify other values", causes);
    }
    let resources = rule.child("resources");
    resources.require(causes, "");
    // `*` means all resources without their subresources, so it can be combined with subresources.
    let has_other_resource = resources.items().any(|resource| resource.text() != "*" && !resource.text().contains('/'));
    if has_other_resource && resources.items().any(|resource| resource.text() == "*") {
        resources.invalid(causes, "if '*' is present, must not specify other resources without subresources");
    }
    rule.child("scope").optional_enum(causes, &["*", "Cluster", "Namespaced"]);
}

/// Adds the error `field.Invalid` if a list contains `*` and other items.
fn forbid_wildcard_with_others(list: &Field<'_>, detail: &str, causes: &mut Causes) {
    if list.items().count() > 1 && list.items().any(|item| item.text() == "*") {
        list.invalid(causes, detail);
    }
}
