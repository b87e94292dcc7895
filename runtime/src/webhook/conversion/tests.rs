use super::*;
use crate::versions::{Conversion, FieldChange, Version};
use serde_json::json;

fn rename() -> Conversion {
    Conversion::of_struct(vec![FieldChange::moved(&[&["size"]], &[&["replicas"]], None)])
}

fn panics() -> Conversion {
    Conversion::of_struct(vec![FieldChange::replaced(
        &[&["size"]],
        &[&["replicas"]],
        |_| panic!("no"),
        |_| panic!("no"),
    )])
}

fn versions(conversion: fn() -> Conversion) -> Versions {
    let version = |name, spec| {
        Version::new(name, || unreachable!("the conversion needs no definition"), || Value::Null).converted(spec, None)
    };
    Versions::new(vec![version("v1", None), version("v2", Some(conversion))], "v2")
}

fn converter(conversion: fn() -> Conversion) -> Converter {
    let kind = Kind {
        group: "demo.example.com".into(),
        version: "v2".into(),
        kind: "Shop".into(),
        plural: "shops".into(),
        namespaced: true,
    };
    Converter::new(BTreeMap::from([(kind, versions(conversion))]))
}

fn shop(version: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("demo.example.com/{version}"), "kind": "Shop", "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
}

fn review(objects: Value) -> Vec<u8> {
    let request = json!({"uid": "u", "desiredAPIVersion": "demo.example.com/v2", "objects": objects});
    json!({"apiVersion": API_VERSION, "kind": KIND, "request": request}).to_string().into_bytes()
}

fn answer(converter: &Converter, objects: Value) -> Value {
    serde_json::from_slice(&converter.answer(&review(objects), &Counters::default()).unwrap()).unwrap()
}

#[test]
fn a_review_has_its_objects_in_the_wanted_version_and_in_their_order() {
    let objects = json!([shop("v1", json!({"size": 1})), shop("v2", json!({"replicas": 2})), shop("v1", json!({}))]);
    let answer = answer(&converter(rename), objects);
    let expected =
        json!([shop("v2", json!({"replicas": 1})), shop("v2", json!({"replicas": 2})), shop("v2", json!({})),]);
    assert_eq!((&answer["kind"], &answer["apiVersion"]), (&json!(KIND), &json!(API_VERSION)));
    assert_eq!(answer["response"], json!({"uid": "u", "result": {"status": "Success"}, "convertedObjects": expected}));
}

#[test]
fn a_review_of_a_kind_or_version_that_the_operator_does_not_convert_fails_as_a_whole() {
    let mut other = shop("v1", json!({}));
    other["kind"] = json!("Team");
    for (object, problem) in [
        (other, "the operator does not convert objects of the kind \"Team\" of the group \"demo.example.com\""),
        (shop("v3", json!({})), "Shop b/a: the kind has no version \"demo.example.com/v3\""),
    ] {
        let answer = answer(&converter(rename), json!([shop("v1", json!({})), object]));
        let expected = json!({"uid": "u", "result": {"status": "Failed", "message": problem}, "convertedObjects": []});
        assert_eq!(answer["response"], expected);
    }
}

#[test]
fn a_function_that_panics_leaves_the_field_out_and_loses_nothing() {
    let converter = converter(panics);
    let converted = answer(&converter, json!([shop("v1", json!({"size": 1, "color": "red"}))]));
    let object = &converted["response"]["convertedObjects"][0];
    assert_eq!(object["spec"], json!({"color": "red"}));
    assert!(
        object["metadata"]["annotations"][crate::versions::CONVERSION_DATA_ANNOTATION]
            .as_str()
            .unwrap()
            .contains("panicked")
    );
}

#[test]
fn a_body_that_is_no_review_is_refused_with_a_sentence() {
    let counters = Counters::default();
    let refused = |body: &Value| converter(rename).answer(body.to_string().as_bytes(), &counters).unwrap_err();
    assert!(refused(&json!({})).starts_with("the body is not a ConversionReview: missing field `apiVersion`"));
    let other = json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": KIND});
    assert_eq!(
        refused(&other),
        "expected ConversionReview of apiextensions.k8s.io/v1, got ConversionReview of apiextensions.k8s.io/v1beta1"
    );
    assert_eq!(refused(&json!({"apiVersion": API_VERSION, "kind": KIND})), "the ConversionReview has no request");
}
