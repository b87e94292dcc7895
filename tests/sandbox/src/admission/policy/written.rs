//! Whether a policy that is written can be evaluated.

use serde_json::Value;

use crate::{
    admission::{
        Operation, Review,
        expression::{self, Declared, Wanted},
    },
    failure::{Cause, Failure},
    object,
};

/// Refuses a policy with expressions that can't be evaluated.
pub(in crate::admission) fn check(review: &Review<'_>) -> Result<(), Failure> {
    let kind = review.asked.kind;
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
    if !written || review.asked.subresource.is_some() || !mutating && !validating {
        return Ok(());
    }
    // What an expression means doesn't change; only a new spec is looked at.
    if review.old.as_ref().is_some_and(|old| old["spec"] == review.object["spec"]) {
        return Ok(());
    }
    let causes = Written { spec: &review.object["spec"], mutating }.causes();
    if causes.is_empty() { Ok(()) } else { Err(Failure::invalid(kind, review.name(), &causes)) }
}

struct Written<'a> {
    spec: &'a Value,
    mutating: bool,
}

impl Written<'_> {
    fn list(&self, key: &str) -> impl Iterator<Item = (usize, &Value)> {
        self.spec[key].as_array().into_iter().flatten().enumerate()
    }

    fn causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        let params = self.spec["paramKind"].is_object();
        let conditions = Declared { params, authorizer: true, structs: false, variables: None };
        for (at, condition) in self.list("matchConditions") {
            let field = format!("spec.matchConditions[{at}].expression");
            look(&mut causes, field, &condition["expression"], &conditions, Wanted::Bool);
        }
        let mut names: Vec<String> = Vec::new();
        for (at, variable) in self.list("variables") {
            let name = object::text(variable, &["name"]);
            if !is_identifier(name) {
                let why = "must be a valid CEL identifier";
                causes.push(Cause::invalid(format!("spec.variables[{at}].name"), &name.into(), why));
                continue;
            }
            let declared = Declared { params, authorizer: true, structs: self.mutating, variables: Some(&names) };
            let field = format!("spec.variables[{at}].expression");
            look(&mut causes, field, &variable["expression"], &declared, Wanted::Any);
            names.push(name.to_owned());
        }
        let declared = Declared { params, authorizer: true, structs: self.mutating, variables: Some(&names) };
        let said = Declared { params, authorizer: false, structs: false, variables: Some(&names) };
        for (at, validation) in self.list("validations") {
            let field = |name: &str| format!("spec.validations[{at}].{name}");
            look(&mut causes, field("expression"), &validation["expression"], &declared, Wanted::Bool);
            look(&mut causes, field("messageExpression"), &validation["messageExpression"], &said, Wanted::Text);
        }
        for (at, mutation) in self.list("mutations") {
            for (part, kind, wanted) in [
                ("applyConfiguration", "ApplyConfiguration", Wanted::Object),
                ("jsonPatch", "JSONPatch", Wanted::Patches),
            ] {
                let field = format!("spec.mutations[{at}].{part}");
                let given = mutation[part].is_object();
                if given {
                    let expression = &mutation[part]["expression"];
                    look(&mut causes, format!("{field}.expression"), expression, &declared, wanted);
                } else if mutation["patchType"] == kind {
                    causes.push(Cause::required(field, &format!("must be specified when patchType is {kind}")));
                }
            }
        }
        causes
    }
}

/// What is wrong with the conditions of webhooks.
fn hook_causes(hooks: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let declared = Declared { params: false, authorizer: true, structs: false, variables: None };
    for (at, hook) in hooks.as_array().into_iter().flatten().enumerate() {
        for (condition, written) in hook["matchConditions"].as_array().into_iter().flatten().enumerate() {
            let field = format!("webhooks[{at}].matchConditions[{condition}].expression");
            look(&mut causes, field, &written["expression"], &declared, Wanted::Bool);
        }
    }
    causes
}

fn look(causes: &mut Vec<Cause>, field: String, source: &Value, declared: &Declared<'_>, wanted: Wanted) {
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
