//! Validates object metadata.

use serde_json::Value;

use super::{
    at::{At, Causes},
    name::{self, NameRule},
};
use crate::{kind::Kind, strategy::revalidates_metadata};

/// All annotations of an object together.
const ANNOTATIONS: usize = 256 * 1024;
/// Finalizers without a domain that are Kubernetes' own.
const FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// A new object.
pub(super) fn create(kind: &Kind, metadata: &At<'_>, causes: &mut Causes) {
    whole(metadata, name::rule_of(kind), causes);
    if names_finalizers(kind) {
        known_finalizers(metadata, causes);
    }
}

/// Labels that a Job took from its template are looked at there.
pub(super) fn without_labels_of(metadata: &At<'_>, template: &At<'_>, causes: &mut Causes) {
    let labels = metadata.child("labels");
    if labels.is_set() && labels.value == template.at(&["metadata", "labels"]).value {
        causes.retain(|cause| cause.field != labels.path);
    }
}

/// A new state. What several parts of Kubernetes look at, each of them tells.
pub(super) fn update(kind: &Kind, metadata: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    whole(metadata, NameRule::Segment, causes);
    changed(metadata, old, causes);
    if revalidates_metadata(kind) {
        changed(metadata, old, causes);
    }
    if !names_finalizers(kind) {
        return;
    }
    known_finalizers(metadata, causes);
    if validates_again(kind) {
        whole(metadata, name::rule_of(kind), causes);
        known_finalizers(metadata, causes);
    }
}

/// Whether a finalizer of the kind must have a domain or be Kubernetes' own. Others may be called anything.
fn names_finalizers(kind: &Kind) -> bool {
    let extends = matches!(kind.group.as_str(), "apiextensions.k8s.io" | "apiregistration.k8s.io");
    kind.custom().is_none() && !extends
}

/// Kinds that look at an update as at a new object, too.
fn validates_again(kind: &Kind) -> bool {
    const CORE: [&str; 5] = ["configmaps", "secrets", "services", "persistentvolumes", "persistentvolumeclaims"];
    kind.group.is_empty() && CORE.contains(&kind.plural.as_str())
        || kind.group == "rbac.authorization.k8s.io"
        || kind.is("networking.k8s.io", "ingresses")
        || kind.is("batch", "jobs")
}

fn whole(metadata: &At<'_>, rule: NameRule, causes: &mut Causes) {
    let begin = metadata.child("generateName");
    if !begin.is_empty() {
        // Behind the hyphen that it ends with, as most do, more letters come: the letter before goes unseen, too.
        let seen = begin.text().strip_suffix('-').and_then(|text| text.char_indices().next_back());
        let whole = seen.map(|(at, _)| format!("{}a", begin.text().get(..at).unwrap_or_default()));
        if let Some(why) = name::fault(rule, whole.as_deref().unwrap_or(begin.text())) {
            begin.invalid(causes, &why);
        }
    }
    let name = metadata.child("name");
    if name.is_empty() {
        name.required(causes, "name or generateName is required");
    } else {
        name.if_named(causes, rule);
    }
    parts(metadata, causes);
    for finalizer in metadata.child("finalizers").items() {
        if let Some(why) = name::fault(NameRule::Qualified, finalizer.text()) {
            metadata.child("finalizers").invalid_part(causes, finalizer.text(), &why);
        }
    }
}

fn parts(metadata: &At<'_>, causes: &mut Causes) {
    labels(&metadata.child("labels"), causes);
    annotations(&metadata.child("annotations"), causes);
    owners(&metadata.child("ownerReferences"), causes);
}

pub(super) fn labels(labels: &At<'_>, causes: &mut Causes) {
    for (key, value) in labels.entries() {
        if let Some(why) = name::fault(NameRule::Qualified, key) {
            labels.invalid_part(causes, key, &why);
        }
        let value = value.as_str().unwrap_or_default();
        if let Some(why) = name::fault(NameRule::LabelValue, value) {
            labels.invalid_part(causes, value, &why);
        }
    }
}

pub(super) fn annotations(annotations: &At<'_>, causes: &mut Causes) {
    let mut size = 0;
    for (key, value) in annotations.entries() {
        if let Some(why) = name::fault(NameRule::Qualified, &key.to_lowercase()) {
            annotations.invalid_part(causes, key, &why);
        }
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > ANNOTATIONS {
        annotations.too_long(causes, ANNOTATIONS);
    }
}

fn owners(owners: &At<'_>, causes: &mut Causes) {
    let mut controller = String::new();
    for owner in owners.items() {
        for (key, why) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            // The path doesn't tell which of the owners it is.
            if owner.child(key).is_empty() {
                owners.child(key).invalid_part(causes, "", why);
            }
        }
        if owner.child("apiVersion").text() == "v1" && owner.child("kind").text() == "Event" {
            owners.invalid_part(causes, "", "/v1, Kind=Event is disallowed from being an owner");
        }
        if *owner.child("controller").value == Value::Bool(true) {
            let named = format!("{}/{}", owner.child("kind").text(), owner.child("name").text());
            if !controller.is_empty() {
                let why = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {controller} and {named}"
                );
                owners.invalid(causes, &why);
            }
            controller = named;
        }
    }
}

fn known_finalizers(metadata: &At<'_>, causes: &mut Causes) {
    for finalizer in metadata.child("finalizers").items() {
        if !finalizer.text().contains('/') && !FINALIZERS.contains(&finalizer.text()) {
            finalizer.invalid(causes, "name is neither a standard finalizer name nor is it fully qualified");
        }
    }
}

fn changed(metadata: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    if old.child("deletionTimestamp").is_set() {
        new_finalizers(metadata, old, causes);
    }
    for kept in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        metadata.child(kept).immutable(causes, &old.child(kept));
    }
    parts(metadata, causes);
}

/// Nobody can hold back an object that is going already.
fn new_finalizers(metadata: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    let held: Vec<&str> = old.child("finalizers").items().map(|at| at.text()).collect();
    let finalizers = metadata.child("finalizers");
    let mut new: Vec<&str> = finalizers.items().map(|at| at.text()).filter(|name| !held.contains(name)).collect();
    new.sort_unstable();
    if !new.is_empty() {
        let listed = new.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let why = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{listed}}}"
        );
        finalizers.forbidden(causes, &why);
    }
}
