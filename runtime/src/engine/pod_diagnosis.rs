//! Finds out from the status of its Pods why a workload is not ready.
//!
//! The status of a workload only counts its Pods. A node asks for this by the option `pods`.

use crate::{
    client::Target,
    engine::{desired::Desired, pass::PassCore},
    error::Result,
    kind::Kind,
    readiness::{
        Readiness,
        pod::{pods, stuck_containers},
    },
};
use serde_json::Value;

impl PassCore<'_> {
    /// Returns the readiness of a workload: `HeldUp` with the reason if a container of its Pods is stuck, else `readiness` as it was
    /// passed.
    ///
    /// Pods are listed, not watched: one call in each pass, and only while the workload is not ready.
    pub(crate) async fn diagnose_pods(
        &self,
        kind: &Kind,
        desired: &Desired,
        readiness: Readiness,
    ) -> Result<Readiness> {
        let (false, Some(selector)) = (readiness == Readiness::Ready, selector(kind, desired)) else {
            return Ok(readiness);
        };
        let pods = pods();
        let target = Target { kind: &pods, namespace: desired.namespace.as_deref(), name: "" };
        let found = self.shared.client.list(target, Some(&selector)).await?;
        let is_alive = |pod: &&Value| pod["metadata"]["deletionTimestamp"].is_null();
        let statuses = found.iter().filter(is_alive).map(|pod| &pod["status"]);
        Ok(stuck_containers(statuses).map_or(readiness, Readiness::HeldUp))
    }
}

/// Returns the label selector of a workload's Pods, as text for a list call; `None` if the object has no selector, or one with an unknown
/// operator.
fn selector(kind: &Kind, desired: &Desired) -> Option<String> {
    let selector_json = &desired.object["spec"]["selector"];
    let mut terms = match (kind.group.as_ref(), kind.kind.as_ref()) {
        // Without a selector of its own, the API server generates one from the name.
        ("batch", "Job") if selector_json.is_null() => {
            return Some(format!("batch.kubernetes.io/job-name={}", desired.name));
        }
        ("", "ReplicationController") => label_terms(selector_json),
        _ => label_terms(&selector_json["matchLabels"]),
    };
    for expression in selector_json["matchExpressions"].as_array().into_iter().flatten() {
        terms.push(expression_term(expression)?);
    }
    (!terms.is_empty()).then(|| terms.join(","))
}

/// Returns the terms of a label selector for equality: `name=value`.
fn label_terms(labels: &Value) -> Vec<String> {
    let labels = labels.as_object().into_iter().flatten();
    labels.filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?))).collect()
}

/// Returns the term for one of `matchExpressions`; `None` if its operator is unknown.
fn expression_term(expression: &Value) -> Option<String> {
    let key = expression["key"].as_str()?;
    let values: Vec<_> = expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    Some(match expression["operator"].as_str()? {
        "In" => format!("{key} in ({})", values.join(",")),
        "NotIn" => format!("{key} notin ({})", values.join(",")),
        "Exists" => key.to_owned(),
        "DoesNotExist" => format!("!{key}"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the label selector of the Pods of a workload of this kind, whose name is `web`.
    fn selector_of(group: &'static str, kind: &'static str, spec: Value) -> Option<String> {
        let kind =
            Kind { group: group.into(), version: "v1".into(), kind: kind.into(), plural: "x".into(), namespaced: true };
        let object = json!({"spec": spec});
        let desired = Desired {
            kind: kind.clone(),
            node: "a".into(),
            namespace: None,
            name: "web".to_owned(),
            object,
            digest: String::new(),
        };
        selector(&kind, &desired)
    }

    #[test]
    fn pods_are_found_by_the_selector_of_their_workload() {
        let expressions = json!([
            {"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "old", "operator": "DoesNotExist"},
            {"key": "zone", "operator": "NotIn", "values": ["c"]}, {"key": "app", "operator": "Exists"},
        ]);
        let spec = json!({"selector": {"matchLabels": {"app": "web"}, "matchExpressions": expressions}});
        let wanted = "app=web,tier in (a,b),!old,zone notin (c),app";
        assert_eq!(selector_of("apps", "Deployment", spec).as_deref(), Some(wanted));
        let plain = json!({"selector": {"app": "web"}});
        assert_eq!(selector_of("", "ReplicationController", plain).as_deref(), Some("app=web"));
        assert_eq!(selector_of("batch", "Job", json!({})).as_deref(), Some("batch.kubernetes.io/job-name=web"));
        assert_eq!(selector_of("", "ConfigMap", json!({})), None);
    }

    #[test]
    fn a_selector_that_is_not_understood_selects_nothing() {
        let spec =
            json!({"selector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "a", "operator": "Gt"}]}});
        assert_eq!(selector_of("apps", "Deployment", spec), None);
    }
}
