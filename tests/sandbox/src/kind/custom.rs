//! Builds the kinds that a CustomResourceDefinition defines.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use opgen_schema::ScalePaths;

use super::{Custom, Kind, Origin, SchemaOf, Subresource};
use crate::{
    convert::Converted,
    object::{at, text},
    schema::{self, Schema, rules::RuleTree},
};

/// The verbs of custom resources, in the order of discovery.
const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// The verbs of the subresources of custom resources.
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// Returns a kind for each served version of a CRD whose names were accepted, in the order of the CRD. `since` is the
/// version of the store (the number in `resourceVersion`) from which on objects were written under these schemas.
pub(crate) fn kinds(crd: &Value, since: u64) -> Vec<Arc<Kind>> {
    let versions = || at(crd, &["spec", "versions"]).and_then(Value::as_array).into_iter().flatten();
    let schema = |version: &Value| Arc::new(schema::structural(&version["schema"]["openAPIV3Schema"]));
    let schemas = versions().map(|version| (text(version, &["name"]).to_owned(), schema(version)));
    let schemas: Schemas = Arc::new(schemas.collect());
    let served = versions().filter(|version| version["served"] == true);
    served.map(|version| Arc::new(build_kind(crd, version, &schemas, since))).collect()
}

/// The schemas of all versions, by name.
type Schemas = Arc<BTreeMap<String, Arc<Schema>>>;

/// Returns the name of the storage version of a CRD; empty if there is none.
pub(crate) fn storage_version(crd: &Value) -> &str {
    let versions = at(crd, &["spec", "versions"]).and_then(Value::as_array);
    let stored = versions.into_iter().flatten().find(|version| version["storage"] == true);
    stored.map(|version| text(version, &["name"])).unwrap_or_default()
}

/// Builds the `Kind` of one version of a CRD from its accepted names and the version's entry in `spec.versions`.
fn build_kind(crd: &Value, version: &Value, schemas: &Schemas, since: u64) -> Kind {
    let names = &crd["status"]["acceptedNames"];
    let group = text(crd, &["spec", "group"]).to_owned();
    let plural = text(names, &["plural"]).to_owned();
    let (name, kind) = (text(version, &["name"]), text(names, &["kind"]));
    Kind {
        group_resource: format!("{plural}.{group}").into(),
        list_kind: text(names, &["listKind"]).to_owned(),
        singular: text(names, &["singular"]).to_owned(),
        short_names: strings(&names["shortNames"]),
        categories: strings(&names["categories"]),
        namespaced: crd["spec"]["scope"] == "Namespaced",
        verbs: VERBS.map(str::to_owned).to_vec(),
        subresources: subresources(version, &group, kind),
        schema: SchemaOf::Written(schemas.get(name).cloned().unwrap_or_default()),
        origin: Origin::Custom(Arc::new(custom_properties(crd, version, schemas, since))),
        version: name.to_owned(),
        kind: kind.to_owned(),
        group,
        plural,
    }
}

/// Returns the properties of one version of a CRD that a built-in kind does not have, such as CEL rules and conversion.
fn custom_properties(crd: &Value, version: &Value, schemas: &Schemas, since: u64) -> Custom {
    let schema = &version["schema"]["openAPIV3Schema"];
    let selectable = version["selectableFields"].as_array();
    Custom {
        storage_version: storage_version(crd).to_owned(),
        scale: at(version, &["subresources", "scale"]).map(scale_paths),
        rules: RuleTree::of(schema),
        selectable: selectable.into_iter().flatten().map(|field| path(field, "jsonPath")).collect(),
        columns: version["additionalPrinterColumns"].as_array().cloned().unwrap_or_default(),
        conversion: crd["spec"]["conversion"].clone(),
        schema_json: schema.clone(),
        versions: schemas.clone(),
        since,
        converted: Converted::default(),
        terminating: super::definition::has_condition(crd, "Terminating"),
        warning: warning(crd, version),
    }
}

/// Returns the warning for clients of a deprecated version: `deprecationWarning` of the version, or a default message.
/// `None` if the version is not deprecated.
fn warning(crd: &Value, version: &Value) -> Option<String> {
    let default_message = || {
        let (group, kind) = (text(crd, &["spec", "group"]), text(crd, &["status", "acceptedNames", "kind"]));
        format!("{group}/{} {kind} is deprecated", text(version, &["name"]))
    };
    (version["deprecated"] == true)
        .then(|| version["deprecationWarning"].as_str().map_or_else(default_message, str::to_owned))
}

/// Returns the subresources of a version: `status` and `scale`, if the CRD declares them.
fn subresources(version: &Value, group: &str, kind: &str) -> Vec<Subresource> {
    let subresource = |name: &str, response_kind: [&str; 3]| Subresource {
        name: name.to_owned(),
        verbs: SUBRESOURCE_VERBS.map(str::to_owned).to_vec(),
        answers: response_kind.map(str::to_owned).into(),
    };
    let version_name = text(version, &["name"]);
    let status = at(version, &["subresources", "status"]).map(|_| subresource("status", [group, version_name, kind]));
    let scale = at(version, &["subresources", "scale"]).map(|_| subresource("scale", ["autoscaling", "v1", "Scale"]));
    status.into_iter().chain(scale).collect()
}

/// Returns the JSON paths of the `scale` subresource, without their leading dots.
fn scale_paths(subresource: &Value) -> ScalePaths {
    ScalePaths {
        spec_replicas: path(subresource, "specReplicasPath"),
        status_replicas: path(subresource, "statusReplicasPath"),
        label_selector: subresource["labelSelectorPath"].is_string().then(|| path(subresource, "labelSelectorPath")),
    }
}

/// Returns the JSON path in a field of `object`, without its leading dot.
fn path(object: &Value, key: &str) -> String {
    text(object, &[key]).trim_start_matches('.').to_owned()
}

/// Returns the texts in a list; nothing if the value is no list.
fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
