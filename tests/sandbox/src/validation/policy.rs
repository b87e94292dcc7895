//! Validates the fields of admission policies and of their bindings, except for CEL expressions.

use super::{
    field::{Causes, Field},
    name::NameRule,
    selector, webhook,
};

/// The reasons that a validation can return.
const REASONS: [&str; 4] = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];
/// The validation actions of a binding.
const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

/// Validates the spec of a ValidatingAdmissionPolicy, without its expressions.
pub(super) fn validate_validating_policy(spec: &Field<'_>, causes: &mut Causes) {
    spec.child("failurePolicy").optional_enum(causes, &["Fail", "Ignore"]);
    validate_match_constraints(spec, causes);
    let (validations, audit) = (spec.child("validations"), spec.child("auditAnnotations"));
    if validations.is_empty() && audit.is_empty() {
        let detail = "validations or auditAnnotations must be non-empty";
        validations.required(causes, detail);
        audit.required(causes, detail);
    }
    for validation in validations.items() {
        validation.child("expression").require(causes, "expression is not specified");
        validation.child("reason").optional_enum(causes, &REASONS);
    }
}

/// Requires and validates `matchConstraints` of a policy.
fn validate_match_constraints(spec: &Field<'_>, causes: &mut Causes) {
    let constraints = spec.child("matchConstraints");
    if !constraints.is_set() {
        constraints.required(causes, "");
        return;
    }
    constraints.child("resourceRules").require(causes, "");
    validate_match_resources(&constraints, causes);
}

/// Validates the rules and selectors of `MatchResources`.
fn validate_match_resources(resources: &Field<'_>, causes: &mut Causes) {
    resources.child("matchPolicy").optional_enum(causes, &["Equivalent", "Exact"]);
    for rules in ["resourceRules", "excludeResourceRules"] {
        for rule in resources.child(rules).items() {
            webhook::validate_rule(&rule, causes);
        }
    }
    for key in ["namespaceSelector", "objectSelector"] {
        selector::validate_label_selector(&resources.child(key), causes);
    }
}

/// Validates the spec of a MutatingAdmissionPolicy, without its expressions.
pub(super) fn validate_mutating_policy(spec: &Field<'_>, causes: &mut Causes) {
    spec.child("failurePolicy").optional_enum(causes, &["Fail", "Ignore"]);
    validate_match_constraints(spec, causes);
    spec.child("mutations").require(causes, "mutations must contain at least one item");
    spec.child("reinvocationPolicy").required_enum(causes, &["IfNeeded", "Never"]);
}

/// Validates the spec of a policy binding. `validating` is whether it binds a ValidatingAdmissionPolicy, which requires validation actions.
pub(super) fn validate_policy_binding(spec: &Field<'_>, validating: bool, causes: &mut Causes) {
    spec.child("policyName").required_name(causes, NameRule::Subdomain);
    if spec.child("matchResources").is_set() {
        validate_match_resources(&spec.child("matchResources"), causes);
    }
    if !validating {
        return;
    }
    let actions = spec.child("validationActions");
    actions.require(causes, "at least one validation action is required");
    let mut seen: Vec<&str> = Vec::new();
    for action in actions.items() {
        if seen.contains(&action.text()) {
            action.duplicate(causes);
        }
        action.optional_enum(causes, &ACTIONS);
        seen.push(action.text());
    }
    if seen.contains(&"Deny") && seen.contains(&"Warn") {
        actions.invalid(causes, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)");
    }
}
