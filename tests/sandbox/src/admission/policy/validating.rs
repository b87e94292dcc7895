//! Evaluates `ValidatingAdmissionPolicy` and collects its denials.

use kube_cel::cel::Value as Cel;

use super::{
    definition::{INVALID, PolicyBinding, PolicyHead, ValidatingPolicy, Validation},
    invocation::{PolicyInvocation, bindings, is_exempt, matches},
};
use crate::{
    admission::{expression::Scope, match_conditions::failed, review::Review},
    failure::Failure,
};

const POLICIES: &str = "validatingadmissionpolicies.admissionregistration.k8s.io";
const BINDINGS: &str = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

/// The message and reason with which a policy denies a write.
struct Denial {
    message: String,
    reason: (&'static str, u16),
}

impl ValidatingPolicy {
    /// Returns the denials of the write.
    fn denials(&self, review: &Review<'_>, found: &PolicyInvocation<'_>) -> Vec<Denial> {
        let unable = |message: String| {
            if self.head.ignores_failure { Vec::new() } else { vec![Denial { message, reason: INVALID }] }
        };
        let params = match &found.params {
            Ok(params) => params,
            Err(why) => return unable(why.clone()),
        };
        let scope = Scope::new(review, &found.hit, Some(params), &self.head.variables);
        match self.head.conditions_hold(&scope) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(why) => return unable(why),
        }
        let mut denials = Vec::new();
        for validation in &self.validations {
            let held = match &validation.expression {
                Ok(expression) => scope.evaluate(expression).map_err(|why| failed(expression, &why)),
                Err(why) => Err(why.clone()),
            };
            match held {
                Ok(Cel::Bool(true)) => {}
                Ok(_) => denials.push(Denial { message: validation.denial_message(&scope), reason: validation.reason }),
                Err(why) => denials.extend(unable(why)),
            }
        }
        denials
    }
}

impl Validation {
    /// Returns the message of a denial: from `messageExpression`, else `message`, else the expression itself.
    fn denial_message(&self, scope: &Scope<'_>) -> String {
        let evaluated = self.message_expression.as_ref().and_then(|expression| scope.text(expression));
        let evaluated = evaluated.map(|evaluated| evaluated.trim().to_owned());
        let usable = evaluated
            .filter(|evaluated| !evaluated.is_empty() && !evaluated.contains('\n') && evaluated.len() <= 5 * 1024);
        let source = self.expression.as_ref().map(|expression| expression.source.trim()).unwrap_or_default();
        match usable {
            Some(evaluated) => evaluated,
            None if !self.message.is_empty() => self.message.clone(),
            None => format!("failed expression: {source}"),
        }
    }
}

pub(crate) fn validate(review: &mut Review<'_>) -> Result<(), Failure> {
    let bindings = bindings(review, BINDINGS);
    if bindings.is_empty() || is_exempt(review) {
        return Ok(());
    }
    let server = review.request.server;
    let (_, items) = server.store.list(POLICIES, None);
    let mut warnings = Vec::new();
    let mut refused = None;
    for item in items {
        let policy = server.admission.policies.validating.get(&item, ValidatingPolicy::of);
        for found in matches(&policy.head, &bindings, review) {
            for denial in policy.denials(review, &found) {
                let acts = |action: &str| found.binding.actions.iter().any(|own| own == action);
                if acts("Warn") {
                    let (name, binding) = (&policy.head.name, &found.binding.name);
                    warnings.push(format!(
                        "Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{binding}': {}",
                        denial.message
                    ));
                }
                if acts("Deny") && refused.is_none() {
                    refused = Some(refusal(review, &policy.head, found.binding, &denial));
                }
            }
        }
    }
    review.warnings.append(&mut warnings);
    refused.map_or(Ok(()), Err)
}

fn refusal(review: &Review<'_>, head: &PolicyHead, binding: &PolicyBinding, denial: &Denial) -> Failure {
    let (name, binding, why) = (&head.name, &binding.name, &denial.message);
    let message = format!("ValidatingAdmissionPolicy '{name}' with binding '{binding}' denied request: {why}");
    let mut failure = review.forbidden(&message);
    (failure.reason, failure.code) = denial.reason;
    failure.with_causes(vec![serde_json::json!({"message": message})])
}
