//! Validates Jobs and CronJobs.

use super::{
    at::{At, Causes},
    pod, selector,
};
use crate::schedule::Schedule;

const UID_LABEL: &str = "batch.kubernetes.io/controller-uid";

/// A Job of this metadata.
pub(super) fn job(metadata: &At<'_>, spec: &At<'_>, causes: &mut Causes) {
    generated_selector(metadata, spec, causes);
    job_spec(spec, causes);
    let (selects, labels) = (spec.child("selector"), spec.at(&["template", "metadata", "labels"]));
    if !selects.is_set() {
        selects.required(causes, "");
    }
    selector::selector(&selects, causes);
    if !selects.is_set() || !selector::selects(selects.value, labels.value) {
        labels.invalid(causes, "`selector` does not match template `labels`");
    }
}

/// A selector that the server makes is not to be chosen.
pub(super) fn generated_selector(metadata: &At<'_>, spec: &At<'_>, causes: &mut Causes) {
    if *spec.child("manualSelector").value == true {
        return;
    }
    let labels = spec.at(&["template", "metadata", "labels"]);
    let (uid, name) = (metadata.child("uid"), metadata.child("name"));
    let (uid, name) = (uid.text(), name.text());
    let expected =
        [("controller-uid", uid), ("job-name", name), (UID_LABEL, uid), ("batch.kubernetes.io/job-name", name)];
    for (key, value) in expected {
        let label = At { path: labels.key(key).path, value: labels.value };
        let wanted = format!("must be '{value}'");
        match labels.value.get(key) {
            None => label.required(causes, &wanted),
            Some(is) if is != value => label.invalid(causes, &wanted),
            Some(_) => {}
        }
    }
    let (selects, expected) = (spec.child("selector"), serde_json::json!({"matchLabels": {UID_LABEL: uid}}));
    if *selects.value != expected {
        selects.invalid(causes, "`selector` not auto-generated");
    }
}

fn job_spec(spec: &At<'_>, causes: &mut Causes) {
    for count in ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"] {
        spec.child(count).natural(causes);
    }
    spec.child("backoffLimitPerIndex").natural(causes);
    spec.child("maxFailedIndexes").natural(causes);
    let mode = spec.child("completionMode");
    mode.if_one_of(causes, &["NonIndexed", "Indexed"]);
    let completions = spec.child("completions");
    if mode.text() == "Indexed" && !completions.is_set() {
        completions.required(causes, "when completion mode is Indexed");
    }
    spec.child("podReplacementPolicy").if_one_of(causes, &["Failed", "TerminatingOrFailed"]);
    pod::template(&spec.child("template"), causes);
    let restart = spec.at(&["template", "spec", "restartPolicy"]);
    if restart.text() == "Always" {
        restart.required(causes, "valid values: \"OnFailure\", \"Never\"");
    }
}

/// Of a Job that runs hardly anything changes.
pub(super) fn update(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    job_spec(new, causes);
    let (selects, labels) = (new.child("selector"), new.at(&["template", "metadata", "labels"]));
    selector::selector(&selects, causes);
    if !selector::selects(selects.value, labels.value) {
        labels.invalid(causes, "`selector` does not match template `labels`");
    }
    if new.child("completionMode").text() != "Indexed" {
        new.child("completions").immutable(causes, &old.child("completions"));
    }
    selects.immutable(causes, &old.child("selector"));
    let suspended = *old.child("suspend").value == true;
    let (template, held) = (fixed_template(new, suspended), fixed_template(old, suspended));
    if template != held {
        // What is compared of a suspended Job is the spec alone, and told so.
        let part: &[&str] = if suspended { &["template", "spec"] } else { &["template"] };
        new.at(part).invalid(causes, "field is immutable");
    }
    for kept in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
        new.child(kept).immutable(causes, &old.child(kept));
    }
}

/// The template without what may change as long as nothing was started.
fn fixed_template(spec: &At<'_>, suspended: bool) -> serde_json::Value {
    let mut template = spec.child("template").value.clone();
    if !suspended {
        return template;
    }
    if let Some(template) = template.as_object_mut() {
        template.remove("metadata");
    }
    if let Some(spec) = template["spec"].as_object_mut() {
        for free in ["nodeSelector", "affinity", "tolerations", "schedulingGates"] {
            spec.remove(free);
        }
        for containers in ["containers", "initContainers"] {
            let listed = spec.get_mut(containers).and_then(serde_json::Value::as_array_mut);
            for container in listed.into_iter().flatten().filter_map(serde_json::Value::as_object_mut) {
                container.remove("resources");
            }
        }
    }
    template
}

pub(super) fn cron_job(spec: &At<'_>, causes: &mut Causes) {
    let when = spec.child("schedule");
    if when.is_empty() {
        when.required(causes, "");
    } else if let Err(why) = Schedule::parse(when.text()) {
        when.invalid(causes, &why);
    }
    spec.child("startingDeadlineSeconds").natural(causes);
    spec.child("concurrencyPolicy").one_of(causes, &["Allow", "Forbid", "Replace"]);
    spec.child("successfulJobsHistoryLimit").natural(causes);
    spec.child("failedJobsHistoryLimit").natural(causes);
    time_zone(&spec.child("timeZone"), causes);
    let job = spec.at(&["jobTemplate", "spec"]);
    job_spec(&job, causes);
    let manual = job.child("manualSelector");
    if *manual.value == true {
        manual.unsupported(causes, &["nil", "false"]);
    }
}

fn time_zone(zone: &At<'_>, causes: &mut Causes) {
    if !zone.is_set() {
        return;
    }
    let name = zone.text();
    if name.is_empty() {
        zone.invalid(causes, "timeZone must be nil or non-empty string");
    } else if name.eq_ignore_ascii_case("local") {
        zone.invalid(causes, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
    } else if !is_zone(name) {
        zone.invalid(causes, &format!("unknown time zone {name}"));
    }
}

/// As far as the names of this machine tell, which may have none.
fn is_zone(name: &str) -> bool {
    let known = jiff::tz::db();
    known.get(name).is_ok() || known.available().next().is_none() && name.split('/').all(|part| !part.is_empty())
}
