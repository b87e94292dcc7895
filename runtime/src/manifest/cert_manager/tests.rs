//! Tests the generated objects of cert-manager, and the kustomize component and the Helm chart that contain these objects.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::{
    manifest::{
        files,
        fixture::{self, with_webhooks},
        rbac,
    },
    versions::{Conversion, FieldChange, Version, VersionsOf},
};

const VERSIONS: VersionsOf = || {
    let schema = || json!({});
    let converted: fn() -> Conversion =
        || Conversion::of_struct(vec![FieldChange::moved(&[&["size"]], &[&["image"]], None)]);
    let own = Version::new("v1alpha1", || unreachable!("the controller has its definition"), schema);
    let other = || {
        let mut kind = fixture::project().controllers[0].kind.clone();
        kind.version = "v1".into();
        let spec = json!({"type": "object", "properties": {"image": {"type": "string"}}, "required": ["image"]});
        serde_json::from_value(fixture::crd(&kind, &spec)).unwrap()
    };
    let other = Version::new("v1", other, schema).converted(Some(converted), None);
    crate::versions::Versions::new(vec![own, other], "v1")
};

/// Returns the operator `demo`, which converts widgets and has no other webhooks.
fn with_conversion() -> Project {
    let mut project = fixture::project();
    project.controllers[0].versions = Some(VERSIONS);
    project
}

fn read(project: &Project, file: &str) -> Vec<Value> {
    let rendered = files(project).unwrap();
    let text = rendered.text(file).unwrap();
    text.split("---\n").skip(1).map(|document| serde_saphyr::from_str(document).unwrap()).collect()
}

fn component(project: &Project, file: &str) -> Vec<Value> {
    read(project, &format!("components/cert-manager/{file}"))
}

#[test]
fn a_certificate_is_issued_by_an_authority_that_keeps_its_key() {
    let project = with_webhooks();
    let [self_signed, authority, issuer, certificate] = &component(&project, "certificates.yaml")[..] else {
        panic!("two Issuers and two Certificates")
    };
    let reference =
        |object: &Value| json!({"group": "cert-manager.io", "kind": "Issuer", "name": object["metadata"]["name"]});
    assert_eq!(authority["spec"]["issuerRef"], reference(self_signed));
    assert_eq!(certificate["spec"]["issuerRef"], reference(issuer));
    assert_eq!(issuer["spec"]["ca"]["secretName"], authority["spec"]["secretName"]);
    let names = json!(["demo-webhook.demo-system.svc", "demo-webhook.demo-system.svc.cluster.local"]);
    assert_eq!(certificate["spec"]["dnsNames"], names);
    let policies = [authority, certificate].map(|object| object["spec"]["privateKey"]["rotationPolicy"].clone());
    assert_eq!(policies, ["Never", "Always"]);
    let used = json!({"name": "webhook-certificates", "secret": {"secretName": certificate["spec"]["secretName"]}});
    assert_eq!(volume(&project), used);
    let secrets = secrets(&project);
    let secrets: Vec<_> = secrets.iter().map(|secret| secret["metadata"]["name"].clone()).collect();
    assert_eq!(secrets, ["demo-webhook-tls", "demo-webhook-ca"]);
    assert!(!secrets.contains(&json!(webhooks::names(&project).secret)), "the operator writes that Secret");
}

#[test]
fn the_component_annotates_the_own_configurations_and_the_converted_definitions_only() {
    let annotated = |project: &Project| -> Vec<_> {
        let documents = component(project, "annotations.yaml");
        let source = json!({"cert-manager.io/inject-ca-from": "demo-system/demo-webhook"});
        assert!(documents.iter().all(|document| document["metadata"]["annotations"] == source), "{documents:?}");
        let name = |value: &Value| value.as_str().unwrap().to_owned();
        documents
            .iter()
            .map(|object| format!("{} {}", name(&object["kind"]), name(&object["metadata"]["name"])))
            .collect()
    };
    let configurations = ["MutatingWebhookConfiguration demo", "ValidatingWebhookConfiguration demo"];
    assert_eq!(annotated(&with_webhooks()), configurations);
    assert_eq!(annotated(&with_conversion()), ["CustomResourceDefinition widgets.demo.example.com"]);
}

#[test]
fn the_component_mounts_the_certificate_where_the_flag_says() {
    let project = with_webhooks();
    let volumes = &component(&project, "volumes.yaml")[0]["spec"]["template"]["spec"];
    let mount = &volumes["containers"][0]["volumeMounts"][0];
    assert_eq!((&mount["name"], &mount["readOnly"]), (&volumes["volumes"][0]["name"], &json!(true)));
    let flag = format!("--webhook-cert-path={}", mount["mountPath"].as_str().unwrap());
    assert_eq!(component(&project, "arguments.yaml")[0][1]["value"], flag);
    let container = &read(&project, "base/operator.yaml")[1]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["name"], component(&project, "arguments.yaml")[0][0]["value"]);
}

/// Applies JSON patch operations to a role, as far as the component has such operations.
fn patched(mut role: Value, operations: &Value) -> Value {
    for operation in operations.as_array().unwrap() {
        let rules = role["rules"].as_array_mut().unwrap();
        let position = operation["path"].as_str().unwrap().strip_prefix("/rules/").unwrap();
        match (operation["op"].as_str().unwrap(), position) {
            ("test", position) => assert_eq!(rules[position.parse::<usize>().unwrap()], operation["value"]),
            ("remove", position) => drop(rules.remove(position.parse().unwrap())),
            ("add", "-") => rules.push(operation["value"].clone()),
            _ => panic!("{operation}"),
        }
    }
    role
}

/// Without webhooks, the same trees need the same rights, so nothing else is removed.
#[test]
fn the_component_removes_the_rights_that_webhooks_need_and_no_others() {
    for namespaced in [false, true] {
        let (mut project, mut plain) = (with_webhooks(), fixture::project());
        for project in [&mut project, &mut plain] {
            project.namespaced = namespaced;
            project.controllers.truncate(1);
        }
        let (roles, expected) = (rbac::documents(&project), rbac::documents(&plain));
        let [_, role, _, cluster_role, _] = &roles[..] else { panic!("two roles") };
        let role = patched(role.clone(), &component(&project, "role.yaml")[0]);
        let cluster_role = patched(cluster_role.clone(), &component(&project, "cluster-role.yaml")[0]);
        assert_eq!((&role, &cluster_role), (&expected[1], &expected[3]));
    }
}

#[test]
fn a_migration_keeps_its_right_to_read_the_definition() {
    let operations = component(&with_conversion(), "cluster-role.yaml").remove(0);
    let [.., added] = &operations.as_array().unwrap()[..] else { panic!("operations") };
    let rule = json!({
        "apiGroups": ["apiextensions.k8s.io"], "resourceNames": ["widgets.demo.example.com"],
        "resources": ["customresourcedefinitions"], "verbs": ["get"],
    });
    assert_eq!(*added, json!({"op": "add", "path": "/rules/-", "value": rule}));
    let remains = patched(rbac::documents(&with_conversion())[3].clone(), &operations);
    let patches_definitions = |rule: &&Value| rule["resources"] == json!(["customresourcedefinitions"]);
    let verbs: Vec<_> = remains["rules"].as_array().unwrap().iter().filter(patches_definitions).collect();
    assert_eq!(verbs, [&rule]);
}

#[test]
fn the_chart_has_the_objects_and_the_annotations_under_a_condition() {
    for project in [with_webhooks(), with_conversion()] {
        let rendered = files(&project).unwrap();
        let text = |file: &str| rendered.text(&format!("chart/{file}")).unwrap();
        let condition = "{{- if include \"demo.certManager\" . }}\n";
        let objects: Vec<_> = text("templates/cert-manager.yaml").split("---\n").skip(1).collect();
        assert_eq!(objects.len(), documents(&project).len());
        assert!(objects.iter().all(|object| object.starts_with(condition)), "{objects:?}");
        let source = "{{ .Release.Namespace }}/{{ include \"demo.fullname\" . }}-webhook\n";
        let annotation = format!("cert-manager.io/inject-ca-from: {source}");
        let annotated = match project.webhooks.is_empty() {
            true => text("templates/crds/demo.example.com_widgets.yaml"),
            false => text("templates/webhooks.yaml"),
        };
        assert!(annotated.contains(&format!("    {annotation}")) && annotated.contains(condition), "{annotated}");
        assert!(!text("templates/crds/demo.example.com_networks.yaml").contains("cert-manager"));
        let not = "{{- if not (include \"demo.certManager\" .) }}\n";
        assert!(text("templates/rbac.yaml").matches(not).count() >= 3, "{}", text("templates/rbac.yaml"));
        assert!(text("values.yaml").contains("\nwebhooks:\n  certManager: false\n"), "{}", text("values.yaml"));
    }
}

#[test]
fn an_operator_without_webhooks_has_nothing_of_cert_manager() {
    for file in files(&fixture::project()).unwrap().files {
        let text = file.text.to_lowercase();
        assert!(!file.path.contains("cert-manager") && !text.contains("cert-manager"), "{}", file.path);
        assert!(!text.contains("certmanager"), "{}:\n{text}", file.path);
    }
    assert_eq!((documents(&fixture::project()).len(), secrets(&fixture::project()).len()), (0, 0));
}
