//! Validates Jobs and their updates, and CronJobs.

use super::{
    field::{Causes, Field},
    pod, selector,
};
use crate::schedule::Schedule;

/// The label of a Job's Pods with the uid of the Job.
const UID_LABEL: &str = "batch.kubernetes.io/controller-uid";

/// Validates a Job, including the selector and labels that the server generates (upstream: `ValidateJob`).
pub(super) fn validate_job(metadata: &Field<'_>, spec: &Field<'_>, causes: &mut Causes) {
    validate_generated_selector(metadata, spec, causes);
    validate_job_spec(spec, causes);
    let (selector, labels) = (spec.child("selector"), spec.nested(&["template", "metadata", "labels"]));
    if !selector.is_set() {
        selector.required(causes, "");
    }
    selector::validate_label_selector(&selector, causes);
    if !selector::matches_labels(selector.value, labels.value) {
        labels.invalid(causes, "`selector` does not match template `labels`");
    }
}

/// Validates that the selector of a Job without `manualSelector`, and the labels of its pod template, are those that the server generates
/// from the name and uid of the Job (upstream: `ValidateGeneratedSelector`).
pub(super) fn validate_generated_selector(metadata: &Field<'_>, spec: &Field<'_>, causes: &mut Causes) {
    if *spec.child("manualSelector").value == true {
        return;
    }
    let labels = spec.nested(&["template", "metadata", "labels"]);
    let (uid, name) = (metadata.child("uid"), metadata.child("name"));
    let (uid, name) = (uid.text(), name.text());
    let expected =
        [("controller-uid", uid), ("job-name", name), (UID_LABEL, uid), ("batch.kubernetes.io/job-name", name)];
    for (key, value) in expected {
        // As upstream, an error about a wrong value shows all labels.
        let label = Field { path: labels.key(key).path, value: labels.value };
        let detail = format!("must be '{value}'");
        match labels.value.get(key) {
            None => label.required(causes, &detail),
            Some(actual) if actual != value => label.invalid(causes, &detail),
            Some(_) => {}
        }
    }
    let (selector, expected) = (spec.child("selector"), serde_json::json!({"matchLabels": {UID_LABEL: uid}}));
    if *selector.value != expected {
        selector.invalid(causes, "`selector` not auto-generated");
    }
}

/// Validates the spec of a Job or of the Jobs of a CronJob, without the selector (upstream: `validateJobSpec`).
fn validate_job_spec(spec: &Field<'_>, causes: &mut Causes) {
    for count in ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"] {
        spec.child(count).non_negative(causes);
    }
    spec.child("backoffLimitPerIndex").non_negative(causes);
    spec.child("maxFailedIndexes").non_negative(causes);
    let mode = spec.child("completionMode");
    mode.optional_enum(causes, &["NonIndexed", "Indexed"]);
    let completions = spec.child("completions");
    if mode.text() == "Indexed" && !completions.is_set() {
        completions.required(causes, "when completion mode is Indexed");
    }
    spec.child("podReplacementPolicy").optional_enum(causes, &["Failed", "TerminatingOrFailed"]);
    pod::validate_template(&spec.child("template"), causes);
    let restart = spec.nested(&["template", "spec", "restartPolicy"]);
    if restart.text() == "Always" {
        restart.required(causes, "valid values: \"OnFailure\", \"Never\"");
    }
}

/// Validates an update of a Job: most fields are immutable (upstream: `ValidateJobSpecUpdate`).
pub(super) fn validate_job_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    validate_job_spec(new, causes);
    let (selector, labels) = (new.child("selector"), new.nested(&["template", "metadata", "labels"]));
    if !selector.is_set() {
        selector.required(causes, "");
    }
    selector::validate_label_selector(&selector, causes);
    if !selector::matches_labels(selector.value, labels.value) {
        labels.invalid(causes, "`selector` does not match template `labels`");
    }
    validate_completions_update(new, old, causes);
    selector.immutable(causes, &old.child("selector"));
    let suspended = *old.child("suspend").value == true;
    let (template, old_template) = (immutable_template(new, suspended), immutable_template(old, suspended));
    if template != old_template {
        // Only the spec of a suspended Job is compared, and the error refers to it.
        let part: &[&str] = if suspended { &["template", "spec"] } else { &["template"] };
        new.nested(part).invalid(causes, "field is immutable");
    }
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
        new.child(field).immutable(causes, &old.child(field));
    }
}

/// Validates that an update leaves `completions` unchanged, unless the Job is indexed and the new value equals
/// `parallelism` (upstream: `validateCompletions`).
fn validate_completions_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    let (completions, old_completions) = (new.child("completions"), old.child("completions"));
    if new.child("completionMode").text() != "Indexed" {
        completions.immutable(causes, &old_completions);
        return;
    }
    let is_changed = completions.is_set() && completions.value != old_completions.value;
    if is_changed && completions.value != new.child("parallelism").value {
        completions.invalid(causes, "can only be modified in tandem with spec.parallelism");
    }
}

/// Returns the part of the pod template that an update may not change. A suspended Job may change the template's
/// metadata, scheduling directives and container resources (upstream: `validatePodTemplateUpdate`).
fn immutable_template(spec: &Field<'_>, suspended: bool) -> serde_json::Value {
    let mut template = spec.child("template").value.clone();
    if !suspended {
        return template;
    }
    if let Some(template) = template.as_object_mut() {
        template.remove("metadata");
    }
    if let Some(spec) = template["spec"].as_object_mut() {
        for key in ["nodeSelector", "tolerations", "schedulingGates"] {
            spec.remove(key);
        }
        // Of the affinity, only the part that refers to nodes may change.
        if let Some(affinity) = spec.get_mut("affinity").and_then(serde_json::Value::as_object_mut) {
            affinity.remove("nodeAffinity");
            if affinity.is_empty() {
                spec.remove("affinity");
            }
        }
        for list in ["containers", "initContainers"] {
            let containers = spec.get_mut(list).and_then(serde_json::Value::as_array_mut);
            for container in containers.into_iter().flatten().filter_map(serde_json::Value::as_object_mut) {
                container.remove("resources");
            }
        }
    }
    template
}

/// Validates the spec of a CronJob (upstream: `validateCronJobSpec`).
pub(super) fn validate_cron_job(spec: &Field<'_>, causes: &mut Causes) {
    let when = spec.child("schedule");
    if when.is_empty() {
        when.required(causes, "");
    } else if let Err(detail) = Schedule::parse(when.text()) {
        when.invalid(causes, &detail);
    }
    spec.child("startingDeadlineSeconds").non_negative(causes);
    spec.child("concurrencyPolicy").required_enum(causes, &["Allow", "Forbid", "Replace"]);
    spec.child("successfulJobsHistoryLimit").non_negative(causes);
    spec.child("failedJobsHistoryLimit").non_negative(causes);
    validate_time_zone(&spec.child("timeZone"), causes);
    let job = spec.nested(&["jobTemplate", "spec"]);
    validate_job_spec(&job, causes);
    let manual = job.child("manualSelector");
    if *manual.value == true {
        manual.unsupported(causes, &["nil", "false"]);
    }
}

/// Validates the time zone of a CronJob, if it has one (upstream: `validateTimeZone`).
fn validate_time_zone(zone: &Field<'_>, causes: &mut Causes) {
    if !zone.is_set() {
        return;
    }
    let name = zone.text();
    if name.is_empty() {
        zone.invalid(causes, "timeZone must be nil or non-empty string");
    } else if name.eq_ignore_ascii_case("local") {
        zone.invalid(causes, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
    } else if !is_known_time_zone(name) {
        zone.invalid(causes, &format!("unknown time zone {name}"));
    }
}

/// Returns whether the time zone database of this machine contains the name. Without a database, any name is accepted.
fn is_known_time_zone(name: &str) -> bool {
    let known = jiff::tz::db();
    known.get(name).is_ok() || known.available().next().is_none() && name.split('/').all(|part| !part.is_empty())
}
