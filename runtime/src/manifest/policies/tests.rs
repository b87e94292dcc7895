//! Tests of the manifests of admission policies.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::{
    manifest::{files, fixture},
    policy::PolicyAction,
    webhook::{FailurePolicy, Operation},
};
use k8s_openapi::api::core::v1::Pod;

/// Returns the operator `demo` with a policy for Pods and one that changes them.
fn project() -> Project {
    let mut project = fixture::project();
    let validating = ValidatingPolicy::new::<Pod>("pods")
        .rule("object.metadata.name != 'x'", "x is no name")
        .operations([Operation::Create])
        .match_condition("named", "has(object.metadata.name)")
        .action(PolicyAction::Warn);
    project.policies.validating.push(validating);
    let mutating = MutatingPolicy::new::<Pod>("labels").apply("Object{}").failure_policy(FailurePolicy::Fail);
    project.policies.mutating.push(mutating);
    project
}

#[test]
fn a_policy_and_its_binding_have_the_settings_and_spare_the_own_namespace() {
    let [labels, labels_binding, pods, pods_binding] = &documents(&project())[..] else { panic!("four documents") };
    assert_eq!(
        (&labels["kind"], &labels["metadata"]["name"]),
        (&json!("MutatingAdmissionPolicy"), &json!("demo-labels"))
    );
    assert_eq!(
        (&labels["spec"]["failurePolicy"], &labels["spec"]["reinvocationPolicy"]),
        (&json!("Fail"), &json!("Never"))
    );
    assert_eq!(labels_binding["spec"], json!({"policyName": "demo-labels"}));
    let excluded = json!({"matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["demo-system"]}
    ]});
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]});
    assert_eq!(pods["spec"]["matchConstraints"], json!({"namespaceSelector": excluded, "resourceRules": [rule]}));
    assert_eq!(pods["spec"]["failurePolicy"], "Ignore", "the operator does not define Pods");
    let [named, removal] = &pods["spec"]["matchConditions"].as_array().unwrap()[..] else { panic!("two conditions") };
    assert_eq!(named, &json!({"expression": "has(object.metadata.name)", "name": "named"}));
    assert_eq!(removal["name"], "is-no-removal-of-finalizers");
    assert!(labels["spec"].get("matchConditions").is_none(), "a change keeps nothing from being removed");
    assert_eq!(
        pods["spec"]["validations"],
        json!([{"expression": "object.metadata.name != 'x'", "message": "x is no name"}])
    );
    assert_eq!(pods_binding["spec"], json!({"policyName": "demo-pods", "validationActions": ["Warn"]}));
}

#[test]
fn policies_are_installed_and_an_operator_without_any_has_no_file_of_them() {
    let rendered = files(&project()).unwrap();
    let policies = rendered.text("base/policies.yaml").unwrap();
    assert!(rendered.text("install.yaml").unwrap().ends_with(policies.split_once("---\n").unwrap().1));
    assert!(rendered.text("base/kustomization.yaml").unwrap().contains("- policies.yaml"));
    assert!(rendered.text("chart/templates/policies.yaml").unwrap().contains("ValidatingAdmissionPolicyBinding"));
    let without = files(&fixture::project()).unwrap();
    assert!(without.files.iter().all(|file| !file.path.contains("policies")));
}

#[test]
fn policies_that_can_not_work_are_findings() {
    let mut project = project();
    project.policies.validating.push(ValidatingPolicy::new::<Pod>("pods").rule("true", "never"));
    project.policies.validating.push(ValidatingPolicy::new::<Pod>("Upper Case").rule("true", "never"));
    project.policies.mutating.push(MutatingPolicy::new::<Pod>("empty").operations([]));
    project.namespaced = true;
    let text = files(&project).unwrap_err().to_string();
    let expected = [
        "policy pods: another policy has this name",
        "policy Upper Case: its name is no DNS label",
        "policy empty: it has no operation",
        "policy empty: it has no rule and no change",
        "only its own namespace is watched",
    ];
    for expected in expected {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
