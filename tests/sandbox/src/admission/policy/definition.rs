//! Parses stored policies and bindings, and compiles their expressions.

use serde_json::Value;

use crate::{
    admission::{expression::Expression, match_rules::MatchRules},
    object,
};

/// The common part of both types of policies.
#[derive(Debug)]
pub(crate) struct PolicyHead {
    pub(super) name: String,
    /// Whether `failurePolicy` is `Ignore`.
    pub(super) ignores_failure: bool,
    pub(super) matching: MatchRules,
    /// `apiVersion` and `kind` of the parameters.
    pub(super) param_kind: Option<(String, String)>,
    pub(super) conditions: Vec<Result<Expression, String>>,
    pub(super) variables: Vec<(String, Expression)>,
}

/// A policy binding.
#[derive(Debug)]
pub(crate) struct PolicyBinding {
    pub(super) name: String,
    pub(super) policy: String,
    /// The `paramRef`; null if there is none.
    pub(super) param: Value,
    pub(super) matching: MatchRules,
    pub(super) actions: Vec<String>,
}

impl PolicyHead {
    pub(crate) fn of(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let list = |key: &str| spec[key].as_array().into_iter().flatten();
        let word = |value: &Value, key: &str| object::text(value, &[key]).to_owned();
        let compiled = |value: &Value| Expression::compile(object::text(value, &["expression"]));
        let param = &spec["paramKind"];
        Self {
            name: object::name(policy).to_owned(),
            ignores_failure: spec["failurePolicy"] == "Ignore",
            matching: MatchRules::of(&spec["matchConstraints"], "resourceRules"),
            param_kind: param.is_object().then(|| (word(param, "apiVersion"), word(param, "kind"))),
            conditions: list("matchConditions").map(compiled).collect(),
            variables: list("variables").filter_map(|own| Some((word(own, "name"), compiled(own).ok()?))).collect(),
        }
    }
}

impl PolicyBinding {
    pub(crate) fn of(binding: &Value) -> Self {
        let spec = &binding["spec"];
        let actions = spec["validationActions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Self {
            name: object::name(binding).to_owned(),
            policy: object::text(spec, &["policyName"]).to_owned(),
            param: spec["paramRef"].clone(),
            matching: MatchRules::of(&spec["matchResources"], "resourceRules"),
            actions: actions.map(str::to_owned).collect(),
        }
    }
}

/// A compiled ValidatingAdmissionPolicy.
#[derive(Debug)]
pub(crate) struct ValidatingPolicy {
    pub(super) head: PolicyHead,
    pub(super) validations: Vec<Validation>,
}

#[derive(Debug)]
pub(super) struct Validation {
    pub(super) expression: Result<Expression, String>,
    pub(super) message: String,
    pub(super) message_expression: Option<Expression>,
    /// The reason and status code of a denial.
    pub(super) reason: (&'static str, u16),
}

impl ValidatingPolicy {
    pub(crate) fn of(policy: &Value) -> Self {
        let validations = policy["spec"]["validations"].as_array().into_iter().flatten();
        Self { head: PolicyHead::of(policy), validations: validations.map(Validation::of).collect() }
    }
}

impl Validation {
    pub(crate) fn of(written: &Value) -> Self {
        let message_source = object::text(written, &["messageExpression"]);
        let reason = match object::text(written, &["reason"]) {
            "Unauthorized" => ("Unauthorized", 401),
            "Forbidden" => ("Forbidden", 403),
            "RequestEntityTooLarge" => ("RequestEntityTooLarge", 413),
            _ => INVALID,
        };
        Self {
            expression: Expression::compile(object::text(written, &["expression"])),
            message: object::text(written, &["message"]).trim().to_owned(),
            message_expression: Some(message_source)
                .filter(|message_source| !message_source.is_empty())
                .and_then(|message_source| Expression::compile(message_source).ok()),
            reason,
        }
    }
}

pub(super) const INVALID: (&str, u16) = ("Invalid", 422);

/// A compiled MutatingAdmissionPolicy.
#[derive(Debug)]
pub(crate) struct MutatingPolicy {
    pub(super) head: PolicyHead,
    pub(super) mutations: Vec<Mutation>,
    /// Whether `reinvocationPolicy` is `IfNeeded`.
    pub(super) again: bool,
}

/// One mutation of a policy.
#[derive(Debug)]
pub(super) enum Mutation {
    /// A mutation by an apply configuration.
    Apply(Result<Expression, String>),
    Patch(Result<Expression, String>),
}

impl MutatingPolicy {
    pub(crate) fn of(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let mutations = spec["mutations"].as_array().into_iter().flatten();
        Self {
            head: PolicyHead::of(policy),
            mutations: mutations.map(Mutation::of).collect(),
            again: spec["reinvocationPolicy"] == "IfNeeded",
        }
    }
}

impl Mutation {
    pub(crate) fn of(written: &Value) -> Self {
        let compiled = |key: &str| Expression::compile(object::text(written, &[key, "expression"]));
        match written["patchType"].as_str() {
            Some("JSONPatch") => Self::Patch(compiled("jsonPatch")),
            _ => Self::Apply(compiled("applyConfiguration")),
        }
    }
}
