//! Evaluates match conditions of policies and webhooks.

use super::expression::{Expression, Scope};

/// Returns whether all match conditions are true. A false condition takes precedence over an error.
///
/// # Errors
/// If no condition is false, but one does not compile or its evaluation fails.
pub(super) fn conditions_hold(conditions: &[Result<Expression, String>], scope: &Scope<'_>) -> Result<bool, String> {
    let mut errors = Vec::new();
    for condition in conditions {
        match condition {
            Err(error) => errors.push(error.clone()),
            Ok(condition) => match scope.evaluate_bool(condition) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => errors.push(evaluation_error(condition, &error)),
            },
        }
    }
    match errors.as_slice() {
        [] => Ok(true),
        [error] => Err(error.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

/// Returns the message of kube-apiserver for a failed evaluation of an expression.
pub(super) fn evaluation_error(expression: &Expression, why: &str) -> String {
    format!("expression '{}' resulted in error: {why}", expression.source)
}
