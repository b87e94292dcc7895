//! Validates webhook configurations.

use std::collections::BTreeSet;

use super::{
    at::{At, Causes},
    name::NameRule,
};

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
/// The longest that a request waits for a webhook.
const LONGEST: i64 = 30;

pub(super) fn webhooks(webhooks: &At<'_>, causes: &mut Causes) {
    let mut names = BTreeSet::new();
    for webhook in webhooks.items() {
        self::webhook(&webhook, causes);
        let named = webhook.child("name");
        if !named.is_empty() && !names.insert(named.text()) {
            named.duplicate(causes);
        }
    }
}

fn webhook(webhook: &At<'_>, causes: &mut Causes) {
    qualified(&webhook.child("name"), causes);
    for rule in webhook.child("rules").items() {
        self::rule(&rule, causes);
    }
    webhook.child("failurePolicy").if_one_of(causes, &["Fail", "Ignore"]);
    webhook.child("matchPolicy").if_one_of(causes, &["Equivalent", "Exact"]);
    let effects = webhook.child("sideEffects");
    if effects.is_empty() {
        effects.required(causes, "must specify one of None, NoneOnDryRun");
    } else {
        effects.if_one_of(causes, &["None", "NoneOnDryRun"]);
    }
    let seconds = webhook.child("timeoutSeconds");
    if seconds.number().is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
        seconds.invalid(causes, "the timeout value must be between 1 and 30 seconds");
    }
    for selector in ["namespaceSelector", "objectSelector"] {
        super::selector::selector(&webhook.child(selector), causes);
    }
    client(&webhook.child("clientConfig"), causes);
    let versions = webhook.child("admissionReviewVersions");
    if versions.is_empty() {
        versions.required(causes, "must specify one of v1, v1beta1");
    } else if !versions.items().any(|version| matches!(version.text(), "v1" | "v1beta1")) {
        versions.invalid(causes, "must include at least one of v1, v1beta1");
    }
}

/// A name of at least three parts.
fn qualified(named: &At<'_>, causes: &mut Causes) {
    if named.is_empty() {
        named.required(causes, "");
    } else if let Some(why) = super::name::fault(NameRule::Subdomain, named.text()) {
        named.invalid(causes, &why);
    } else if named.text().split('.').count() < 3 {
        named.invalid(causes, "should be a domain with at least three segments separated by dots");
    }
}

fn client(client: &At<'_>, causes: &mut Causes) {
    let (url, service) = (client.child("url"), client.child("service"));
    if url.is_set() == service.is_set() {
        client.required(causes, "exactly one of url or service is required");
    } else if url.is_set() {
        if !url.text().starts_with("https://") {
            url.invalid(causes, "'https' is the only allowed URL scheme");
        }
    } else {
        service.child("name").demand(causes, "service name is required");
        service.child("namespace").demand(causes, "service namespace is required");
        service.child("port").within(causes, 1, 65535);
    }
}

/// What requests are sent: also those that policies look at.
pub(super) fn rule(rule: &At<'_>, causes: &mut Causes) {
    let operations = rule.child("operations");
    operations.demand(causes, "");
    everything_alone(&operations, "if '*' is present, must not specify other operations", causes);
    for operation in operations.items() {
        operation.if_one_of(causes, &OPERATIONS);
    }
    for part in ["apiGroups", "apiVersions"] {
        let part = rule.child(part);
        part.demand(causes, "");
        everything_alone(&part, "if '*' is present, must not specify other values", causes);
    }
    let resources = rule.child("resources");
    resources.demand(causes, "");
    // `*` means all resources, and leaves their subresources to others.
    let others = resources.items().any(|resource| resource.text() != "*" && !resource.text().contains('/'));
    if others && resources.items().any(|resource| resource.text() == "*") {
        resources.invalid(causes, "if '*' is present, must not specify other resources without subresources");
    }
    rule.child("scope").if_one_of(causes, &["*", "Cluster", "Namespaced"]);
}

fn everything_alone(list: &At<'_>, why: &str, causes: &mut Causes) {
    if list.items().count() > 1 && list.items().any(|item| item.text() == "*") {
        list.invalid(causes, why);
    }
}
