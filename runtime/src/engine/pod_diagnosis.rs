//! A look at the Pods behind a workload, where its node asks for it: the workload's own status only counts them.

use crate::{
    client::Target,
    engine::{desired::Desired, pass::Core},
    error::Result,
    kind::Kind,
    readiness::{
        Readiness,
        pod::{pods, stuck},
    },
};
use serde_json::Value;

impl Core<'_> {
    /// What a workload that is not ready is held up by, as its Pods tell.
    ///
    /// Pods are not watched for this: it is one list, and only while something is not ready.
    pub(crate) async fn look_behind(&self, kind: &Kind, desired: &Desired, readiness: Readiness) -> Result<Readiness> {
        let (false, Some(selector)) = (readiness == Readiness::Ready, selector(kind, desired)) else {
            return Ok(readiness);
        };
        let pods = pods();
        let target = Target { kind: &pods, namespace: desired.namespace.as_deref(), name: "" };
        let found = self.shared.client.list(target, Some(&selector)).await?;
        let alive = |pod: &&Value| pod["metadata"]["deletionTimestamp"].is_null();
        let statuses = found.iter().filter(alive).map(|pod| &pod["status"]);
        Ok(stuck(statuses).map_or(readiness, Readiness::HeldUp))
    }
}

/// The labels of a workload's Pods, as a request takes them; `None` for what has no Pods.
fn selector(kind: &Kind, desired: &Desired) -> Option<String> {
    let wanted = &desired.object["spec"]["selector"];
    let mut terms = match (kind.group.as_ref(), kind.kind.as_ref()) {
        // The server chooses its selector.
        ("batch", "Job") if wanted.is_null() => return Some(format!("batch.kubernetes.io/job-name={}", desired.name)),
        ("", "ReplicationController") => labels(wanted),
        _ => labels(&wanted["matchLabels"]),
    };
    for expression in wanted["matchExpressions"].as_array().into_iter().flatten() {
        terms.push(term(expression)?);
    }
    (!terms.is_empty()).then(|| terms.join(","))
}

fn labels(labels: &Value) -> Vec<String> {
    let labels = labels.as_object().into_iter().flatten();
    labels.filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?))).collect()
}

fn term(expression: &Value) -> Option<String> {
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

    fn selector_of(group: &'static str, kind: &'static str, spec: Value) -> Option<String> {
        let kind =
            Kind { group: group.into(), version: "v1".into(), kind: kind.into(), plural: "x".into(), namespaced: true };
        let object = json!({"spec": spec});
        let desired =
            Desired { node: "a".into(), namespace: None, name: "web".to_owned(), object, digest: String::new() };
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
