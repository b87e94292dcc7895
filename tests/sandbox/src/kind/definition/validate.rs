//! Validates a CustomResourceDefinition when it is created or updated.

use serde_json::{Value, json};

use super::{condition::has_condition, conversion, names, parts};
use crate::{
    failure::Cause,
    object::{at, text},
    schema,
};

/// Whether each of four fields has the same value in all versions of a CRD. The server reports errors in such a shared
/// field once, under `spec`, because its internal Go type stores a shared field there.
pub(super) struct SharedFields {
    schema: bool,
    subresources: bool,
    columns: bool,
    selectable: bool,
}

impl SharedFields {
    /// Compares the four fields across the versions. A field that is missing or an empty list is not shared.
    fn of(versions: &[Value]) -> Self {
        let is_shared = |key: &str| {
            let first =
                versions.first().map(|version| &version[key]).filter(|first| !first.is_null() && **first != json!([]));
            first.is_some_and(|first| versions.iter().all(|version| version[key] == *first))
        };
        Self {
            schema: is_shared("schema"),
            subresources: is_shared("subresources"),
            columns: is_shared("additionalPrinterColumns"),
            selectable: is_shared("selectableFields"),
        }
    }
}

/// Validates a CRD. `old` is its old state; `None` for a new CRD. Returns the errors; none if it is valid.
pub(crate) fn validate(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    // Plural and group are immutable, so the name of an existing CRD stays valid.
    let name_error = old.is_none().then(|| names::validate_object_name(new)).flatten();
    let mut causes: Vec<Cause> = name_error.into_iter().collect();
    let versions = new["spec"]["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    causes.extend(validate_spec(new, versions));
    causes.extend(validate_versions(versions));
    causes.extend(names::validate_names(&new["spec"]["names"]));
    causes.extend(conversion::validate_conversion(&new["spec"]["conversion"]));
    if let Some(old) = old {
        causes.extend(validate_immutable_fields(new, old));
    }
    causes.extend(validate_stored_versions(new, versions));
    causes.extend(validate_approval(new));
    if new["spec"]["preserveUnknownFields"] == true {
        let why =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        causes.push(Cause::invalid("spec.preserveUnknownFields", &true.into(), why));
    }
    causes
}

/// Validates group and scope, and that each version has a schema.
fn validate_spec(crd: &Value, versions: &[Value]) -> Vec<Cause> {
    let mut causes = Vec::new();
    let group = text(crd, &["spec", "group"]);
    if group.is_empty() {
        causes.push(Cause::required("spec.group", ""));
    } else if !names::is_subdomain(group) {
        causes.push(Cause::invalid("spec.group", &group.into(), names::SUBDOMAIN));
    } else if !group.contains('.') {
        causes.push(Cause::invalid("spec.group", &group.into(), "should be a domain with at least one dot"));
    }
    match text(crd, &["spec", "scope"]) {
        "Cluster" | "Namespaced" => {}
        "" => causes.push(Cause::required("spec.scope", "")),
        other => causes.push(Cause::unsupported("spec.scope", &other.into(), &["Cluster", "Namespaced"])),
    }
    for (index, version) in versions.iter().enumerate() {
        if !version["schema"]["openAPIV3Schema"].is_object() {
            causes.push(Cause::required(format!("spec.versions[{index}].schema.openAPIV3Schema"), ""));
        }
    }
    causes
}

/// Validates each version of a CRD, that their names are distinct, and that exactly one version is the storage version.
/// Reports the errors in a field that all versions share once, under `spec` instead of `spec.versions[…]`.
fn validate_versions(versions: &[Value]) -> Vec<Cause> {
    let shared = SharedFields::of(versions);
    let mut causes = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let version_path = format!("spec.versions[{index}]");
        let name = text(version, &["name"]);
        if !names::is_label(name) {
            causes.push(Cause::invalid(format!("{version_path}.name"), &name.into(), names::LABEL));
            // The internal Go type copies the name of the first version to the deprecated field `spec.version`.
            if index == 0 {
                causes.push(Cause::invalid("spec.version", &name.into(), names::LABEL));
            }
        }
        causes.extend(parts::validate_deprecation(version, &format!("{version_path}.deprecationWarning")));
        // Returns the path under which errors in a field are reported; `None` if the first version reported them.
        let is_first = index == 0;
        let field_path = |is_shared: bool, shared_key: &str, version_key: &str| match (is_shared, is_first) {
            (true, true) => Some(format!("spec.{shared_key}")),
            (true, false) => None,
            (false, _) => Some(format!("{version_path}.{version_key}")),
        };
        if let Some(field_path) = field_path(shared.schema, "validation", "schema") {
            causes.extend(schema::check_definition(version, &format!("{field_path}.openAPIV3Schema")));
        }
        if let Some(field_path) = field_path(shared.subresources, "subresources", "subresources") {
            causes.extend(parts::validate_scale(version, &field_path));
        }
        if let Some(field_path) = field_path(shared.columns, "additionalPrinterColumns", "additionalPrinterColumns") {
            causes.extend(parts::validate_columns(version, &field_path));
        }
        if let Some(field_path) = field_path(shared.selectable, "selectableFields", "selectableFields") {
            causes.extend(parts::validate_selectable_fields(version, &field_path));
        }
    }
    let versions_error = |why: &str| Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {}: {why}", internal_json(versions, &shared)),
        field: "spec.versions".to_owned(),
    };
    let version_names: Vec<&str> = versions.iter().map(|version| text(version, &["name"])).collect();
    if version_names.iter().enumerate().any(|(index, name)| version_names[..index].contains(name)) {
        causes.push(versions_error("must contain unique version names"));
    }
    if versions.iter().filter(|version| version["storage"] == true).count() != 1 {
        causes.push(versions_error("must have exactly one version marked as storage version"));
    }
    causes
}

/// Returns the JSON of `spec.versions` as error messages quote it: with the field names of upstream's internal Go type,
/// in which a field that all versions share is null in each version.
fn internal_json(versions: &[Value], shared: &SharedFields) -> String {
    let own_value = |is_shared: bool, value: &Value| if is_shared { Value::Null } else { value.clone() };
    let encode_version = |version: &Value| {
        format!(
            "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":{},\"Subresources\":{},\"AdditionalPrinterColumns\":{},\"SelectableFields\":{}}}",
            version["name"],
            version["served"] == true,
            version["storage"] == true,
            version["deprecated"] == true,
            version["deprecationWarning"],
            own_value(shared.schema, &version["schema"]),
            own_value(shared.subresources, &version["subresources"]),
            own_value(shared.columns, &version["additionalPrinterColumns"]),
            own_value(shared.selectable, &version["selectableFields"]),
        )
    };
    format!("[{}]", versions.iter().map(encode_version).collect::<Vec<_>>().join(","))
}

/// Validates that an update keeps group and plural, and also scope and kind if the CRD has the condition `Established`.
fn validate_immutable_fields(new: &Value, old: &Value) -> Vec<Cause> {
    let established = has_condition(old, "Established");
    let fields: [(&[&str], bool); 4] = [
        (&["spec", "scope"], established),
        (&["spec", "names", "kind"], established),
        (&["spec", "group"], true),
        (&["spec", "names", "plural"], true),
    ];
    let changed = |(path, is_immutable): (&[&str], bool)| {
        let value = text(new, path);
        (is_immutable && value != text(old, path))
            .then(|| Cause::invalid(path.join("."), &value.into(), "field is immutable"))
    };
    fields.into_iter().filter_map(changed).collect()
}

/// Validates that `status.storedVersions` contains the storage version, and only versions of the CRD.
fn validate_stored_versions(crd: &Value, versions: &[Value]) -> Vec<Cause> {
    let field_path = "status.storedVersions";
    let stored = at(crd, &["status", "storedVersions"]).and_then(Value::as_array).filter(|stored| !stored.is_empty());
    let Some(stored) = stored else {
        return vec![Cause::invalid(field_path, &Value::Null, "must have at least one stored version")];
    };
    let mut causes = Vec::new();
    for version in versions.iter().filter(|version| version["storage"] == true && !stored.contains(&version["name"])) {
        let why = format!("must have the storage version {}", text(version, &["name"]));
        causes.push(Cause::invalid(field_path, &stored.clone().into(), &why));
    }
    for (index, stored) in stored.iter().enumerate() {
        if !versions.iter().any(|version| version["name"] == *stored) {
            let name = stored.as_str().unwrap_or_default();
            let why = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            causes.push(Cause::invalid(format!("{field_path}[{index}]"), stored, &why));
        }
    }
    causes
}

/// Validates the annotation `api-approved.kubernetes.io`, which a CRD in the groups `k8s.io`, `kubernetes.io` and their
/// subdomains must have. Returns the error; `None` if the annotation is valid or not required.
fn validate_approval(crd: &Value) -> Option<Cause> {
    const ANNOTATION: &str = "api-approved.kubernetes.io";
    let group = text(crd, &["spec", "group"]);
    let domains = ["k8s.io", "kubernetes.io"];
    let is_protected = domains
        .iter()
        .any(|domain| group == *domain || group.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')));
    let field_path = format!("metadata.annotations[{ANNOTATION}]");
    let reference = "see https://github.com/kubernetes/enhancements/pull/1111";
    match at(crd, &["metadata", "annotations", ANNOTATION]).and_then(Value::as_str).unwrap_or_default() {
        _ if !is_protected => None,
        "" => {
            let why = format!("protected groups must have approval annotation {ANNOTATION:?}, {reference}");
            Some(Cause::required(field_path, &why))
        }
        approval
            if approval.starts_with("unapproved")
                || approval.starts_with("https://")
                || approval.starts_with("http://") =>
        {
            None
        }
        approval => {
            let why = format!(
                "protected groups must have approval annotation {ANNOTATION:?} with either a URL or a reason starting with \"unapproved\", {reference}"
            );
            Some(Cause::invalid(field_path, &approval.into(), &why))
        }
    }
}
