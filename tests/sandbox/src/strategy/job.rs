//! Sets the defaults of Jobs, and generates their selector.

use serde_json::{Map, Value, json};

use super::template_labels::{default_labels, template_labels};
use crate::object;

/// The labels with the name of the Job, under their old and current names.
const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
/// The labels with the uid of the Job, under their old and current names.
const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];

/// Sets the defaults of a Job, but not those of the job template of a CronJob (upstream: `SetDefaults_Job`).
pub(super) fn default_job(job: &mut Map<String, Value>) {
    if let Some(labels) = template_labels(job) {
        default_labels(job, labels);
    }
    let Some(Value::Object(spec)) = job.get_mut("spec") else { return };
    if !spec.contains_key("parallelism") {
        spec.entry("completions").or_insert_with(|| 1.into());
        spec.insert("parallelism".into(), 1.into());
    }
    let backoff = if spec.contains_key("backoffLimitPerIndex") { i32::MAX } else { 6 };
    let replacement = if spec.contains_key("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    let defaults: [(&str, Value); 5] = [
        ("backoffLimit", backoff.into()),
        ("completionMode", "NonIndexed".into()),
        ("suspend", false.into()),
        ("podReplacementPolicy", replacement.into()),
        ("manualSelector", false.into()),
    ];
    for (key, value) in defaults {
        spec.entry(key).or_insert(value);
    }
}

/// Adds labels with name and uid of a Job to its pod template, and selects the Pods by the uid label. Does nothing for a
/// Job with a manual selector.
pub(super) fn generate_selector(job: &mut Value) {
    if object::at(job, &["spec", "manualSelector"]) == Some(&json!(true)) {
        return;
    }
    let (name, uid) = (object::name(job).to_owned(), object::uid(job).to_owned());
    let job_labels = object::at(job, &["metadata", "labels"]).cloned();
    let labels = object::map_at(job, &["spec", "template", "metadata", "labels"]);
    // Labels of the Job that were defaulted from the pod template change together with those of the template.
    let has_template_labels = job_labels.is_none_or(|job_labels| job_labels.as_object() == Some(labels));
    for (keys, value) in [(NAME_LABELS, name), (UID_LABELS, uid.clone())] {
        for key in keys {
            labels.entry(key).or_insert_with(|| value.as_str().into());
        }
    }
    let labels = labels.clone();
    if has_template_labels {
        object::metadata_mut(job).insert("labels".into(), labels.into());
    }
    object::map_at(job, &["spec", "selector", "matchLabels"]).entry(UID_LABELS[1]).or_insert_with(|| uid.into());
}
