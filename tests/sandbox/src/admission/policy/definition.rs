//! Parses stored admission policies and their bindings, and compiles the CEL expressions of the policies.

use serde_json::Value;

use crate::{
    admission::{expression::Expression, match_rules::MatchRules},
    object,
};

/// The fields that MutatingAdmissionPolicy and ValidatingAdmissionPolicy have in common.
#[derive(Debug)]
pub(crate) struct PolicyCommon {
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

impl PolicyCommon {
    /// Parses the fields that both types of policies have. Omits a variable whose expression does not compile.
    pub(crate) fn parse(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let list = |key: &str| spec[key].as_array().into_iter().flatten();
        let string = |value: &Value, key: &str| object::text(value, &[key]).to_owned();
        let compile = |value: &Value| Expression::compile(object::text(value, &["expression"]));
        let param = &spec["paramKind"];
        Self {
            name: object::name(policy).to_owned(),
            ignores_failure: spec["failurePolicy"] == "Ignore",
            matching: MatchRules::parse(&spec["matchConstraints"], "resourceRules"),
            param_kind: param.is_object().then(|| (string(param, "apiVersion"), string(param, "kind"))),
            conditions: list("matchConditions").map(compile).collect(),
            variables: list("variables")
                .filter_map(|variable| Some((string(variable, "name"), compile(variable).ok()?)))
                .collect(),
        }
    }
}

impl PolicyBinding {
    /// Parses a policy binding of either type.
    pub(crate) fn parse(binding: &Value) -> Self {
        let spec = &binding["spec"];
        let actions = spec["validationActions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Self {
            name: object::name(binding).to_owned(),
            policy: object::text(spec, &["policyName"]).to_owned(),
            param: spec["paramRef"].clone(),
            matching: MatchRules::parse(&spec["matchResources"], "resourceRules"),
            actions: actions.map(str::to_owned).collect(),
        }
    }
}

/// A compiled ValidatingAdmissionPolicy.
#[derive(Debug)]
pub(crate) struct ValidatingPolicy {
    pub(super) common: PolicyCommon,
    pub(super) validations: Vec<Validation>,
}

/// One of the validations of a policy.
#[derive(Debug)]
pub(super) struct Validation {
    pub(super) expression: Result<Expression, String>,
    pub(super) message: String,
    pub(super) message_expression: Option<Expression>,
    /// The reason and status code of a denial.
    pub(super) reason: (&'static str, u16),
}

impl ValidatingPolicy {
    /// Parses a ValidatingAdmissionPolicy.
    pub(crate) fn parse(policy: &Value) -> Self {
        let validations = policy["spec"]["validations"].as_array().into_iter().flatten();
        Self { common: PolicyCommon::parse(policy), validations: validations.map(Validation::parse).collect() }
    }
}

impl Validation {
    /// Parses one of `spec.validations`. An unknown or omitted reason is `Invalid`.
    pub(crate) fn parse(validation: &Value) -> Self {
        let message_expression = object::text(validation, &["messageExpression"]);
        let reason = match object::text(validation, &["reason"]) {
            "Unauthorized" => ("Unauthorized", 401),
            "Forbidden" => ("Forbidden", 403),
            "RequestEntityTooLarge" => ("RequestEntityTooLarge", 413),
            _ => INVALID,
        };
        Self {
            expression: Expression::compile(object::text(validation, &["expression"])),
            message: object::text(validation, &["message"]).trim().to_owned(),
            message_expression: Some(message_expression)
                .filter(|message_expression| !message_expression.is_empty())
                .and_then(|message_expression| Expression::compile(message_expression).ok()),
            reason,
        }
    }
}

/// The default reason and status code of a denial.
pub(super) const INVALID: (&str, u16) = ("Invalid", 422);

/// A compiled MutatingAdmissionPolicy.
#[derive(Debug)]
pub(crate) struct MutatingPolicy {
    pub(super) common: PolicyCommon,
    pub(super) mutations: Vec<Mutation>,
    /// Whether `reinvocationPolicy` is `IfNeeded`.
    pub(super) reinvoke_if_needed: bool,
}

/// One mutation of a policy.
#[derive(Debug)]
pub(super) enum Mutation {
    /// A mutation by an apply configuration.
    Apply(Result<Expression, String>),
    Patch(Result<Expression, String>),
}

impl MutatingPolicy {
    /// Parses a MutatingAdmissionPolicy.
    pub(crate) fn parse(policy: &Value) -> Self {
        let spec = &policy["spec"];
        let mutations = spec["mutations"].as_array().into_iter().flatten();
        Self {
            common: PolicyCommon::parse(policy),
            mutations: mutations.map(Mutation::parse).collect(),
            reinvoke_if_needed: spec["reinvocationPolicy"] == "IfNeeded",
        }
    }
}

impl Mutation {
    /// Parses one of `spec.mutations`; the default `patchType` is `ApplyConfiguration`.
    pub(crate) fn parse(mutation: &Value) -> Self {
        let compile = |key: &str| Expression::compile(object::text(mutation, &[key, "expression"]));
        match mutation["patchType"].as_str() {
            Some("JSONPatch") => Self::Patch(compile("jsonPatch")),
            _ => Self::Apply(compile("applyConfiguration")),
        }
    }
}
