//! Validates the metadata of objects, on create and on update.

use serde_json::Value;

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
};
use crate::{kind::Kind, strategy::revalidates_metadata};

/// The maximum size of all annotations of an object, in bytes.
const MAX_ANNOTATIONS_SIZE: usize = 256 * 1024;
/// The standard finalizers, which have no domain.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Validates the metadata of a new object: the general rules with the name format of the kind, and the names of finalizers.
pub(super) fn validate_create(kind: &Kind, metadata: &Field<'_>, causes: &mut Causes) {
    validate_object_meta(metadata, name::rule_of(kind), causes);
    if restricts_finalizer_names(kind) {
        validate_finalizer_names(metadata, causes);
    }
}

/// Removes the errors about the labels of a Job if they equal those of its pod template, because the validation of the template reports the
/// same errors.
pub(super) fn drop_template_label_causes(metadata: &Field<'_>, template: &Field<'_>, causes: &mut Causes) {
    let labels = metadata.child("labels");
    if labels.is_set() && labels.value == template.nested(&["metadata", "labels"]).value {
        causes.retain(|cause| cause.field != labels.path);
    }
}

/// Validates the metadata of an update. Repeats some checks, because in the real server several validators report the same error.
pub(super) fn validate_update(kind: &Kind, metadata: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    validate_object_meta(metadata, NameRule::Segment, causes);
    validate_object_meta_update(metadata, old, causes);
    // The validation of these kinds repeats the checks of the generic update.
    if revalidates_metadata(kind) {
        validate_object_meta_update(metadata, old, causes);
    }
    if !restricts_finalizer_names(kind) {
        return;
    }
    validate_finalizer_names(metadata, causes);
    if revalidates_as_new(kind) {
        validate_object_meta(metadata, name::rule_of(kind), causes);
        validate_finalizer_names(metadata, causes);
    }
}

/// Returns whether finalizers of the kind must be standard ones or have a domain.
fn restricts_finalizer_names(kind: &Kind) -> bool {
    let is_extension = matches!(kind.group.as_str(), "apiextensions.k8s.io" | "apiregistration.k8s.io");
    kind.custom().is_none() && !is_extension
}

/// Returns whether the kind applies the rules for the metadata of new objects to updates, too.
fn revalidates_as_new(kind: &Kind) -> bool {
    const CORE: [&str; 5] = ["configmaps", "secrets", "services", "persistentvolumes", "persistentvolumeclaims"];
    kind.group.is_empty() && CORE.contains(&kind.plural.as_str())
        || kind.group == "rbac.authorization.k8s.io"
        || kind.is("networking.k8s.io", "ingresses")
        || kind.is("batch", "jobs")
}

/// Validates metadata; `rule` is the format of the name (upstream: `ValidateObjectMeta`).
fn validate_object_meta(metadata: &Field<'_>, rule: NameRule, causes: &mut Causes) {
    let generate_name = metadata.child("generateName");
    if !generate_name.is_empty() {
        // The generated name has more characters after a trailing hyphen, so the prefix may end with one. As upstream (`maskTrailingDash`),
        // replaces a trailing hyphen and the character before it by `a`.
        let last_char = generate_name.text().strip_suffix('-').and_then(|text| text.char_indices().next_back());
        let checked = last_char.map(|(at, _)| format!("{}a", generate_name.text().get(..at).unwrap_or_default()));
        if let Some(detail) = name::violation(rule, checked.as_deref().unwrap_or(generate_name.text())) {
            generate_name.invalid(causes, &detail);
        }
    }
    let name = metadata.child("name");
    if name.is_empty() {
        name.required(causes, "name or generateName is required");
    } else {
        name.optional_name(causes, rule);
    }
    validate_labels_annotations_and_owners(metadata, causes);
    for finalizer in metadata.child("finalizers").items() {
        if let Some(detail) = name::violation(NameRule::Qualified, finalizer.text()) {
            metadata.child("finalizers").invalid_part(causes, finalizer.text(), &detail);
        }
    }
}

/// Validates labels, annotations and owner references.
fn validate_labels_annotations_and_owners(metadata: &Field<'_>, causes: &mut Causes) {
    validate_labels(&metadata.child("labels"), causes);
    validate_annotations(&metadata.child("annotations"), causes);
    validate_owner_references(&metadata.child("ownerReferences"), causes);
}

/// Validates the keys and values of labels or of a map with the same format, such as a node selector.
pub(super) fn validate_labels(labels: &Field<'_>, causes: &mut Causes) {
    for (key, value) in labels.entries() {
        if let Some(detail) = name::violation(NameRule::Qualified, key) {
            labels.invalid_part(causes, key, &detail);
        }
        let value = value.as_str().unwrap_or_default();
        if let Some(detail) = name::violation(NameRule::LabelValue, value) {
            labels.invalid_part(causes, value, &detail);
        }
    }
}

/// Validates the keys of annotations and the total size.
pub(super) fn validate_annotations(annotations: &Field<'_>, causes: &mut Causes) {
    let mut size = 0;
    for (key, value) in annotations.entries() {
        if let Some(detail) = name::violation(NameRule::Qualified, &key.to_lowercase()) {
            annotations.invalid_part(causes, key, &detail);
        }
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > MAX_ANNOTATIONS_SIZE {
        annotations.too_long(causes, MAX_ANNOTATIONS_SIZE);
    }
}

/// Validates owner references: their fields, and at most one controller.
fn validate_owner_references(owners: &Field<'_>, causes: &mut Causes) {
    let mut controller_name = String::new();
    for owner in owners.items() {
        for (key, detail) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            // The path in the error has no index of the owner.
            if owner.child(key).is_empty() {
                owners.child(key).invalid_part(causes, "", detail);
            }
        }
        if owner.child("apiVersion").text() == "v1" && owner.child("kind").text() == "Event" {
            owners.invalid_part(causes, "", "/v1, Kind=Event is disallowed from being an owner");
        }
        if *owner.child("controller").value == Value::Bool(true) {
            let owner_name = format!("{}/{}", owner.child("kind").text(), owner.child("name").text());
            if !controller_name.is_empty() {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {controller_name} and {owner_name}"
                );
                owners.invalid(causes, &detail);
            }
            controller_name = owner_name;
        }
    }
}

/// Validates that finalizers are standard ones or have a domain.
fn validate_finalizer_names(metadata: &Field<'_>, causes: &mut Causes) {
    for finalizer in metadata.child("finalizers").items() {
        if !finalizer.text().contains('/') && !STANDARD_FINALIZERS.contains(&finalizer.text()) {
            finalizer.invalid(causes, "name is neither a standard finalizer name nor is it fully qualified");
        }
    }
}

/// Validates that an update keeps the immutable metadata (upstream: `ValidateObjectMetaUpdate`).
fn validate_object_meta_update(metadata: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    if old.child("deletionTimestamp").is_set() {
        forbid_new_finalizers(metadata, old, causes);
    }
    for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        metadata.child(field).immutable(causes, &old.child(field));
    }
    validate_labels_annotations_and_owners(metadata, causes);
}

/// Forbids an update to add finalizers to an object that is being deleted.
fn forbid_new_finalizers(metadata: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    let old_finalizers: Vec<&str> = old.child("finalizers").items().map(|field| field.text()).collect();
    let finalizers = metadata.child("finalizers");
    let mut added: Vec<&str> =
        finalizers.items().map(|field| field.text()).filter(|name| !old_finalizers.contains(name)).collect();
    added.sort_unstable();
    if !added.is_empty() {
        let quoted = added.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{quoted}}}"
        );
        finalizers.forbidden(causes, &detail);
    }
}
