//! Computes the readiness of an `Application` of Argo CD.

use super::{
    condition::stable_text,
    verdict::{Readiness, held_up, waiting},
};
use crate::bounds::foreign;
use serde_json::Value;

/// The name of the entry in `spec.info` of an application that may be degraded.
pub(crate) const ALLOW_DEGRADED: &str = "opgen.dev/allow-degraded";

/// Returns the readiness of an Argo CD `Application`: ready if Argo CD has synchronized the current source, and all deployed objects are
/// healthy; held up, that is, without progress, after an error and while an object is degraded or suspended.
///
/// The sync status is evaluated before the health, because an application that is not in sync can look healthy: its health is that of the
/// objects before the change.
pub(super) fn application(spec: &Value, status: &Value) -> Readiness {
    let sync = &status["sync"];
    let errors = status["conditions"].as_array().into_iter().flatten();
    if let Some((type_, condition)) = errors.filter_map(error_type).next() {
        return held_up(with_message(type_, &condition["message"]));
    }
    // `comparedTo` contains the fields of the spec for which Argo CD has computed the sync status.
    let is_compared = |field: &str| {
        let compared = &sync["comparedTo"][field];
        compared.is_null() || is_same(compared, &spec[field])
    };
    // An application of several sources has no `source`, and Argo CD has compared an empty one.
    let has_one_source = spec["source"].is_object();
    if has_one_source && !is_compared("source") || !is_compared("sources") || !is_compared("destination") {
        return waiting("Argo CD has not compared the latest change");
    }
    let operation = &status["operationState"];
    match (sync["status"].as_str(), operation["phase"].as_str()) {
        (Some("Synced"), _) => health(spec, status),
        (_, Some("Failed" | "Error")) => held_up(with_message("the sync failed", &operation["message"])),
        (Some(sync), _) => waiting(format!("it is {sync}")),
        (None, _) => waiting("it is not synced yet"),
    }
}

/// Returns the type of a condition and the condition if it reports an error, that is, if its type ends with `Error`; `None` otherwise.
fn error_type(condition: &Value) -> Option<(&str, &Value)> {
    condition["type"].as_str().filter(|type_| type_.ends_with("Error")).map(|type_| (type_, condition))
}

/// Returns the readiness of a synchronized application: ready if its objects are healthy, or degraded while the spec allows this.
fn health(spec: &Value, status: &Value) -> Readiness {
    match status["health"]["status"].as_str() {
        Some("Healthy") => Readiness::Ready,
        Some("Degraded") if is_degraded_allowed(spec) => Readiness::Ready,
        Some(health @ ("Degraded" | "Suspended")) => held_up(unhealthy(health, status)),
        Some(health) => waiting(format!("it is {health}")),
        None => waiting("its health is not known yet"),
    }
}

/// Returns the text for an unhealthy application: its health, and the kind, name and message of the first object with this health. If the
/// status lists no such object, the message is that of the application.
fn unhealthy(health: &str, status: &Value) -> String {
    let resources = status["resources"].as_array().into_iter().flatten();
    let Some(resource) = resources.into_iter().find(|resource| resource["health"]["status"] == health) else {
        return with_message(health, &status["health"]["message"]);
    };
    let (kind, name) = (&resource["kind"], &resource["name"]);
    let object = format!("{health}: {} {}", kind.as_str().unwrap_or_default(), name.as_str().unwrap_or_default());
    with_message(&object, &resource["health"]["message"])
}

/// Returns whether two JSON values are equal, apart from empty fields, which Argo CD leaves out when it stores a value.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(fields), Value::Object(others)) => {
            fields.iter().all(|(name, value)| is_same(value, &other[name]))
                && others.iter().all(|(name, value)| fields.contains_key(name) || is_empty(value))
        }
        (Value::Array(items), Value::Array(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(item, other)| is_same(item, other))
        }
        _ => one == other || is_empty(one) && is_empty(other),
    }
}

/// Returns whether Argo CD leaves a value out: the zero value of its type, except of a number.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(value) => !value,
        Value::Number(_) => false,
    }
}

/// Replaces each command between backticks in a message by `…`, since the commands of Helm contain the values of parameters.
fn without_commands(message: &str) -> String {
    // Every second part of the message is between two backticks.
    let parts = message.split('`').enumerate();
    parts.map(|(position, part)| if position % 2 == 0 { part } else { "…" }).collect()
}

/// Returns a problem followed by a message of Argo CD. The message has no commands, which may contain secrets, and no parts that change
/// between two reads, such as counts.
fn with_message(problem: &str, message: &Value) -> String {
    match stable_text(&without_commands(message.as_str().unwrap_or_default())) {
        message if message.is_empty() => foreign(problem),
        message => foreign(&format!("{problem}: {message}")),
    }
}

fn is_degraded_allowed(spec: &Value) -> bool {
    let info = spec["info"].as_array().into_iter().flatten();
    info.into_iter().any(|entry| entry["name"] == ALLOW_DEGRADED && entry["value"] == "true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the spec of an application with one source.
    fn spec() -> Value {
        json!({
            "source": {"repoURL": "https://a", "chart": "web", "targetRevision": "2"},
            "destination": {"name": "in-cluster", "namespace": "web"},
        })
    }

    /// Returns a status with a sync of the current source.
    fn status(sync: &str, health: &str) -> Value {
        json!({"sync": {"status": sync, "comparedTo": spec()}, "health": {"status": health}})
    }

    #[test]
    fn argocd_g7_the_sync_is_judged_before_the_health() {
        for (status, expected) in [
            (Value::Null, waiting("it is not synced yet")),
            (json!({"health": {"status": "Healthy"}}), waiting("it is not synced yet")),
            (status("OutOfSync", "Healthy"), waiting("it is OutOfSync")),
            (status("Unknown", "Degraded"), waiting("it is Unknown")),
            (json!({"sync": {"status": "Synced"}}), waiting("its health is not known yet")),
            (status("Synced", "Progressing"), waiting("it is Progressing")),
            (status("Synced", "Missing"), waiting("it is Missing")),
            (status("Synced", "Suspended"), held_up("Suspended")),
            (status("Synced", "Degraded"), held_up("Degraded")),
            (status("Synced", "Healthy"), Readiness::Ready),
        ] {
            assert_eq!(application(&spec(), &status), expected, "{status}");
        }
    }

    #[test]
    fn argocd_g7_a_degraded_application_is_ready_only_if_it_is_in_sync_and_allowed() {
        let mut spec = spec();
        spec["info"] = json!([{"name": ALLOW_DEGRADED, "value": "true"}]);
        assert_eq!(application(&spec, &status("Synced", "Degraded")), Readiness::Ready);
        assert_eq!(application(&spec, &status("OutOfSync", "Degraded")), waiting("it is OutOfSync"));
    }

    /// The sync status is that of another `targetRevision` or destination than the spec has.
    #[test]
    fn a_status_of_an_older_source_does_not_count() {
        let mut old = status("Synced", "Healthy");
        old["sync"]["comparedTo"]["source"]["targetRevision"] = "1".into();
        let not_compared = waiting("Argo CD has not compared the latest change");
        assert_eq!(application(&spec(), &old), not_compared);
        let mut moved = status("Synced", "Healthy");
        moved["sync"]["comparedTo"]["destination"]["namespace"] = "other".into();
        assert_eq!(application(&spec(), &moved), not_compared);
    }

    #[test]
    fn empty_parts_of_a_source_make_no_difference() {
        let mut spec = spec();
        spec["source"]["helm"] = json!({"parameters": [{"name": "a", "value": ""}], "values": ""});
        let mut status = status("Synced", "Healthy");
        status["sync"]["comparedTo"]["source"]["helm"] = json!({"parameters": [{"name": "a"}]});
        status["sync"]["comparedTo"]["source"]["directory"] = json!({"jsonnet": {}});
        assert_eq!(application(&spec, &status), Readiness::Ready);
    }

    #[test]
    fn an_application_of_several_sources_is_compared_by_all_of_them() {
        let spec = json!({"sources": [{"repoURL": "https://a"}, {"repoURL": "https://b"}]});
        let status = |sources: &Value| {
            let compared = json!({"source": {"repoURL": ""}, "sources": sources});
            json!({"sync": {"status": "Synced", "comparedTo": compared}, "health": {"status": "Healthy"}})
        };
        assert_eq!(application(&spec, &status(&spec["sources"])), Readiness::Ready);
        let not_compared = waiting("Argo CD has not compared the latest change");
        assert_eq!(application(&spec, &status(&json!([{"repoURL": "https://a"}]))), not_compared);
    }

    #[test]
    fn a_message_contains_no_command() {
        let message = "rpc error: `helm template . --set password=hidden` failed exit status 1: no such value";
        let mut failed = status("Unknown", "Healthy");
        failed["conditions"] = json!([{"type": "ComparisonError", "message": message}]);
        let Readiness::HeldUp(reason) = application(&spec(), &failed) else { unreachable!("it has an error") };
        assert!(!reason.contains("hidden") && reason.contains("no such value"), "{reason}");
    }

    #[test]
    fn the_reason_contains_the_message_of_argo_cd() {
        let mut failed = status("OutOfSync", "Missing");
        failed["operationState"] = json!({"phase": "Failed", "message": "namespaces \"web\" not found"});
        let reason = held_up("the sync failed: namespaces \"web\" not found");
        assert_eq!(application(&spec(), &failed), reason);

        failed["conditions"] = json!([
            {"type": "SharedResourceWarning", "message": "a"}, {"type": "ComparisonError", "message": "no such chart"},
        ]);
        assert_eq!(application(&spec(), &failed), held_up("ComparisonError: no such chart"));

        let mut degraded = status("Synced", "Degraded");
        degraded["resources"] = json!([
            {"kind": "Service", "name": "web", "health": {"status": "Healthy"}},
            {"kind": "Deployment", "name": "web", "health": {"status": "Degraded", "message": "exceeded its deadline"}},
        ]);
        assert_eq!(application(&spec(), &degraded), held_up("Degraded: Deployment web: exceeded its deadline"));
    }
}
