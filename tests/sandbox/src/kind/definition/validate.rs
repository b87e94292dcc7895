//! Validates a CustomResourceDefinition.

use serde_json::{Value, json};

use super::{condition::has_condition, conversion, names, parts};
use crate::{
    failure::Cause,
    object::{at, text},
    schema,
};

/// Where the fields of a version are blamed: what all versions have alike counts as said once.
pub(super) struct Places {
    schema: bool,
    subresources: bool,
    columns: bool,
    selectable: bool,
}

impl Places {
    fn of(versions: &[Value]) -> Self {
        let alike = |key: &str| {
            let first =
                versions.first().map(|version| &version[key]).filter(|first| !first.is_null() && **first != json!([]));
            first.is_some_and(|first| versions.iter().all(|version| version[key] == *first))
        };
        Self {
            schema: alike("schema"),
            subresources: alike("subresources"),
            columns: alike("additionalPrinterColumns"),
            selectable: alike("selectableFields"),
        }
    }
}

/// What is wrong with a CRD, a new one or a new state of one.
pub(crate) fn validate(new: &Value, old: Option<&Value>) -> Vec<Cause> {
    // A name that fits stays so: its parts don't change.
    let named = old.is_none().then(|| names::of_object(new)).flatten();
    let mut causes: Vec<Cause> = named.into_iter().collect();
    let versions = new["spec"]["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    causes.extend(spec(new, versions));
    causes.extend(all_versions(versions));
    causes.extend(names::check(&new["spec"]["names"]));
    causes.extend(conversion::check(&new["spec"]["conversion"]));
    if let Some(old) = old {
        causes.extend(changes(new, old));
    }
    causes.extend(stored_versions(new, versions));
    causes.extend(approval(new));
    if new["spec"]["preserveUnknownFields"] == true {
        let why =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        causes.push(Cause::invalid("spec.preserveUnknownFields", &true.into(), why));
    }
    causes
}

fn spec(crd: &Value, versions: &[Value]) -> Vec<Cause> {
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

fn all_versions(versions: &[Value]) -> Vec<Cause> {
    let places = Places::of(versions);
    let mut causes = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let own = format!("spec.versions[{index}]");
        let name = text(version, &["name"]);
        if !names::is_label(name) {
            causes.push(Cause::invalid(format!("{own}.name"), &name.into(), names::LABEL));
            if index == 0 {
                causes.push(Cause::invalid("spec.version", &name.into(), names::LABEL));
            }
        }
        causes.extend(parts::deprecation(version, &format!("{own}.deprecationWarning")));
        let first = index == 0;
        let place = |alike: bool, once: &str, each: &str| match (alike, first) {
            (true, true) => Some(format!("spec.{once}")),
            (true, false) => None,
            (false, _) => Some(format!("{own}.{each}")),
        };
        if let Some(place) = place(places.schema, "validation", "schema") {
            causes.extend(schema::check_definition(version, &format!("{place}.openAPIV3Schema")));
        }
        if let Some(place) = place(places.subresources, "subresources", "subresources") {
            causes.extend(parts::subresources(version, &place));
        }
        if let Some(place) = place(places.columns, "additionalPrinterColumns", "additionalPrinterColumns") {
            causes.extend(parts::columns(version, &place));
        }
        if let Some(place) = place(places.selectable, "selectableFields", "selectableFields") {
            causes.extend(parts::selectable(version, &place));
        }
    }
    let blame = |why: &str| Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {}: {why}", internal(versions, &places)),
        field: "spec.versions".to_owned(),
    };
    let names: Vec<&str> = versions.iter().map(|version| text(version, &["name"])).collect();
    if names.iter().enumerate().any(|(index, name)| names[..index].contains(name)) {
        causes.push(blame("must contain unique version names"));
    }
    if versions.iter().filter(|version| version["storage"] == true).count() != 1 {
        causes.push(blame("must have exactly one version marked as storage version"));
    }
    causes
}

/// The versions as kube-apiserver prints its own form of them.
fn internal(versions: &[Value], places: &Places) -> String {
    let kept = |alike: bool, value: &Value| if alike { Value::Null } else { value.clone() };
    let version = |version: &Value| {
        format!(
            "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":{},\"Subresources\":{},\"AdditionalPrinterColumns\":{},\"SelectableFields\":{}}}",
            version["name"],
            version["served"] == true,
            version["storage"] == true,
            version["deprecated"] == true,
            version["deprecationWarning"],
            kept(places.schema, &version["schema"]),
            kept(places.subresources, &version["subresources"]),
            kept(places.columns, &version["additionalPrinterColumns"]),
            kept(places.selectable, &version["selectableFields"]),
        )
    };
    format!("[{}]", versions.iter().map(version).collect::<Vec<_>>().join(","))
}

/// What stays as it is, from the beginning or once objects may be there.
fn changes(new: &Value, old: &Value) -> Vec<Cause> {
    let established = has_condition(old, "Established");
    let fields: [(&[&str], bool); 4] = [
        (&["spec", "scope"], established),
        (&["spec", "names", "kind"], established),
        (&["spec", "group"], true),
        (&["spec", "names", "plural"], true),
    ];
    let changed = |(path, holds): (&[&str], bool)| {
        let value = text(new, path);
        (holds && value != text(old, path)).then(|| Cause::invalid(path.join("."), &value.into(), "field is immutable"))
    };
    fields.into_iter().filter_map(changed).collect()
}

fn stored_versions(crd: &Value, versions: &[Value]) -> Vec<Cause> {
    let place = "status.storedVersions";
    let stored = at(crd, &["status", "storedVersions"]).and_then(Value::as_array).filter(|stored| !stored.is_empty());
    let Some(stored) = stored else {
        return vec![Cause::invalid(place, &Value::Null, "must have at least one stored version")];
    };
    let mut causes = Vec::new();
    for version in versions.iter().filter(|version| version["storage"] == true && !stored.contains(&version["name"])) {
        let why = format!("must have the storage version {}", text(version, &["name"]));
        causes.push(Cause::invalid(place, &stored.clone().into(), &why));
    }
    for (index, stored) in stored.iter().enumerate() {
        if !versions.iter().any(|version| version["name"] == *stored) {
            let name = stored.as_str().unwrap_or_default();
            let why = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            causes.push(Cause::invalid(format!("{place}[{index}]"), stored, &why));
        }
    }
    causes
}

/// The groups of Kubernetes itself want an approval.
fn approval(crd: &Value) -> Option<Cause> {
    const ANNOTATION: &str = "api-approved.kubernetes.io";
    let group = text(crd, &["spec", "group"]);
    let own = ["k8s.io", "kubernetes.io"];
    let guarded =
        own.iter().any(|own| group == *own || group.strip_suffix(own).is_some_and(|rest| rest.ends_with('.')));
    let place = format!("metadata.annotations[{ANNOTATION}]");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    match at(crd, &["metadata", "annotations", ANNOTATION]).and_then(Value::as_str).unwrap_or_default() {
        _ if !guarded => None,
        "" => {
            let why = format!("protected groups must have approval annotation {ANNOTATION:?}, {see}");
            Some(Cause::required(place, &why))
        }
        said if said.starts_with("unapproved") || said.starts_with("https://") || said.starts_with("http://") => None,
        said => {
            let why = format!(
                "protected groups must have approval annotation {ANNOTATION:?} with either a URL or a reason starting with \"unapproved\", {see}"
            );
            Some(Cause::invalid(place, &said.into(), &why))
        }
    }
}
