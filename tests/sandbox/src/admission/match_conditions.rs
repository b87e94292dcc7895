//! Evaluates match conditions of policies and webhooks.

use super::expression::{Expression, Scope};

/// Whether all conditions hold: a false condition takes precedence over an error.
pub(super) fn conditions_hold(conditions: &[Result<Expression, String>], scope: &Scope<'_>) -> Result<bool, String> {
    let mut wrong = Vec::new();
    for condition in conditions {
        match condition {
            Err(why) => wrong.push(why.clone()),
            Ok(condition) => match scope.holds(condition) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(why) => wrong.push(failed(condition, &why)),
            },
        }
    }
    match wrong.as_slice() {
        [] => Ok(true),
        [one] => Err(one.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

/// Returns the message of a failed evaluation, as in kube-apiserver.
pub(super) fn failed(expression: &Expression, why: &str) -> String {
    format!("expression '{}' resulted in error: {why}", expression.source)
}
