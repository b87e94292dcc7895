//! Checks the CEL expressions of an admission policy or a webhook configuration when that object is created or updated.

use serde_json::Value;

use crate::{
    admission::{
        expression::{self, Declarations, ResultType},
        review::{Operation, Review},
    },
    failure::{Cause, Failure},
    object,
};

/// Rejects an admission policy or a webhook configuration with invalid CEL expressions. Skips an update that leaves the spec of a policy
/// unchanged.
pub(crate) fn validate_expressions(review: &Review<'_>) -> Result<(), Failure> {
    let kind = review.request.kind;
    let (mutating, validating) = (
        kind.is("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
        kind.is("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    );
    let is_webhook_configuration = kind.is("admissionregistration.k8s.io", "mutatingwebhookconfigurations")
        || kind.is("admissionregistration.k8s.io", "validatingwebhookconfigurations");
    let is_write = matches!(review.operation, Operation::Create | Operation::Update);
    if is_webhook_configuration && is_write {
        let causes = hook_causes(&review.object["webhooks"]);
        return if causes.is_empty() { Ok(()) } else { Err(Failure::invalid(kind, review.name(), &causes)) };
    }
    if !is_write || review.request.subresource.is_some() || !mutating && !validating {
        return Ok(());
    }
    if review.old.as_ref().is_some_and(|old| old["spec"] == review.object["spec"]) {
        return Ok(());
    }
    let causes = PolicyTypeCheck { spec: &review.object["spec"], mutating }.causes();
    if causes.is_empty() { Ok(()) } else { Err(Failure::invalid(kind, review.name(), &causes)) }
}

/// The type check of the `spec` of a policy.
struct PolicyTypeCheck<'a> {
    spec: &'a Value,
    mutating: bool,
}

impl PolicyTypeCheck<'_> {
    /// Returns the items of a list in the spec with their indices.
    fn list(&self, key: &str) -> impl Iterator<Item = (usize, &Value)> {
        self.spec[key].as_array().into_iter().flatten().enumerate()
    }

    /// Returns the errors of the expressions in the match conditions, variables, validations and mutations. A variable may use the
    /// variables before it; validations and mutations may use all variables, and match conditions none.
    fn causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let params = self.spec["paramKind"].is_object();
        let conditions = Declarations { params, authorizer: true, structs: false, variables: None };
        for (index, condition) in self.list("matchConditions") {
            let field = format!("spec.matchConditions[{index}].expression");
            check_expression(&mut causes, field, &condition["expression"], &conditions, ResultType::Bool);
        }
        let mut names: Vec<String> = Vec::new();
        for (index, variable) in self.list("variables") {
            let name = object::text(variable, &["name"]);
            if !is_identifier(name) {
                let why = "must be a valid CEL identifier";
                causes.push(Cause::invalid(format!("spec.variables[{index}].name"), &name.into(), why));
                continue;
            }
            let declared = Declarations { params, authorizer: true, structs: self.mutating, variables: Some(&names) };
            let field = format!("spec.variables[{index}].expression");
            check_expression(&mut causes, field, &variable["expression"], &declared, ResultType::Any);
            names.push(name.to_owned());
        }
        let declared = Declarations { params, authorizer: true, structs: self.mutating, variables: Some(&names) };
        let message_declarations = Declarations { params, authorizer: false, structs: false, variables: Some(&names) };
        for (index, validation) in self.list("validations") {
            let field = |name: &str| format!("spec.validations[{index}].{name}");
            check_expression(&mut causes, field("expression"), &validation["expression"], &declared, ResultType::Bool);
            check_expression(
                &mut causes,
                field("messageExpression"),
                &validation["messageExpression"],
                &message_declarations,
                ResultType::Text,
            );
        }
        for (index, mutation) in self.list("mutations") {
            for (patch_field, kind, expected) in [
                ("applyConfiguration", "ApplyConfiguration", ResultType::Object),
                ("jsonPatch", "JSONPatch", ResultType::Patches),
            ] {
                let field = format!("spec.mutations[{index}].{patch_field}");
                let present = mutation[patch_field].is_object();
                if present {
                    let expression = &mutation[patch_field]["expression"];
                    check_expression(&mut causes, format!("{field}.expression"), expression, &declared, expected);
                } else if mutation["patchType"] == kind {
                    causes.push(Cause::required(field, &format!("must be specified when patchType is {kind}")));
                }
            }
        }
        causes
    }
}

/// Returns the errors of the match conditions of all webhooks.
fn hook_causes(hooks: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let declared = Declarations { params: false, authorizer: true, structs: false, variables: None };
    for (index, hook) in hooks.as_array().into_iter().flatten().enumerate() {
        for (condition_index, condition) in hook["matchConditions"].as_array().into_iter().flatten().enumerate() {
            let field = format!("webhooks[{index}].matchConditions[{condition_index}].expression");
            check_expression(&mut causes, field, &condition["expression"], &declared, ResultType::Bool);
        }
    }
    causes
}

/// Adds a cause if an expression is invalid or has another type than expected. Ignores an omitted expression.
fn check_expression(
    causes: &mut Vec<Cause>,
    field: String,
    source: &Value,
    declared: &Declarations<'_>,
    expected: ResultType,
) {
    let Some(text) = source.as_str().filter(|text| !text.trim().is_empty()) else { return };
    if let Err(why) = expression::check(text, declared, expected) {
        causes.push(Cause::invalid(field, source, &why));
    }
}

/// Returns whether a name is a CEL identifier.
fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|character| character.is_ascii_alphabetic() || character == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
}
