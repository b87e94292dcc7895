//! `compare_definitions` compares two releases of a CustomResourceDefinition: the names and the scope of the kind, its versions with their
//! schemas, and its conversion.

use serde_json::Value;

use super::{
    change::{Breaks, Change, Changes},
    version::compare_versions,
};
use crate::{list, text};

/// The fields that name the kind. Another value is another kind.
const IDENTITY: [(&[&str], &str); 4] = [
    (&["spec", "group"], ".spec.group"),
    (&["spec", "names", "kind"], ".spec.names.kind"),
    (&["spec", "names", "plural"], ".spec.names.plural"),
    (&["spec", "scope"], ".spec.scope"),
];

/// Compares two releases of a CustomResourceDefinition, as JSON. Returns the changes in the order of the definition, the harmless ones
/// as well; other descriptions and the like are no changes.
///
/// # Example
/// ```
/// use opgen_schema::{Breaks, compare_definitions};
/// use serde_json::json;
///
/// let release = |size: serde_json::Value| json!({"spec": {
///     "group": "demo.example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
///     "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
///         {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": size}}}}}}],
/// }});
/// let changes = compare_definitions(
///     &release(json!({"type": "integer"})),
///     &release(json!({"type": "integer", "maximum": 10})),
/// );
/// assert_eq!(changes.len(), 1);
/// assert_eq!((changes[0].path.as_str(), changes[0].breaks), (".spec.size", Breaks::BOTH));
/// ```
pub fn compare_definitions(old: &Value, new: &Value) -> Vec<Change> {
    let mut changes = Changes::default();
    for (keys, path) in IDENTITY {
        let [before, after] = [old, new].map(|definition| keys.iter().fold(definition, |value, key| &value[*key]));
        if before != after {
            let message =
                format!("it was {before} and is {after}, which makes another kind: no object moves to it by itself");
            changes.add(path, Breaks::BOTH, message);
        }
    }
    compare_names(old, new, &mut changes);
    compare_versions(old, new, &mut changes);
    compare_conversion(&old["spec"]["conversion"], &new["spec"]["conversion"], &mut changes);
    if old["spec"]["preserveUnknownFields"] == true && new["spec"]["preserveUnknownFields"] != true {
        changes.add(
            ".spec.preserveUnknownFields",
            Breaks::BOTH,
            "it is off now: fields that no schema names are removed",
        );
    }
    changes.into_vec()
}

/// Compares the short names, the categories, the singular and the list kind, by which users, scripts and clients refer to the kind.
fn compare_names(old: &Value, new: &Value, changes: &mut Changes) {
    let (old, new) = (&old["spec"]["names"], &new["spec"]["names"]);
    for key in ["shortNames", "categories"] {
        let path = format!(".spec.names.{key}");
        for name in list(old, key).iter().filter(|name| !list(new, key).contains(name)) {
            changes.add(&path, Breaks::CLIENTS, format!("{name} is removed: a `kubectl` command with it fails"));
        }
        for name in list(new, key).iter().filter(|name| !list(old, key).contains(name)) {
            changes.add(&path, Breaks::NOTHING, format!("{name} is added"));
        }
    }
    for key in ["singular", "listKind"] {
        if old.get(key).is_some() && old[key] != new[key] {
            let message = format!("it was {} and is {}", old[key], new[key]);
            changes.add(format!(".spec.names.{key}"), Breaks::CLIENTS, message);
        }
    }
}

/// Compares the strategy of the conversion between the versions: a webhook, or `None`, the default, which changes only `apiVersion`.
fn compare_conversion(old: &Value, new: &Value, changes: &mut Changes) {
    let strategy = |conversion: &Value| match text(conversion, "strategy") {
        "" => "None".to_owned(),
        strategy => strategy.to_owned(),
    };
    let (before, after) = (strategy(old), strategy(new));
    if before == after {
        return;
    }
    let breaks = if after == "None" { Breaks::BOTH } else { Breaks::NOTHING };
    let consequence = match after.as_str() {
        "None" => "fields whose names or types differ between the versions are lost",
        _ => "requests fail while no webhook answers",
    };
    changes.add(".spec.conversion.strategy", breaks, format!("it was `{before}` and is `{after}`: {consequence}"));
}
