//! Validates admission policies and their bindings, without their expressions.

use super::{
    at::{At, Causes},
    name::NameRule,
    selector, webhook,
};

const REASONS: [&str; 4] = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];
const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

pub(super) fn validating(spec: &At<'_>, causes: &mut Causes) {
    spec.child("failurePolicy").if_one_of(causes, &["Fail", "Ignore"]);
    constraints(spec, causes);
    let (validations, audit) = (spec.child("validations"), spec.child("auditAnnotations"));
    if validations.is_empty() && audit.is_empty() {
        let why = "validations or auditAnnotations must be non-empty";
        validations.required(causes, why);
        audit.required(causes, why);
    }
    for validation in validations.items() {
        validation.child("expression").demand(causes, "expression is not specified");
        validation.child("reason").if_one_of(causes, &REASONS);
    }
}

/// What a policy looks at.
fn constraints(spec: &At<'_>, causes: &mut Causes) {
    let constraints = spec.child("matchConstraints");
    if !constraints.is_set() {
        constraints.required(causes, "");
        return;
    }
    constraints.child("resourceRules").demand(causes, "");
    matches(&constraints, causes);
}

fn matches(resources: &At<'_>, causes: &mut Causes) {
    resources.child("matchPolicy").if_one_of(causes, &["Equivalent", "Exact"]);
    for rules in ["resourceRules", "excludeResourceRules"] {
        for rule in resources.child(rules).items() {
            webhook::rule(&rule, causes);
        }
    }
    for one in ["namespaceSelector", "objectSelector"] {
        selector::selector(&resources.child(one), causes);
    }
}

pub(super) fn mutating(spec: &At<'_>, causes: &mut Causes) {
    spec.child("failurePolicy").if_one_of(causes, &["Fail", "Ignore"]);
    constraints(spec, causes);
    spec.child("mutations").demand(causes, "mutations must contain at least one item");
    spec.child("reinvocationPolicy").one_of(causes, &["IfNeeded", "Never"]);
}

pub(super) fn binding(spec: &At<'_>, validating: bool, causes: &mut Causes) {
    spec.child("policyName").named(causes, NameRule::Subdomain);
    if spec.child("matchResources").is_set() {
        matches(&spec.child("matchResources"), causes);
    }
    if !validating {
        return;
    }
    let actions = spec.child("validationActions");
    actions.demand(causes, "at least one validation action is required");
    let mut seen: Vec<&str> = Vec::new();
    for action in actions.items() {
        if seen.contains(&action.text()) {
            action.duplicate(causes);
        }
        action.if_one_of(causes, &ACTIONS);
        seen.push(action.text());
    }
    if seen.contains(&"Deny") && seen.contains(&"Warn") {
        actions.invalid(causes, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)");
    }
}
