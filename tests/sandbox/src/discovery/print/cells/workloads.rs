//! Prints the table cells of workloads such as Deployments, Jobs and autoscalers.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    super::duration::{between, since},
    format::{
        Cells, NONE, UNSET, count, is_condition_true, join_texts, labels, length, row_with_age, scalar_text, selector,
        text_or,
    },
    pods,
};
use crate::object::{at, is_deleting, name, number, text};

/// Returns the function that prints the table row of a kind; `None` if this module has none for the kind.
pub(super) fn printer_for(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("", "pods") => pods::pod,
        ("", "podtemplates") => pod_template,
        ("", "replicationcontrollers") => replication_controller,
        ("apps", "deployments") => deployment,
        ("apps", "replicasets") => replica_set,
        ("apps", "statefulsets") => stateful_set,
        ("apps", "daemonsets") => daemon_set,
        ("apps", "controllerrevisions") => controller_revision,
        ("batch", "jobs") => job,
        ("batch", "cronjobs") => cron_job,
        ("autoscaling", "horizontalpodautoscalers") => autoscaler,
        _ => return None,
    })
}

/// Returns the cells with the names and the images of the containers of a pod template.
fn containers(object: &Value, template: &[&str]) -> [Value; 2] {
    let path: Vec<&str> = template.iter().copied().chain(["spec", "containers"]).collect();
    [join_texts(object, &path, &["name"]).into(), join_texts(object, &path, &["image"]).into()]
}

/// The path of the pod template in most workloads.
const TEMPLATE: [&str; 2] = ["spec", "template"];

/// Prints the row of a PodTemplate, which has no age.
fn pod_template(object: &Value, _: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object, &["template"]);
    vec![name(object).into(), names, images, labels(object, &["template", "metadata", "labels"]).into()]
}

/// Prints the row of a ReplicaSet or ReplicationController, which differ only in the form of their selector.
fn replica_row(object: &Value, now: Timestamp, selector: String) -> Vec<Value> {
    let counts = [["spec", "replicas"], ["status", "replicas"], ["status", "readyReplicas"]];
    let mut row = row_with_age(object, now, counts.map(|path| count(object, &path).into()));
    row.extend(containers(object, &TEMPLATE));
    row.push(selector.into());
    row
}

/// Prints the row of a ReplicationController, whose selector is a map of labels.
fn replication_controller(object: &Value, now: Timestamp) -> Vec<Value> {
    replica_row(object, now, labels(object, &["spec", "selector"]))
}

/// Prints the row of a ReplicaSet.
fn replica_set(object: &Value, now: Timestamp) -> Vec<Value> {
    replica_row(object, now, selector(object, &["spec", "selector"]))
}

/// Prints the row of a Deployment.
fn deployment(object: &Value, now: Timestamp) -> Vec<Value> {
    let ready = format!("{}/{}", count(object, &["status", "readyReplicas"]), count(object, &["spec", "replicas"]));
    let status = |field| count(object, &["status", field]).into();
    let mut row = row_with_age(object, now, [ready.into(), status("updatedReplicas"), status("availableReplicas")]);
    row.extend(containers(object, &TEMPLATE));
    row.push(selector(object, &["spec", "selector"]).into());
    row
}

/// Prints the row of a StatefulSet.
fn stateful_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let ready = format!("{}/{}", count(object, &["status", "readyReplicas"]), count(object, &["spec", "replicas"]));
    let mut row = row_with_age(object, now, [ready.into()]);
    row.extend(containers(object, &TEMPLATE));
    row
}

/// Prints the row of a DaemonSet.
fn daemon_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let counts = [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ];
    let counts = counts.map(|field| count(object, &["status", field]).into());
    let nodes = labels(object, &["spec", "template", "spec", "nodeSelector"]).into();
    let mut row = row_with_age(object, now, counts.into_iter().chain([nodes]));
    row.extend(containers(object, &TEMPLATE));
    row.push(selector(object, &["spec", "selector"]).into());
    row
}

/// Prints the row of a ControllerRevision with its controller, such as `statefulset.apps/web`.
fn controller_revision(object: &Value, now: Timestamp) -> Vec<Value> {
    let owners = crate::object::owners(object);
    let controller = owners.iter().find(|owner| owner.controller).map_or_else(
        || NONE.to_owned(),
        |owner| {
            let group = owner.api_version.split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
            format!("{}{group}/{}", owner.kind.to_lowercase(), owner.name)
        },
    );
    row_with_age(object, now, [controller.into(), count(object, &["revision"]).into()])
}

/// Prints the row of a Job with its completions and its duration.
fn job(object: &Value, now: Timestamp) -> Vec<Value> {
    let succeeded = count(object, &["status", "succeeded"]);
    let parallelism = count(object, &["spec", "parallelism"]);
    let completions = match number(object, &["spec", "completions"]) {
        Some(completions) => format!("{succeeded}/{completions}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    };
    let time = |field| text(object, &["status", field]).parse::<Timestamp>().ok();
    let duration = time("startTime").map(|start| between(start, time("completionTime").unwrap_or(now)));
    let mut row =
        row_with_age(object, now, [job_state(object).into(), completions.into(), duration.unwrap_or_default().into()]);
    row.extend(containers(object, &TEMPLATE));
    row.push(selector(object, &["spec", "selector"]).into());
    row
}

/// Returns the state of a Job: `Complete` or `Failed` if this condition is true, else `Terminating` if it is being deleted, else its first
/// other condition that is true, else `Running`.
fn job_state(object: &Value) -> &'static str {
    let is_true = |condition: &&str| is_condition_true(object, condition);
    if let Some(end) = ["Complete", "Failed"].into_iter().find(is_true) {
        return end;
    }
    if is_deleting(object) {
        return "Terminating";
    }
    ["Suspended", "FailureTarget", "SuccessCriteriaMet"].into_iter().find(is_true).unwrap_or("Running")
}

/// Prints the row of a CronJob with its last schedule time.
fn cron_job(object: &Value, now: Timestamp) -> Vec<Value> {
    let suspended = match at(object, &["spec", "suspend"]).and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => UNSET,
    };
    let last = text(object, &["status", "lastScheduleTime"]);
    let last = if last.is_empty() { NONE.to_owned() } else { since(last, now) };
    let schedule = text(object, &["spec", "schedule"]).into();
    let zone = text_or(object, &["spec", "timeZone"], NONE);
    let mut row = row_with_age(
        object,
        now,
        [schedule, zone, suspended.into(), length(object, &["status", "active"]).into(), last.into()],
    );
    row.extend(containers(object, &["spec", "jobTemplate", "spec", "template"]));
    row.push(selector(object, &["spec", "jobTemplate", "spec", "selector"]).into());
    row
}

/// Prints the row of a HorizontalPodAutoscaler.
fn autoscaler(object: &Value, now: Timestamp) -> Vec<Value> {
    let target = |field| text(object, &["spec", "scaleTargetRef", field]);
    let reference = format!("{}/{}", target("kind"), target("name"));
    let min_replicas =
        number(object, &["spec", "minReplicas"]).map_or_else(|| UNSET.to_owned(), |number| number.to_string());
    let max_replicas = count(object, &["spec", "maxReplicas"]);
    let current = count(object, &["status", "currentReplicas"]);
    row_with_age(
        object,
        now,
        [reference.into(), metrics(object).into(), min_replicas.into(), max_replicas.into(), current.into()],
    )
}

/// Formats the current and target values of the first two metrics of an autoscaler: `cpu: 10%/80% + 1 more...`.
fn metrics(object: &Value) -> String {
    if let Some(percent) = number(object, &["spec", "targetCPUUtilizationPercentage"]) {
        let current = number(object, &["status", "currentCPUUtilizationPercentage"]);
        return format!(
            "cpu: {}/{percent}%",
            current.map_or_else(|| super::format::UNKNOWN.to_owned(), |now| format!("{now}%"))
        );
    }
    let formatted = super::format::items(object, &["spec", "metrics"]).iter().enumerate().map(|(index, metric)| {
        // The field with the values of a metric is named by its type: `containerResource` for `ContainerResource`.
        let kind = text(metric, &["type"]);
        let field =
            format!("{}{}", kind.get(..1).unwrap_or_default().to_lowercase(), kind.get(1..).unwrap_or_default());
        let (spec, null) = (&metric[&field], json!(null));
        let current = super::format::items(object, &["status", "currentMetrics"])
            .get(index)
            .map_or(&null, |current| &current[&field]["current"]);
        let label = match kind {
            "Resource" | "ContainerResource" => format!("{}: ", text(spec, &["name"])),
            _ => String::new(),
        };
        let amount = |value: &Value| match number(value, &["averageUtilization"]) {
            Some(percent) => format!("{percent}%"),
            None if at(value, &["averageValue"]).is_some() => scalar_text(value, &["averageValue"], ""),
            None => scalar_text(value, &["value"], super::format::UNKNOWN),
        };
        let is_average = matches!(kind, "External" | "Object") && at(spec, &["target", "averageValue"]).is_some();
        let average = if is_average { " (avg)" } else { "" };
        format!("{label}{}/{}{average}", amount(current), amount(&spec["target"]))
    });
    let metrics: Vec<String> = formatted.collect();
    let more = metrics.len().saturating_sub(2);
    match metrics.len() {
        0 => NONE.to_owned(),
        _ if more > 0 => format!("{} + {more} more...", metrics.get(..2).unwrap_or_default().join(", ")),
        _ => metrics.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `formatHPAMetrics` of kube-apiserver appends `(avg)` to the target of these metrics.
    #[test]
    fn averages_of_external_and_object_metrics_are_marked() {
        let metric = |kind: &str, field: &str| json!({"type": kind, field: {"target": {"averageValue": "5"}}});
        let spec = |metric: Value| json!({"spec": {"metrics": [metric]}});
        assert_eq!(metrics(&spec(metric("External", "external"))), "<unknown>/5 (avg)");
        assert_eq!(metrics(&spec(metric("Object", "object"))), "<unknown>/5 (avg)");
        assert_eq!(metrics(&spec(metric("Pods", "pods"))), "<unknown>/5");
    }
}
