//! Implements `PodSecurity`: checks Pods against the Pod Security level in the labels of their namespace.
//!
//! `enforce` rejects Pods; `warn` warns about Pods and about objects with a pod template. Every version of a level
//! means the newest one. A changed level does not cause warnings about existing Pods.

use serde_json::Value;

use crate::{
    admission::{Operation, Review},
    failure::Failure,
    object,
};
use spec::{PodRule, Spec};

mod baseline;
mod restricted;
mod spec;

/// The prefix of the labels of a namespace: the mode follows.
const LABELS: &str = "pod-security.kubernetes.io/";

/// Checks a created or updated Pod or pod template. Rejects a Pod that violates the Pod Security level in the label `enforce` of its
/// namespace, and warns about violations of the level in the label `warn`.
pub(crate) fn validate(review: &mut Review<'_>) -> Result<(), Failure> {
    if !matches!(review.operation, Operation::Create | Operation::Update) {
        return Ok(());
    }
    let is_pod = review.request.kind.is("", "pods");
    let Some((spec_path, annotations_path)) = pod_template_paths(review) else { return Ok(()) };
    if is_pod && !changes_spec(review, spec_path) {
        return Ok(());
    }
    let Some(namespace) =
        super::lookup::stored_object(review.request.server, "namespaces", "", review.request.namespace)
    else {
        return Ok(());
    };
    let labels = &namespace["metadata"]["labels"];
    let Some(spec) = object::at(&review.object, spec_path) else { return Ok(()) };
    let no_annotations = Value::Null;
    let spec = Spec::new(spec, object::at(&review.object, annotations_path).unwrap_or(&no_annotations));
    if is_pod && let Some(broken_rules) = violations(labels, "enforce", &spec) {
        return Err(review.forbidden(&format!("violates PodSecurity {broken_rules}")));
    }
    let broken_rules = violations(labels, "warn", &spec);
    review.warnings.extend(broken_rules.map(|broken_rules| format!("would violate PodSecurity {broken_rules}")));
    Ok(())
}

/// Returns the path of the pod spec in the written object, and the path of the Pod's annotations; `None` if the kind or subresource has no
/// pod spec.
fn pod_template_paths(review: &Review<'_>) -> Option<(&'static [&'static str], &'static [&'static str])> {
    let kind = review.request.kind;
    let is_workload = matches!(
        (kind.group.as_str(), kind.plural.as_str()),
        ("", "replicationcontrollers")
            | ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets")
            | ("batch", "jobs")
    );
    match review.request.subresource {
        None | Some("ephemeralcontainers") if kind.is("", "pods") => Some((&["spec"], &["metadata", "annotations"])),
        None if is_workload => Some((&["spec", "template", "spec"], &["spec", "template", "metadata", "annotations"])),
        None if kind.is("", "podtemplates") => Some((&["template", "spec"], &["template", "metadata", "annotations"])),
        None if kind.is("batch", "cronjobs") => Some((
            &["spec", "jobTemplate", "spec", "template", "spec"],
            &["spec", "jobTemplate", "spec", "template", "metadata", "annotations"],
        )),
        _ => None,
    }
}

/// Returns whether the write creates the pod spec at `path` or changes it. A change of metadata alone is not checked.
fn changes_spec(review: &Review<'_>, path: &[&str]) -> bool {
    review.old.as_ref().is_none_or(|old| object::at(old, path) != object::at(&review.object, path))
}

/// Returns the Pod Security rules that a Pod breaks, as `"restricted:latest": …`. The level is in the label of the mode (`enforce` or
/// `warn`). Returns `None` if the Pod breaks no rule or the label sets no level.
fn violations(labels: &Value, mode: &str, spec: &Spec<'_>) -> Option<String> {
    let level = labels[format!("{LABELS}{mode}")].as_str().unwrap_or_default();
    let rules: Vec<PodRule> = match level {
        "baseline" => baseline::RULES.iter().map(|(rule, _)| *rule).collect(),
        "restricted" => {
            let baseline_rules =
                baseline::RULES.iter().filter(|(_, in_restricted)| *in_restricted).map(|(rule, _)| *rule);
            baseline_rules.chain(restricted::RULES).collect()
        }
        _ => return None,
    };
    let version = labels[format!("{LABELS}{mode}-version")].as_str().unwrap_or("latest");
    let broken_rules: Vec<String> = rules.iter().filter_map(|rule| rule(spec)).collect();
    (!broken_rules.is_empty()).then(|| format!("\"{level}:{version}\": {}", broken_rules.join(", ")))
}
