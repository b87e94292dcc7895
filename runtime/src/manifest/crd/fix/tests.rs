//! Tests the fixes of derived schemas.

#![allow(clippy::unwrap_used)]

use super::*;
use opgen_schema::keyword::{INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS};

fn fixed(mut schema: Value) -> Value {
    fix_schema(&mut schema, ".spec.field", &mut Findings::of("K"));
    schema
}

/// Checks the fixes: left is what `kube` 5 derives for a Rust type, right what a kube-apiserver 1.36.3 accepts without a warning.
#[track_caller]
fn check_fixes(cases: &[(&str, Value, Value)]) {
    for (name, schema, expected) in cases {
        assert_eq!(fixed(schema.clone()), *expected, "{name}");
        assert_eq!(fixed(expected.clone()), *expected, "{name}, mended twice");
    }
}

#[test]
fn shapes_that_the_api_server_refuses_or_empties_are_mended() {
    let int32 = json!({"format": "int32", "type": "integer"});
    check_fixes(&[
        ("serde_json::Value", json!({"description": "x"}), json!({"description": "x", PRESERVE_UNKNOWN_FIELDS: true})),
        ("Option<Value>", json!({}), json!({PRESERVE_UNKNOWN_FIELDS: true})),
        (
            "Vec<Value>",
            json!({"items": {}, "type": "array"}),
            json!({"items": {PRESERVE_UNKNOWN_FIELDS: true}, "type": "array"}),
        ),
        (
            "Map<String, Value>",
            json!({"additionalProperties": true, "type": "object"}),
            json!({"type": "object", PRESERVE_UNKNOWN_FIELDS: true}),
        ),
        (
            "untagged i32 or String",
            json!({"anyOf": [{"format": "int32"}, {}]}),
            json!({INT_OR_STRING: true, "minimum": i32::MIN, "maximum": i32::MAX}),
        ),
        (
            "Option of it",
            json!({"anyOf": [{"format": "int32"}, {}], "nullable": true}),
            json!({"nullable": true, INT_OR_STRING: true, "minimum": i32::MIN, "maximum": i32::MAX}),
        ),
        (
            "untagged u8 or String",
            json!({"anyOf": [{"format": "uint8", "maximum": 255.0, "minimum": 0.0}, {}]}),
            json!({INT_OR_STRING: true, "maximum": 255, "minimum": 0}),
        ),
        (
            "BTreeMap<u32, String>",
            json!({"additionalProperties": false, "patternProperties": {"^\\d+$": {"type": "string"}}, "type": "object"}),
            json!({"additionalProperties": {"type": "string"}, "type": "object"}),
        ),
        (
            "(i32, i32)",
            json!({"items": [int32, int32], "maxItems": 2, "minItems": 2, "type": "array"}),
            json!({"items": int32, "maxItems": 2, "minItems": 2, "type": "array"}),
        ),
    ]);
}

#[test]
fn formats_that_the_api_server_warns_about_become_bounds() {
    let octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
    let dotted = format!(r"({octet}\.){{3}}{octet}");
    let (ipv4, ipv6) = (format!("^{dotted}$"), format!("^[0-9A-Fa-f:]+(:{dotted})?$"));
    check_fixes(&[
        (
            "u16",
            json!({"format": "uint16", "maximum": 65535.0, "minimum": 0.0, "type": "integer"}),
            json!({"format": "int32", "maximum": 65535, "minimum": 0, "type": "integer"}),
        ),
        (
            "u32",
            json!({"format": "uint32", "minimum": 0.0, "type": "integer"}),
            json!({"format": "int64", "maximum": 4_294_967_295_u32, "minimum": 0, "type": "integer"}),
        ),
        (
            "u64",
            json!({"format": "uint64", "minimum": 0.0, "type": "integer"}),
            json!({"format": "int64", "minimum": 0, "type": "integer"}),
        ),
        ("i128", json!({"format": "int128", "type": "integer"}), json!({"type": "integer"})),
        (
            "a list, to be refused",
            json!({"format": "ulid", "type": "array"}),
            json!({"format": "ulid", "type": "array"}),
        ),
        (
            "IpAddr",
            json!({"format": "ip", "type": "string"}),
            json!({"type": "string", "anyOf": [{"format": "ipv4", "pattern": ipv4}, {"format": "ipv6", "pattern": ipv6}]}),
        ),
        (
            "Ipv4Addr",
            json!({"format": "ipv4", "type": "string"}),
            json!({"format": "ipv4", "type": "string", "pattern": ipv4}),
        ),
        (
            "NonZero",
            json!({"format": "uint8", "minimum": 1.0, "type": "integer"}),
            json!({"format": "int32", "minimum": 1, "type": "integer"}),
        ),
        (
            "f64",
            json!({"format": "double", "minimum": 0.5, "type": "number"}),
            json!({"format": "double", "minimum": 0.5, "type": "number"}),
        ),
    ]);
}

#[test]
fn what_says_nothing_or_may_not_be_said_in_a_branch_is_dropped() {
    let int32 = json!({"format": "int32", "type": "integer"});
    check_fixes(&[
        ("a default of null", json!({"default": null, "type": "string"}), json!({"type": "string"})),
        ("no required fields", json!({"required": [], "properties": {}, "type": "object"}), json!({"type": "object"})),
        (
            "described variants",
            json!({"type": "object", "properties": {"a": int32}, "oneOf": [{"description": "x", "title": "y", "type": "object", "required": ["a"]}]}),
            json!({"type": "object", "properties": {"a": int32}, "oneOf": [{"required": ["a"]}]}),
        ),
        (
            "a nullable variant",
            json!({"anyOf": [{"type": "string", "maxLength": 3}, {"type": "string", "nullable": true}]}),
            json!({"type": "string", "nullable": true, "anyOf": [{"maxLength": 3}, {}]}),
        ),
        (
            "an int or string as it is",
            json!({INT_OR_STRING: true, "nullable": true}),
            json!({INT_OR_STRING: true, "nullable": true}),
        ),
    ]);
}

#[test]
fn a_union_that_lost_its_types_becomes_any_value_with_a_warning() {
    for branches in
        [json!([{}, {}]), json!([{"format": "double"}, {}]), json!([{"format": "int32"}, {"format": "double"}, {}])]
    {
        let mut findings = Findings::of("K");
        let mut schema = json!({"anyOf": branches});
        fix_schema(&mut schema, ".spec.field", &mut findings);
        assert_eq!(schema, json!({PRESERVE_UNKNOWN_FIELDS: true}));
        assert_eq!(findings.into_vec().len(), 1);
    }
}

#[test]
fn what_has_no_schema_is_left_to_the_linter() {
    let tuple = json!({"items": [{"type": "integer"}, {"type": "string"}], "type": "array"});
    for schema in [json!({"$ref": "#/components/schemas/Rec"}), json!({"enum": [null], "nullable": true}), tuple] {
        assert_eq!(fixed(schema.clone()), schema);
    }
}

#[test]
fn conditions_become_a_map_by_their_type() {
    let item = json!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]});
    let conditions = json!({"type": "array", "items": item});
    let mut root = json!({"type": "object", "properties": {"status": {"type": "object", "properties": {"conditions": conditions}}}});
    fix_schema(&mut root, "", &mut Findings::of("K"));
    let conditions = &root["properties"]["status"]["properties"]["conditions"];
    assert_eq!(conditions["x-kubernetes-list-type"], "map");
    assert_eq!(conditions["x-kubernetes-list-map-keys"], json!(["type"]));
}

#[test]
fn the_kind_is_described_by_its_spec() {
    let spec = json!({"type": "object", "description": "A widget."});
    let mut root = json!({"type": "object", "description": "Auto-generated derived type for WidgetSpec via `CustomResource`", "properties": {"spec": spec}});
    fix_schema(&mut root, "", &mut Findings::of("K"));
    assert_eq!(root["description"], "A widget.");
}
