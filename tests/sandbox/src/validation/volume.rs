//! Validates the volumes of Pods: names, sources and file modes.

use std::collections::BTreeSet;

use super::{
    field::{Causes, Field},
    name::NameRule,
};

/// Validates the volumes of a Pod, and returns their names, to which volume mounts can refer.
pub(super) fn validate_volumes<'a>(volumes: &Field<'a>, causes: &mut Causes) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for volume in volumes.items() {
        validate_volume_source(&volume, causes);
        let name = volume.child("name");
        if name.is_empty() {
            name.required(causes, "");
        } else if let Some(detail) = super::name::violation(NameRule::Label, name.text()) {
            name.invalid(causes, &detail);
        } else if !names.insert(name.text()) {
            name.duplicate(causes);
        }
    }
    names
}

/// Validates that a volume has at most one source, such as `emptyDir` or `secret`, and that the source has its required fields.
fn validate_volume_source(volume: &Field<'_>, causes: &mut Causes) {
    let keys = volume.map().into_iter().flatten().map(|(key, _)| key.as_str()).filter(|key| *key != "name");
    let mut sources: Vec<&str> = keys.collect();
    // The order in which the real server checks the sources.
    const CHECK_ORDER: [&str; 6] =
        ["emptyDir", "hostPath", "secret", "persistentVolumeClaim", "downwardAPI", "configMap"];
    sources.sort_by_key(|source| CHECK_ORDER.iter().position(|known| known == source).unwrap_or(CHECK_ORDER.len()));
    for (index, source) in sources.into_iter().enumerate() {
        let source_field = volume.child(source);
        if index > 0 {
            source_field.forbidden(causes, "may not specify more than 1 volume type");
            continue;
        }
        match source {
            "hostPath" => source_field.child("path").require(causes, ""),
            "secret" => {
                source_field.child("secretName").require(causes, "");
                validate_files(&source_field, causes);
            }
            "configMap" => {
                source_field.child("name").require(causes, "");
                validate_files(&source_field, causes);
            }
            "persistentVolumeClaim" => source_field.child("claimName").require(causes, ""),
            _ => {}
        }
    }
}

/// Validates the file modes and paths of a volume from a Secret or a ConfigMap.
fn validate_files(source: &Field<'_>, causes: &mut Causes) {
    validate_file_mode(&source.child("defaultMode"), causes);
    for item in source.child("items").items() {
        item.child("key").require(causes, "");
        let path = item.child("path");
        path.require(causes, "");
        if path.text().starts_with('/') {
            path.invalid(causes, "must be a relative path");
        } else if path.text().split('/').any(|part| part == "..") {
            path.invalid(causes, "must not contain '..'");
        } else if path.text().starts_with("..") {
            path.invalid(causes, "must not start with '..'");
        }
        validate_file_mode(&item.child("mode"), causes);
    }
}

/// Validates the permission bits of a file, if they are set.
fn validate_file_mode(mode: &Field<'_>, causes: &mut Causes) {
    if mode.number().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        mode.invalid(causes, "must be a number between 0 and 0777 (octal), both inclusive");
    }
}
