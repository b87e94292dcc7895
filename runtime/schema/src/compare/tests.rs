#![allow(clippy::unwrap_used)]
//! Tests the verdicts on single changes, which are from "On compatibility" in Kubernetes' `api_changes.md` and from the API conventions.

use serde_json::{Value, json};

use super::{Breaks, Change, compare_definitions};

const N: Breaks = Breaks::NOTHING;
const S: Breaks = Breaks::STORED;
const C: Breaks = Breaks::CLIENTS;
const B: Breaks = Breaks::BOTH;

/// The spec of the release that the planted changes start from.
fn spec() -> Value {
    json!({
        "type": "object",
        "required": ["size", "mode"],
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 10},
            "mode": {"type": "string", "enum": ["Fast", "Safe"]},
            "name": {"type": "string", "minLength": 2, "maxLength": 20, "pattern": "^[a-z]+$"},
            "note": {"type": "string", "nullable": true, "format": "uri"},
            "replicas": {"type": "integer", "default": 1},
            "target": {"x-kubernetes-int-or-string": true},
            "hosts": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "maxItems": 5},
            "ports": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
                },
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
            "labels": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 10},
            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true},
            "limits": {
                "type": "object",
                "properties": {"cpu": {"type": "string"}, "memory": {"type": "string"}},
                "x-kubernetes-map-type": "atomic",
                "x-kubernetes-validations": [{"rule": "has(self.cpu) || has(self.memory)", "message": "one"}],
            },
        },
    })
}

fn definition() -> Value {
    json!({"spec": {
        "group": "demo.example.com",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList", "shortNames": ["w"]},
        "conversion": {"strategy": "Webhook"},
        "versions": [
            {"name": "v1alpha1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}},
            {
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas"}},
                "selectableFields": [{"jsonPath": ".spec.mode"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec()}}},
            },
        ],
    }})
}

/// Returns the changes after `value` was set at a pointer into the definition; `None` removes what is there.
fn changes_of(pointer: &str, value: Option<Value>) -> Vec<Change> {
    let (old, mut new) = (definition(), definition());
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = new.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {pointer}"));
    match (parent, value) {
        (Value::Object(map), Some(value)) => drop(map.insert(key.replace("~1", "/"), value)),
        (Value::Object(map), None) => drop(map.remove(key).unwrap()),
        (Value::Array(items), Some(value)) if key == "-" => items.push(value),
        (Value::Array(items), None) => drop(items.remove(key.parse().unwrap())),
        (parent, _) => panic!("{pointer} in {parent}"),
    }
    compare_definitions(&old, &new)
}

/// The pointer of a part of the spec's schema.
fn at(part: &str) -> String {
    format!("/spec/versions/1/schema/openAPIV3Schema/properties/spec/{part}")
}

#[track_caller]
fn assert_change(pointer: &str, value: Option<Value>, expected: (&str, Breaks)) {
    let found = changes_of(pointer, value);
    let verdicts: Vec<_> = found.iter().map(|change| (change.path.as_str(), change.breaks)).collect();
    assert_eq!(verdicts, [expected], "{pointer}: {found:#?}");
}

#[test]
fn a_release_that_is_the_same_has_no_changes() {
    assert_eq!(compare_definitions(&definition(), &definition()), []);
    let described = changes_of(&at("properties/size/description"), Some(json!("The size.")));
    assert_eq!(described, []);
}

#[test]
fn changes_of_the_kind_have_their_verdicts() {
    for (pointer, value, path, breaks) in [
        ("/spec/group", Some(json!("other.example.com")), ".spec.group", B),
        ("/spec/scope", Some(json!("Cluster")), ".spec.scope", B),
        ("/spec/names/kind", Some(json!("Gadget")), ".spec.names.kind", B),
        ("/spec/names/plural", Some(json!("gadgets")), ".spec.names.plural", B),
        ("/spec/names/singular", Some(json!("gadget")), ".spec.names.singular", C),
        ("/spec/names/shortNames", Some(json!([])), ".spec.names.shortNames", C),
        ("/spec/names/categories", Some(json!(["all"])), ".spec.names.categories", N),
        ("/spec/conversion/strategy", Some(json!("None")), ".spec.conversion.strategy", B),
        ("/spec/versions/0", None, ".spec.versions[v1alpha1]", B),
        ("/spec/versions/0/served", Some(json!(false)), ".spec.versions[v1alpha1].served", C),
        ("/spec/versions/0/deprecated", Some(json!(true)), ".spec.versions[v1alpha1].deprecated", N),
        ("/spec/versions/-", Some(json!({"name": "v2", "served": true})), ".spec.versions[v2]", N),
        ("/spec/versions/1/subresources/status", None, ".status", B),
        ("/spec/versions/0/subresources", Some(json!({"status": {}})), ".status", C),
        ("/spec/versions/1/subresources/scale", None, "/scale", C),
        ("/spec/versions/1/subresources/scale/specReplicasPath", Some(json!(".spec.size")), "/scale", C),
        ("/spec/versions/1/selectableFields", Some(json!([])), ".spec.mode", C),
    ] {
        assert_change(pointer, value, (path, breaks));
    }
}

#[test]
fn changes_of_fields_have_their_verdicts() {
    for (part, value, path, breaks) in [
        ("properties/name", None, ".spec.name", B),
        ("properties/raw", None, ".spec.raw", B),
        ("properties/colour", Some(json!({"type": "string"})), ".spec.colour", N),
        ("required", Some(json!(["size", "mode", "name"])), ".spec.name", B),
        ("required", Some(json!(["size", "mode", "replicas"])), "", N),
        ("required", Some(json!(["size"])), ".spec.mode", C),
        ("properties/size/type", Some(json!("number")), ".spec.size", C),
        ("properties/size/type", Some(json!("string")), ".spec.size", B),
        ("properties/size", Some(json!({"x-kubernetes-int-or-string": true})), ".spec.size", C),
        ("properties/target", Some(json!({"type": "integer"})), ".spec.target", B),
        ("properties/note/nullable", None, ".spec.note", B),
        ("properties/name/nullable", Some(json!(true)), ".spec.name", C),
        ("properties/replicas/default", Some(json!(2)), ".spec.replicas", B),
        ("properties/replicas/default", None, ".spec.replicas", B),
        ("properties/name/default", Some(json!("abc")), ".spec.name", B),
        ("properties/size/default", Some(json!(5)), ".spec.size", N),
        ("properties/raw/x-kubernetes-preserve-unknown-fields", None, ".spec.raw", B),
        ("properties/limits/x-kubernetes-preserve-unknown-fields", Some(json!(true)), ".spec.limits", N),
        ("properties/labels/additionalProperties", None, ".spec.labels", B),
        ("properties/labels/additionalProperties/maxLength", Some(json!(63)), ".spec.labels.*", B),
        ("properties/limits/additionalProperties", Some(json!({"type": "string"})), ".spec.limits", N),
        ("properties/ports/items/properties/port", None, ".spec.ports[*].port", B),
        ("properties/ports/items/required", Some(json!(["name", "port"])), ".spec.ports[*].port", B),
    ] {
        let found = changes_of(&at(part), value.clone());
        if path.is_empty() {
            assert_eq!(found, [], "{part}");
        } else {
            assert_change(&at(part), value, (path, breaks));
        }
    }
}

#[test]
fn changes_of_limits_have_their_verdicts() {
    for (part, value, path, breaks) in [
        ("properties/size/maximum", Some(json!(9)), ".spec.size", B),
        ("properties/size/maximum", Some(json!(11)), ".spec.size", N),
        ("properties/size/maximum", None, ".spec.size", N),
        ("properties/size/minimum", Some(json!(2)), ".spec.size", B),
        ("properties/size/minimum", Some(json!(0)), ".spec.size", N),
        ("properties/size/multipleOf", Some(json!(2)), ".spec.size", B),
        ("properties/size/exclusiveMaximum", Some(json!(true)), ".spec.size", B),
        ("properties/name/maxLength", Some(json!(10)), ".spec.name", B),
        ("properties/name/minLength", Some(json!(1)), ".spec.name", N),
        ("properties/name/pattern", Some(json!("^[a-z]*$")), ".spec.name", B),
        ("properties/name/pattern", None, ".spec.name", N),
        ("properties/note/format", Some(json!("date")), ".spec.note", B),
        ("properties/hosts/maxItems", Some(json!(3)), ".spec.hosts", B),
        ("properties/hosts/minItems", Some(json!(1)), ".spec.hosts", B),
        ("properties/labels/maxProperties", Some(json!(20)), ".spec.labels", N),
        ("properties/mode/enum", Some(json!(["Fast"])), ".spec.mode", B),
        ("properties/mode/enum", Some(json!(["Fast", "Safe", "Slow"])), ".spec.mode", C),
        ("properties/mode/enum", None, ".spec.mode", C),
        ("properties/name/enum", Some(json!(["abc"])), ".spec.name", B),
        ("properties/name/allOf", Some(json!([{"maxLength": 3}])), ".spec.name", B),
    ] {
        assert_change(&at(part), value, (path, breaks));
    }
}

#[test]
fn changes_of_merging_and_of_rules_have_their_verdicts() {
    let rule = |rule: &str| json!([{"rule": "has(self.cpu) || has(self.memory)"}, {"rule": rule}]);
    const RULES: &str = "properties/limits/x-kubernetes-validations";
    for (part, value, path, breaks) in [
        ("properties/hosts/x-kubernetes-list-type", Some(json!("atomic")), ".spec.hosts", C),
        ("properties/hosts/x-kubernetes-list-type", None, ".spec.hosts", C),
        ("properties/ports/x-kubernetes-list-map-keys", Some(json!(["port"])), ".spec.ports", B),
        ("properties/limits/x-kubernetes-map-type", None, ".spec.limits", C),
        ("properties/template/x-kubernetes-embedded-resource", None, ".spec.template", B),
        (RULES, Some(rule("self.cpu != '0'")), ".spec.limits", B),
        (RULES, Some(rule("self.cpu == oldSelf.cpu")), ".spec.limits", C),
        (RULES, None, ".spec.limits", N),
    ] {
        assert_change(&at(part), value, (path, breaks));
    }
    let reworded = json!([{"rule": "has(self.cpu) || has(self.memory)", "message": "another message"}]);
    assert_eq!(changes_of(&at(RULES), Some(reworded)), []);
}

#[test]
fn an_added_required_field_needs_a_default() {
    let (old, mut new) = (definition(), definition());
    let spec = new.pointer_mut("/spec/versions/1/schema/openAPIV3Schema/properties/spec").unwrap();
    spec["properties"]["colour"] = json!({"type": "string"});
    spec["required"] = json!(["size", "mode", "colour"]);
    let found = compare_definitions(&old, &new);
    assert_eq!((found.len(), found[0].path.as_str(), found[0].breaks), (1, ".spec.colour", B));
    new["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["colour"]["default"] =
        json!("red");
    let found = compare_definitions(&old, &new);
    assert_eq!((found.len(), found[0].path.as_str(), found[0].breaks), (1, ".spec.colour", N));
}

#[test]
fn another_storage_version_is_named_with_what_it_needs() {
    let (old, mut new) = (definition(), definition());
    new["spec"]["versions"][0]["storage"] = json!(true);
    new["spec"]["versions"][1]["storage"] = json!(false);
    let found = compare_definitions(&old, &new);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].message.contains("rewritten") && found[0].breaks == N, "{found:#?}");
}

#[test]
fn a_change_names_its_version_and_for_whom_it_is_breaking() {
    let found = changes_of(&at("properties/size/maximum"), Some(json!(9)));
    assert_eq!(found[0].to_string(), "v1 .spec.size: `maximum` was 10 and is 9: existing values may be invalid");
    assert_eq!(
        [N, S, C, B].map(|breaks| breaks.to_string()),
        ["nobody", "stored objects", "clients", "stored objects, clients"]
    );
}
