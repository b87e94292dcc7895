//! Type checks the expressions of a policy or a webhook configuration when it is written.

use serde_json::Value;

use crate::{
    admission::{
        expression::{self, Declarations, ResultType},
        review::{Operation, Review},
    },
    failure::{Cause, Failure},
    object,
};

/// Rejects a policy or a webhook configuration with invalid expressions.
pub(crate) fn check(review: &Review<'_>) -> Result<(), Failure> {
    let kind = review.request.kind;
    let (mutating, validating) = (
        kind.is("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
        kind.is("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    );
    let hooks = kind.is("admissionregistration.k8s.io", "mutatingwebhookconfigurations")
        || kind.is("admissionregistration.k8s.io", "validatingwebhookconfigurations");
    let written = matches!(review.operation, Operation::Create | Operation::Update);
    if hooks && written {
        let causes = hook_causes(&review.object["webhooks"]);
        return if causes.is_empty() { Ok(()) } else { Err(Failure::invalid(kind, review.name(), &causes)) };
    }
    if !written || review.request.subresource.is_some() || !mutating && !validating {
        return Ok(());
    }
    // The check depends only on the spec; an unchanged spec is not checked again.
    if review.old.as_ref().is_some_and(|old| old["spec"] == review.object["spec"]) {
        return Ok(());
    }
    let causes = PolicyTypeCheck { spec: &review.object["spec"], mutating }.causes();
    if causes.is_empty() { Ok(()) } else { Err(Failure::invalid(kind, review.name(), &causes)) }
}

struct PolicyTypeCheck<'a> {
    spec: &'a Value,
    mutating: bool,
}

impl PolicyTypeCheck<'_> {
    fn list(&self, key: &str) -> impl Iterator<Item = (usize, &Value)> {
        self.spec[key].as_array().into_iter().flatten().enumerate()
    }

    fn causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let params = self.spec["paramKind"].is_object();
        let conditions = Declarations { params, authorizer: true, structs: false, variables: None };
        for (at, condition) in self.list("matchConditions") {
            let field = format!("spec.matchConditions[{at}].expression");
            check_expression(&mut causes, field, &condition["expression"], &conditions, ResultType::Bool);
        }
        let mut names: Vec<String> = Vec::new();
        for (at, variable) in self.list("variables") {
            let name = object::text(variable, &["name"]);
            if !is_identifier(name) {
                let why = "must be a valid CEL identifier";
                causes.push(Cause::invalid(format!("spec.variables[{at}].name"), &name.into(), why));
                continue;
            }
            let declared = Declarations { params, authorizer: true, structs: self.mutating, variables: Some(&names) };
            let field = format!("spec.variables[{at}].expression");
            check_expression(&mut causes, field, &variable["expression"], &declared, ResultType::Any);
            names.push(name.to_owned());
        }
        let declared = Declarations { params, authorizer: true, structs: self.mutating, variables: Some(&names) };
        let message_declarations = Declarations { params, authorizer: false, structs: false, variables: Some(&names) };
        for (at, validation) in self.list("validations") {
            let field = |name: &str| format!("spec.validations[{at}].{name}");
            check_expression(&mut causes, field("expression"), &validation["expression"], &declared, ResultType::Bool);
            check_expression(
                &mut causes,
                field("messageExpression"),
                &validation["messageExpression"],
                &message_declarations,
                ResultType::Text,
            );
        }
        for (at, mutation) in self.list("mutations") {
            for (part, kind, wanted) in [
                ("applyConfiguration", "ApplyConfiguration", ResultType::Object),
                ("jsonPatch", "JSONPatch", ResultType::Patches),
            ] {
                let field = format!("spec.mutations[{at}].{part}");
                let present = mutation[part].is_object();
                if present {
                    let expression = &mutation[part]["expression"];
                    check_expression(&mut causes, format!("{field}.expression"), expression, &declared, wanted);
                } else if mutation["patchType"] == kind {
                    causes.push(Cause::required(field, &format!("must be specified when patchType is {kind}")));
                }
            }
        }
        causes
    }
}

/// Checks the match conditions of webhooks.
fn hook_causes(hooks: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let declared = Declarations { params: false, authorizer: true, structs: false, variables: None };
    for (at, hook) in hooks.as_array().into_iter().flatten().enumerate() {
        for (condition, written) in hook["matchConditions"].as_array().into_iter().flatten().enumerate() {
            let field = format!("webhooks[{at}].matchConditions[{condition}].expression");
            check_expression(&mut causes, field, &written["expression"], &declared, ResultType::Bool);
        }
    }
    causes
}

fn check_expression(
    causes: &mut Vec<Cause>,
    field: String,
    source: &Value,
    declared: &Declarations<'_>,
    wanted: ResultType,
) {
    let Some(text) = source.as_str().filter(|text| !text.trim().is_empty()) else { return };
    if let Err(why) = expression::check(text, declared, wanted) {
        causes.push(Cause::invalid(field, source, &why));
    }
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
