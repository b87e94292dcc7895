//! Tests of the manifests of webhooks.

#![allow(clippy::unwrap_used)]

use super::super::admission::NAMESPACE_LABEL;
use super::*;
use crate::{
    kind::Kind,
    manifest::{files, fixture},
    webhook::{Operation, Webhook},
};
use k8s_openapi::api::core::v1::Pod;
use std::time::Duration;

fn description(mode: Mode, kind: Kind, webhook: Webhook) -> WebhookDescription {
    WebhookDescription { mode, kind, webhook, permissions: &[] }
}

/// Returns the operator `demo` with two webhooks of its own kind and one of Pods.
fn project() -> Project {
    let mut project = fixture::project();
    let widget = project.controllers[0].kind.clone();
    let pods = Webhook::default().operations([Operation::Create]).timeout(Duration::from_secs(2));
    project.webhooks = vec![
        description(
            Mode::Validate,
            crate::kind::kind_of::<Pod>(),
            pods.match_condition("named", "object.metadata.name != ''"),
        ),
        description(Mode::Validate, widget.clone(), Webhook::default().subresources(["status"])),
        description(Mode::Default, widget, Webhook::default()),
    ];
    project
}

#[test]
fn own_kinds_fail_closed_and_other_kinds_are_ignored_outside_of_the_own_namespace() {
    let [_, validating] = &configurations(&project())[..] else { panic!("two configurations") };
    let [pods, widgets] = &validating["webhooks"].as_array().unwrap()[..] else { panic!("two webhooks") };
    assert_eq!((&pods["failurePolicy"], &widgets["failurePolicy"]), (&json!("Ignore"), &json!("Fail")));
    let excluded =
        json!({"matchExpressions": [{"key": NAMESPACE_LABEL, "operator": "NotIn", "values": ["demo-system"]}]});
    assert_eq!((&pods["namespaceSelector"], widgets.get("namespaceSelector")), (&excluded, None));
    assert_eq!(pods["matchConditions"], json!([{"expression": "object.metadata.name != ''", "name": "named"}]));
    assert_eq!((&pods["timeoutSeconds"], &widgets["timeoutSeconds"]), (&json!(2), &json!(5)));
    let rule = json!({
        "apiGroups": ["demo.example.com"], "apiVersions": ["v1alpha1"], "operations": ["CREATE", "UPDATE"],
        "resources": ["widgets", "widgets/status"], "scope": "Namespaced",
    });
    assert_eq!(widgets["rules"], json!([rule]));
    let service = json!({"name": "demo-webhook", "namespace": "demo-system", "path": "/validate/widgets.demo.example.com", "port": 443});
    assert_eq!(widgets["clientConfig"], json!({"service": service}));
}

#[test]
fn the_role_has_the_verbs_of_the_webhooks_and_no_more() {
    let text = files(&project()).unwrap().text("base/rbac.yaml").unwrap().to_owned();
    let rules: Vec<Value> =
        text.split("---\n").filter_map(|document| serde_saphyr::from_str::<Value>(document).ok()).collect();
    let rules: Vec<_> = rules.iter().flat_map(|role| role["rules"].as_array().into_iter().flatten()).collect();
    let of = |resource: &str| {
        let rules =
            rules.iter().filter(|rule| rule["resources"].as_array().is_some_and(|all| all.contains(&json!(resource))));
        rules.map(|rule| (rule["resourceNames"].clone(), rule["verbs"].clone())).collect::<Vec<_>>()
    };
    let secrets = [(Value::Null, json!(["create"])), (json!(["demo-webhook-certificates"]), json!(["get", "update"]))];
    let mut found = of("secrets");
    found.sort_by_key(|(names, _)| !names.is_null());
    assert_eq!(found, secrets);
    for resource in ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"] {
        assert_eq!(of(resource), [(json!(["demo"]), json!(["get", "patch"]))], "{resource}");
    }
}

#[test]
fn the_manifests_serve_the_webhooks_and_an_operator_without_them_has_none() {
    let with = files(&project()).unwrap();
    for path in ["install.yaml", "base/operator.yaml"] {
        let text = with.text(path).unwrap();
        assert!(text.contains("name: demo-webhook") && text.contains("containerPort: 9443"), "{text}");
    }
    assert!(with.text("base/kustomization.yaml").unwrap().contains("webhooks.yaml"));
    assert!(with.text("components/network-policy/network-policy.yaml").unwrap().contains("port: 9443"));
    let chart = with.text("chart/templates/webhooks.yaml").unwrap();
    assert!(chart.contains("kind: ValidatingWebhookConfiguration") && !chart.contains("demo-system"), "{chart}");
    assert!(!chart.contains("opgen-release"), "{chart}");
    assert!(with.text("chart/templates/_helpers.tpl").unwrap().contains("webhook"));
    assert!(with.text("chart/values.yaml").unwrap().contains("webhooks:"));
    for file in files(&fixture::project()).unwrap().files {
        assert!(!file.text.contains("webhook") && !file.path.contains("webhook"), "{}:\n{}", file.path, file.text);
    }
}

#[test]
fn the_order_of_the_webhooks_changes_no_byte() {
    let (first, mut second) = (project(), project());
    second.webhooks.reverse();
    assert_eq!(files(&first).unwrap(), files(&second).unwrap());
}

#[test]
fn a_webhook_that_is_never_called_is_an_error() {
    let mut project = project();
    project.namespaced = true;
    project.controllers.truncate(1);
    let errors = files(&project).unwrap_err().to_string();
    assert!(errors.contains("validate-pods.core.opgen.dev is for a kind that the operator doesn't define"), "{errors}");
    project.webhooks.remove(0);
    let selector = json!({"matchExpressions": [{"key": NAMESPACE_LABEL, "operator": "In", "values": ["demo-system"]}]});
    assert_eq!(configurations(&project)[0]["webhooks"][0]["namespaceSelector"], selector);
}
