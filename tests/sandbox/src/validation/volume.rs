//! Validates volumes of Pods.

use std::collections::BTreeSet;

use super::{
    at::{At, Causes},
    name::NameRule,
};

/// Volumes, and the names by which they may be mounted.
pub(super) fn volumes<'a>(volumes: &At<'a>, causes: &mut Causes) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for volume in volumes.items() {
        source(&volume, causes);
        let named = volume.child("name");
        if named.is_empty() {
            named.required(causes, "");
        } else if let Some(why) = super::name::fault(NameRule::Label, named.text()) {
            named.invalid(causes, &why);
        } else if !names.insert(named.text()) {
            named.duplicate(causes);
        }
    }
    names
}

/// A volume comes from one source.
fn source(volume: &At<'_>, causes: &mut Causes) {
    let listed = volume.map().into_iter().flatten().map(|(key, _)| key.as_str()).filter(|key| *key != "name");
    let mut sources: Vec<&str> = listed.collect();
    // In the order in which Kubernetes looks at them.
    const FIRST: [&str; 6] = ["emptyDir", "hostPath", "secret", "persistentVolumeClaim", "downwardAPI", "configMap"];
    sources.sort_by_key(|source| FIRST.iter().position(|first| first == source).unwrap_or(FIRST.len()));
    for (index, source) in sources.into_iter().enumerate() {
        let at = volume.child(source);
        if index > 0 {
            at.forbidden(causes, "may not specify more than 1 volume type");
            continue;
        }
        match source {
            "hostPath" => at.child("path").demand(causes, ""),
            "secret" => {
                at.child("secretName").demand(causes, "");
                files(&at, causes);
            }
            "configMap" => {
                at.child("name").demand(causes, "");
                files(&at, causes);
            }
            "persistentVolumeClaim" => at.child("claimName").demand(causes, ""),
            _ => {}
        }
    }
}

fn files(source: &At<'_>, causes: &mut Causes) {
    mode(&source.child("defaultMode"), causes);
    for item in source.child("items").items() {
        item.child("key").demand(causes, "");
        let path = item.child("path");
        path.demand(causes, "");
        if path.text().starts_with('/') {
            path.invalid(causes, "must be a relative path");
        } else if path.text().split('/').any(|part| part == "..") {
            path.invalid(causes, "must not contain '..'");
        } else if path.text().starts_with("..") {
            path.invalid(causes, "must not start with '..'");
        }
        mode(&item.child("mode"), causes);
    }
}

fn mode(mode: &At<'_>, causes: &mut Causes) {
    if mode.number().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        mode.invalid(causes, "must be a number between 0 and 0777 (octal), both inclusive");
    }
}
