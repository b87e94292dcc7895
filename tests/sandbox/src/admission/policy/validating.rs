//! Evaluates `ValidatingAdmissionPolicy` and collects its denials.

use kube_cel::cel::Value as Cel;

use super::{
    definition::{INVALID, PolicyBinding, PolicyCommon, ValidatingPolicy, Validation},
    invocation::{PolicyInvocation, bindings, invocations, is_exempt},
};
use crate::{
    admission::{expression::Scope, match_conditions::evaluation_error, review::Review},
    failure::Failure,
};

const POLICIES: &str = "validatingadmissionpolicies.admissionregistration.k8s.io";
const BINDINGS: &str = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

/// The message, and the reason and status code, with which a policy denies a write.
struct Denial {
    message: String,
    reason: (&'static str, u16),
}

impl ValidatingPolicy {
    /// Returns the denials of the write by one invocation of the policy. An error counts as a denial unless `failurePolicy` is `Ignore`.
    fn denials(&self, review: &Review<'_>, invocation: &PolicyInvocation<'_>) -> Vec<Denial> {
        let denials_of_error = |message: String| {
            if self.common.ignores_failure { Vec::new() } else { vec![Denial { message, reason: INVALID }] }
        };
        let params = match &invocation.params {
            Ok(params) => params,
            Err(why) => return denials_of_error(why.clone()),
        };
        let scope = Scope::new(review, &invocation.matched_kind, Some(params), &self.common.variables);
        match self.common.conditions_hold(&scope) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(why) => return denials_of_error(why),
        }
        let mut denials = Vec::new();
        for validation in &self.validations {
            let result = match &validation.expression {
                Ok(expression) => scope.evaluate(expression).map_err(|why| evaluation_error(expression, &why)),
                Err(why) => Err(why.clone()),
            };
            match result {
                Ok(Cel::Bool(true)) => {}
                Ok(_) => denials.push(Denial { message: validation.denial_message(&scope), reason: validation.reason }),
                Err(why) => denials.extend(denials_of_error(why)),
            }
        }
        denials
    }
}

impl Validation {
    /// Returns the message of a denial: the result of `messageExpression`, or else `message`, or else the source of the expression.
    fn denial_message(&self, scope: &Scope<'_>) -> String {
        let evaluated = self.message_expression.as_ref().and_then(|expression| scope.evaluate_text(expression));
        let evaluated = evaluated.map(|evaluated| evaluated.trim().to_owned());
        // As in kube-apiserver, an evaluated message must not be empty, have several lines or exceed 5 KiB.
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

/// Invokes the policies that match the write. Adds the denials of bindings with the action `Warn` as warnings, and
/// rejects the write with the first denial of a binding with the action `Deny`.
pub(crate) fn validate(review: &mut Review<'_>) -> Result<(), Failure> {
    let bindings = bindings(review, BINDINGS);
    if bindings.is_empty() || is_exempt(review) {
        return Ok(());
    }
    let server = review.request.server;
    let (_, items) = server.store.list(POLICIES, None);
    let mut warnings = Vec::new();
    let mut failure = None;
    for item in items {
        let policy = server.admission.policies.validating.get(&item, ValidatingPolicy::parse);
        for invocation in invocations(&policy.common, &bindings, review) {
            for denial in policy.denials(review, &invocation) {
                let has_action = |action: &str| invocation.binding.actions.iter().any(|listed| listed == action);
                if has_action("Warn") {
                    let (name, binding) = (&policy.common.name, &invocation.binding.name);
                    warnings.push(format!(
                        "Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{binding}': {}",
                        denial.message
                    ));
                }
                if has_action("Deny") && failure.is_none() {
                    failure = Some(denial_failure(review, &policy.common, invocation.binding, &denial));
                }
            }
        }
    }
    review.warnings.append(&mut warnings);
    failure.map_or(Ok(()), Err)
}

/// Returns the failure of a denied write, with the reason and status code of the validation.
fn denial_failure(review: &Review<'_>, common: &PolicyCommon, binding: &PolicyBinding, denial: &Denial) -> Failure {
    let (name, binding, why) = (&common.name, &binding.name, &denial.message);
    let message = format!("ValidatingAdmissionPolicy '{name}' with binding '{binding}' denied request: {why}");
    let mut failure = review.forbidden(&message);
    (failure.reason, failure.code) = denial.reason;
    failure.with_causes(vec![serde_json::json!({"message": message})])
}
