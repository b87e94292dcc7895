//! Computes the readiness of a `HelmDeployment`, the kind of the `Helm` driver.

use super::{
    condition::find_condition,
    verdict::{Readiness, held_up, waiting},
};
use crate::bounds::foreign;
use serde_json::Value;

/// The reason of the condition while an object of the release makes no progress by itself.
pub(crate) const DEGRADED: &str = "Degraded";

/// Returns the readiness of a `HelmDeployment`: ready if the release is deployed and its objects are ready; held up, that is, without
/// progress, after an error (`Ready` is `False`) and while an object of the release makes no progress (the reason is [`DEGRADED`]).
pub(super) fn deployment(generation: i64, status: &Value) -> Readiness {
    let (Some(available), Some(ready)) = (find_condition(status, "Available"), find_condition(status, "Ready")) else {
        return waiting("it is not Available yet");
    };
    if available["observedGeneration"].as_i64().is_some_and(|observed| observed < generation) {
        return waiting("its controller has not observed the latest change");
    }
    if available["status"] == "True" && ready["status"] == "True" {
        return Readiness::Ready;
    }
    let reason = available["reason"].as_str().unwrap_or_default();
    let message = available["message"].as_str().unwrap_or_default();
    if ready["status"] == "False" || reason == DEGRADED {
        // The message does not change while the state is the same, so it needs no removal of counts.
        return held_up(foreign(&format!("it is not Available ({reason}): {message}")));
    }
    waiting(format!("it is not Available ({reason})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the status of generation 2 with these conditions, which have the same reason and message.
    fn status(available: &str, ready: &str, reason: &str, message: &str) -> Value {
        let condition = |type_: &str, status: &str| {
            json!({
                "type": type_, "status": status, "reason": reason, "message": message, "observedGeneration": 2,
            })
        };
        json!({"observedGeneration": 2, "conditions": [condition("Available", available), condition("Ready", ready)]})
    }

    #[test]
    fn a_deployment_is_held_up_after_an_error_and_while_an_object_is_degraded() {
        let failed = "helm upgrade: chart \"web\" version \"9.9.9\" not found";
        let degraded = "Deployment web: container main is in ImagePullBackOff";
        for (status, expected) in [
            (Value::Null, waiting("it is not Available yet")),
            (status("True", "True", "Provisioned", ""), Readiness::Ready),
            (
                status("False", "False", "HelmFailed", failed),
                held_up(format!("it is not Available (HelmFailed): {failed}")),
            ),
            (
                status("False", "Unknown", DEGRADED, degraded),
                held_up(format!("it is not Available (Degraded): {degraded}")),
            ),
            (status("False", "Unknown", "Progressing", "a"), waiting("it is not Available (Progressing)")),
        ] {
            assert_eq!(deployment(2, &status), expected, "{status}");
        }
        let not_observed = waiting("its controller has not observed the latest change");
        assert_eq!(deployment(3, &status("True", "True", "Provisioned", "")), not_observed);
    }
}
