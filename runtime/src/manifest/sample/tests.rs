//! Tests the sample objects that are generated from the schema of a kind, or completed from a sample object of the user.

#![allow(clippy::unwrap_used)]

use super::super::{files, fixture};
use super::*;

fn sample_of(fields: &Value) -> Value {
    let required: Vec<_> = fields.as_object().unwrap().keys().collect();
    let project = fixture::with_spec(&json!({"type": "object", "properties": fields, "required": required}));
    let rendered = files(&project).unwrap();
    assert_eq!(rendered.findings, []);
    let text = rendered.text("samples/demo.example.com_v1alpha1_widget.yaml").unwrap();
    serde_saphyr::from_str(text.split_once("---\n").unwrap().1).unwrap()
}

#[test]
fn a_sample_holds_what_is_required_at_its_least() {
    let variants = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "oneOf": [{"required": ["b"]}, {"required": ["a"]}]});
    let sample = sample_of(&json!({
        "above": {"type": "integer", "minimum": 3, "exclusiveMinimum": true},
        "below": {"type": "number", "maximum": -1.5},
        "defaulted": {"type": "string", "default": "x"},
        "either": {"x-kubernetes-int-or-string": true},
        "enum": {"type": "string", "enum": ["B", "A"]},
        "image": {"type": "string"},
        "long": {"type": "string", "minLength": 6},
        "map": {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 1},
        "object": {"type": "object", "properties": {"not": {"type": "string"}}},
        "open": {"x-kubernetes-preserve-unknown-fields": true},
        "pattern": {"type": "string", "pattern": "^[a-z]+-[0-9]{2}$", "minLength": 5},
        "short": {"type": "string", "maxLength": 2},
        "step": {"type": "integer", "minimum": 4, "multipleOf": 3},
        "three": {"type": "array", "items": {"type": "integer"}, "minItems": 3},
        "time": {"type": "string", "format": "date-time"},
        "variants": variants,
    }));
    assert_eq!(
        sample["spec"],
        json!({
            "above": 4, "below": -1.5, "either": 0, "enum": "B", "image": "image", "long": "longxx", "map": {"map-0": false},
            "object": {}, "open": {}, "pattern": "aa-00", "short": "sh", "step": 6, "three": [0, 0, 0],
            "time": "2026-01-01T00:00:00Z", "variants": {"b": "b"},
        })
    );
    assert_eq!(sample["metadata"], json!({"name": "widget-sample"}));
}

#[test]
fn a_sample_of_the_user_is_completed_and_checked() {
    let mut project = fixture::project();
    project.controllers[0].sample = Some(json!({"spec": {"image": "nginx"}, "metadata": {"name": null}, "status": {}}));
    let rendered = files(&project).unwrap();
    let text = rendered.text("samples/demo.example.com_v1alpha1_widget.yaml").unwrap();
    assert!(text.contains("kind: Widget") && text.contains("image: nginx") && !text.contains("status"), "{text}");

    project.controllers[0].sample = Some(json!({"spec": {"image": 1, "colour": "red"}}));
    let text = files(&project).unwrap_err().to_string();
    let image = r#"spec.image: Invalid value: "integer": spec.image in body must be of type string: "integer""#;
    assert!(text.contains(&format!("sample: the sample is invalid: {image}; fix the sample")), "{text}");
    assert!(text.contains(r#"sample: the sample is invalid: unknown field "spec.colour""#), "{text}");
}

#[test]
fn a_sample_is_refused_for_each_rule_of_the_api_server() {
    let mut project = fixture::with_spec(&json!({"type": "object", "properties": {
        "host": {"type": "string", "format": "hostname"},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "names": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    }}));
    project.controllers[0].sample = Some(json!({"spec": {"host": "-", "name": "A1", "names": ["a", "a"]}}));
    let text = files(&project).unwrap_err().to_string();
    for cause in [
        r#"spec.host: Invalid value: "-": spec.host in body must be of type hostname: "-""#,
        r#"spec.name: Invalid value: "A1": spec.name in body should match '^[a-z]+$'"#,
        r#"spec.names[1]: Duplicate value: "a""#,
    ] {
        assert!(text.contains(&format!("the sample is invalid: {cause}; ")), "{cause} is not in\n{text}");
    }
}

#[test]
fn a_sample_that_cant_be_made_is_a_warning() {
    let pattern = json!({"type": "string", "minLength": 9, "maxLength": 8});
    let project = fixture::with_spec(&json!({"type": "object", "properties": {"a": pattern}, "required": ["a"]}));
    let findings = files(&project).unwrap().findings;
    assert_eq!(findings.len(), 1);
    assert!(findings[0].to_string().ends_with("set a sample on the controller"), "{findings:?}");
}
