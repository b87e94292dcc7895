#![allow(clippy::unwrap_used)]

use super::*;

fn definition(field: &Value, version: &Value) -> Value {
    let spec = json!({"type": "object", "properties": {"field": field, "name": {"type": "string"}}});
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gates.demo.example.com"},
        "spec": {
            "group": "demo.example.com",
            "names": {"kind": "Gate", "plural": "gates"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            }],
        },
    });
    for (key, value) in version.as_object().unwrap() {
        definition["spec"]["versions"][0][key] = value.clone();
    }
    definition
}

fn report(field: Value, version: Value, sample: Value) -> SandboxReport {
    let sample = json!({
        "apiVersion": "demo.example.com/v1", "kind": "Gate", "metadata": {"name": "a", "namespace": "b"}, "spec": sample,
    });
    let file =
        |path: &str, object: &Value| GeneratedFile { path: path.to_owned(), text: format!("# A note.\n{object}\n") };
    check(&[file("base/crds/gates.yaml", &definition(&field, &version)), file("samples/gate.yaml", &sample)]).unwrap()
}

#[track_caller]
fn check_refused(field: Value, version: Value, parts: [&str; 2]) {
    let report = report(field, version, json!({}));
    let [refusal] = report.refusals.as_slice() else { panic!("{report:#?}") };
    for part in parts {
        assert!(refusal.contains(part), "{part} is not in {refusal}");
    }
}

#[test]
fn accepted_files_have_no_refusal() {
    assert_eq!(report(json!({"type": "string"}), json!({}), json!({"field": "a"})), SandboxReport::default());
}

#[test]
fn a_rule_that_is_no_cel_is_refused() {
    let field = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self ==="}]});
    check_refused(field, json!({}), ["base/crds/gates.yaml: .spec.field: ", "compilation failed"]);
}

#[test]
fn a_rule_about_an_unknown_field_is_refused() {
    let field = json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "self.b == 'c'"}],
    });
    check_refused(field, json!({}), [".spec.field: ", "undefined field 'b'"]);
}

#[test]
fn a_message_about_an_unknown_field_is_refused() {
    let field = json!({
        "type": "object", "properties": {"a": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "self.a == 'c'", "messageExpression": "'not ' + self.b"}],
    });
    check_refused(
        field,
        json!({}),
        [".spec.field: ", "messageExpression compilation failed: ERROR: <input>:1:14: undefined field 'b'"],
    );
}

#[test]
fn a_default_outside_its_pattern_is_refused() {
    let field = json!({"type": "string", "pattern": "^a$", "default": "b"});
    check_refused(field, json!({}), [".spec.field: ", "should match '^a$'"]);
}

#[test]
fn a_selectable_path_to_nothing_is_refused() {
    let version = json!({"selectableFields": [{"jsonPath": ".spec.nothing"}]});
    check_refused(
        json!({"type": "string"}),
        version,
        ["base/crds/gates.yaml: spec.", "does not refer to a valid field"],
    );
}

#[test]
fn a_sample_that_breaks_a_rule_is_refused() {
    let field = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == 'c'", "message": "only c"}]});
    let refusals = report(field, json!({}), json!({"field": "d"})).refusals;
    assert_eq!(refusals, ["samples/gate.yaml: spec.field: Invalid value: \"d\": only c"]);
}

#[test]
fn a_place_in_a_schema_is_a_field_of_the_object() {
    let place = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[sizes].items.default";
    assert_eq!(object_path(place).unwrap(), ".spec.sizes[*]");
    assert_eq!(object_path("spec.validation.openAPIV3Schema.type").unwrap(), ".");
    assert_eq!(object_path("spec.names.kind"), None);
}
