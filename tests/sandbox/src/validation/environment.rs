//! Validates the environment variables of containers: `env` and `envFrom`.

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
};

/// The fields of a Pod that `fieldRef` of a variable can refer to.
const POD_FIELDS: [&str; 9] = [
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

/// Validates the environment variables of a container: names, and where the values come from (upstream: `ValidateEnv`).
pub(super) fn validate_variables(variables: &Field<'_>, causes: &mut Causes) {
    for variable in variables.items() {
        let name = variable.child("name");
        if name.is_empty() {
            name.required(causes, "");
        } else {
            validate_variable_name(&name, causes);
        }
        let value_from = variable.child("valueFrom");
        if value_from.is_set() {
            validate_value_from(&variable, &value_from, causes);
        }
    }
}

/// Validates the name of a variable, or the prefix of the names from `envFrom`.
fn validate_variable_name(name: &Field<'_>, causes: &mut Causes) {
    if !name.text().bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=') {
        let detail = "a valid environment variable name must consist only of printable ASCII characters other than '='";
        name.invalid(causes, detail);
    }
}

/// Validates `valueFrom` of a variable: exactly one source, and no `value` beside it (upstream:
/// `validateEnvVarValueFrom`).
fn validate_value_from(variable: &Field<'_>, value_from: &Field<'_>, causes: &mut Causes) {
    let mut sources = 0;
    let field = value_from.child("fieldRef");
    if field.is_set() {
        sources += 1;
        validate_field_ref(&field, causes);
    }
    let resource = value_from.child("resourceFieldRef");
    if resource.is_set() {
        sources += 1;
        resource.child("resource").require(causes, "");
    }
    for key in ["configMapKeyRef", "secretKeyRef"] {
        let selector = value_from.child(key);
        if selector.is_set() {
            sources += 1;
            validate_key_ref(&selector, causes);
        }
    }
    if value_from.child("fileKeyRef").is_set() {
        sources += 1;
    }
    if sources == 0 {
        value_from.invalid_part(
            causes,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        );
    } else if !variable.child("value").is_empty() {
        value_from.invalid_part(causes, "", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        value_from.invalid_part(causes, "", "may not have more than one field specified at a time");
    }
}

/// Validates that `fieldRef` refers to a field in [`POD_FIELDS`], a label or an annotation.
fn validate_field_ref(field: &Field<'_>, causes: &mut Causes) {
    let path = field.child("fieldPath");
    if path.is_empty() {
        path.required(causes, "");
        return;
    }
    let is_label_or_annotation =
        ["metadata.labels['", "metadata.annotations['"].iter().any(|prefix| path.text().starts_with(prefix));
    let is_known = POD_FIELDS.contains(&path.text());
    if path.text() == "metadata.labels" || path.text() == "metadata.annotations" {
        path.unsupported(causes, &POD_FIELDS);
    } else if !is_known && !is_label_or_annotation {
        path.invalid(causes, &format!("error converting fieldPath: field label not supported: {}", path.text()));
    }
}

/// Validates a reference to a key of a ConfigMap or a Secret. An empty name is reported as `field.Invalid` (upstream:
/// `validateSecretKeySelector`).
fn validate_key_ref(selector: &Field<'_>, causes: &mut Causes) {
    let name = selector.child("name");
    if let Some(detail) = name::violation(NameRule::Subdomain, name.text()) {
        name.invalid(causes, &detail);
    }
    let key = selector.child("key");
    if key.is_empty() {
        key.required(causes, "");
    } else {
        key.optional_name(causes, NameRule::Key);
    }
}

/// Validates `envFrom` of a container: each source refers to one ConfigMap or one Secret (upstream: `ValidateEnvFrom`).
pub(super) fn validate_env_from(sources: &Field<'_>, causes: &mut Causes) {
    for source in sources.items() {
        let prefix = source.child("prefix");
        if !prefix.is_empty() {
            validate_variable_name(&prefix, causes);
        }
        let (map, secret) = (source.child("configMapRef"), source.child("secretRef"));
        match (map.is_set(), secret.is_set()) {
            (false, false) => {
                // As upstream, the error has the path of the list, not of the item.
                let detail = "must specify one of: `configMapRef` or `secretRef`";
                sources.invalid_part(causes, "", detail);
            }
            (true, true) => sources.invalid_part(causes, "", "may not have more than one field specified at a time"),
            _ => {}
        }
        for reference in [map, secret].into_iter().filter(Field::is_set) {
            reference.child("name").required_name(causes, NameRule::Subdomain);
        }
    }
}
