//! Validates environment variables of containers.

use super::{
    at::{At, Causes},
    name::{self, NameRule},
};

/// Fields of a Pod that a variable may show.
const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

pub(super) fn variables(variables: &At<'_>, causes: &mut Causes) {
    for variable in variables.items() {
        let named = variable.child("name");
        if named.is_empty() {
            named.required(causes, "");
        } else {
            variable_name(&named, causes);
        }
        let from = variable.child("valueFrom");
        if from.is_set() {
            source(&variable, &from, causes);
        }
    }
}

fn variable_name(name: &At<'_>, causes: &mut Causes) {
    if !name.text().bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=') {
        let why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
        name.invalid(causes, why);
    }
}

fn source(variable: &At<'_>, from: &At<'_>, causes: &mut Causes) {
    let mut sources = 0;
    let field = from.child("fieldRef");
    if field.is_set() {
        sources += 1;
        field_ref(&field, causes);
    }
    let resource = from.child("resourceFieldRef");
    if resource.is_set() {
        sources += 1;
        resource.child("resource").demand(causes, "");
    }
    for key in ["configMapKeyRef", "secretKeyRef"] {
        let selector = from.child(key);
        if selector.is_set() {
            sources += 1;
            key_ref(&selector, causes);
        }
    }
    if from.child("fileKeyRef").is_set() {
        sources += 1;
    }
    if sources == 0 {
        from.invalid_part(
            causes,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        );
    } else if !variable.child("value").is_empty() {
        from.invalid_part(causes, "", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        from.invalid_part(causes, "", "may not have more than one field specified at a time");
    }
}

fn field_ref(field: &At<'_>, causes: &mut Causes) {
    let path = field.child("fieldPath");
    if path.is_empty() {
        path.required(causes, "");
        return;
    }
    let subscripted =
        ["metadata.labels['", "metadata.annotations['"].iter().any(|begin| path.text().starts_with(begin));
    let known = FIELDS.contains(&path.text());
    if path.text() == "metadata.labels" || path.text() == "metadata.annotations" {
        path.unsupported(causes, &FIELDS);
    } else if !known && !subscripted {
        path.invalid(causes, &format!("error converting fieldPath: field label not supported: {}", path.text()));
    }
}

/// A key of a ConfigMap or a Secret. The name may be empty, as it once could.
fn key_ref(selector: &At<'_>, causes: &mut Causes) {
    let named = selector.child("name");
    if let Some(why) = name::fault(NameRule::Subdomain, named.text()) {
        named.invalid(causes, &why);
    }
    let key = selector.child("key");
    if key.is_empty() {
        key.required(causes, "");
    } else {
        key.if_named(causes, NameRule::Key);
    }
}

pub(super) fn sources(sources: &At<'_>, causes: &mut Causes) {
    for source in sources.items() {
        let prefix = source.child("prefix");
        if !prefix.is_empty() {
            variable_name(&prefix, causes);
        }
        let (map, secret) = (source.child("configMapRef"), source.child("secretRef"));
        match (map.is_set(), secret.is_set()) {
            (false, false) => {
                let why = "must specify one of: `configMapRef` or `secretRef`";
                sources.invalid_part(causes, "", why);
            }
            (true, true) => sources.invalid_part(causes, "", "may not have more than one field specified at a time"),
            _ => {}
        }
        for one in [map, secret].into_iter().filter(At::is_set) {
            one.child("name").named(causes, NameRule::Subdomain);
        }
    }
}
