//! Tests the correction of derived schemas by facts of their Rust types: `nullable`, keywords that don't exist, and lists whose merge key
//! may be missing.

#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::{super::super::lint::Severity, *};

/// Corrects the derived schema of a field by the schema of its type, and returns it with the findings.
fn corrected(derived: Value, said: Value) -> (Value, Vec<String>) {
    let mut root = json!({"type": "object", "properties": {"field": derived}});
    let quantity = json!({"x-kubernetes-int-or-string": true});
    let by_names = json!({
        "properties": {"field": said},
        "components": {"schemas": {"io.k8s.apimachinery.pkg.api.resource.Quantity": quantity}},
    });
    let mut findings = Findings::of("K v1");
    correct(&mut root, &by_names, &mut findings);
    (root["properties"]["field"].clone(), findings.into_vec().iter().map(ToString::to_string).collect())
}

#[test]
fn nullable_stays_where_the_type_takes_null() {
    let reference = json!({"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"});
    let derived = json!({INT_OR_STRING: true, "nullable": true});
    for (said, stays) in [
        (reference.clone(), false),
        (json!({"allOf": [reference], "description": "x"}), false),
        (json!({"anyOf": [reference, {"enum": [null], "nullable": true}]}), true),
        (json!({"anyOf": [reference, {"type": "null"}]}), true),
        (json!({INT_OR_STRING: true, "nullable": true}), true),
        (json!({"$ref": "#/components/schemas/unknown"}), false),
        (json!(true), true),
    ] {
        let (field, findings) = corrected(derived.clone(), said.clone());
        assert_eq!(field["nullable"] == true, stays, "{said}");
        assert_eq!(findings, Vec::<String>::new());
    }
}

#[test]
fn a_keyword_that_is_none_is_an_error_with_the_nearest_one() {
    let derived = json!({"type": "string"});
    for (keyword, fix) in [
        ("maxProperty", "write `maxProperties`, or remove it"),
        ("maxLenght", "write `maxLength`, or remove it"),
        ("x-kubernetes-validation", "write `x-kubernetes-validations`, or remove it"),
        ("dependentRequired", "remove it, or use a CEL rule (`x-kubernetes-validations`)"),
    ] {
        let (_, findings) = corrected(derived.clone(), json!({"type": "string", keyword: 1}));
        let expected =
            format!("K v1: .field: `{keyword}` is not a schema keyword in Kubernetes, and is dropped; {fix}");
        assert_eq!(findings, [expected]);
    }
    let remarks = json!({"type": "string", "deprecated": true, "readOnly": true, "example": "a"});
    assert_eq!(corrected(derived, remarks).1, Vec::<String>::new());
}

#[test]
fn a_list_whose_merge_key_may_be_missing_is_an_error_unless_its_type_is_said() {
    let ports = json!({"type": "array", "items": {"type": "object", "properties": {"port": {"type": "integer"}}}});
    let service = json!({"type": "object", "properties": {"ports": ports}});
    let by_names = json!({
        "$ref": "#/components/schemas/io.k8s.api.core.v1.ServiceSpec",
        "components": {"schemas": {"io.k8s.api.core.v1.ServiceSpec": service}},
    });
    let findings = |mut derived: Value| {
        let mut findings = Findings::of("K v1");
        correct(&mut derived, &by_names, &mut findings);
        findings.into_vec()
    };
    let lost = findings(service.clone());
    let [finding] = lost.as_slice() else { panic!("{lost:?}") };
    assert_eq!((finding.severity, finding.path.as_str()), (Severity::Error, ".ports"), "{finding}");
    let mut said = service;
    said["properties"]["ports"]["x-kubernetes-list-type"] = json!("atomic");
    assert_eq!(findings(said), []);
}
