//! Renders the chart and the overlay of an operator whose webhooks have a certificate of cert-manager.

use std::{collections::BTreeSet, sync::Arc};

use opgen_tests::Plane;
use serde_json::{Value, json};

use super::rendered::{documents, helm, helm_fails, kustomize, only, path, without_labels};

const ANNOTATION: &str = "cert-manager.io/inject-ca-from";

/// Renders a release with the name and the namespace of the plain manifests.
fn release(plane: &Plane, values: &str) -> Vec<Value> {
    let chart = path("database", "chart");
    documents(&helm(plane, &["template", "database", &chart, "-n", "database-system", "--set", values]))
}

/// The chart with the value and the overlay have the same objects of cert-manager, annotations, mounts and rights.
pub(super) async fn chart_and_overlay(plane: Arc<Plane>) {
    let own = release(&plane, "webhooks.certManager=false");
    let chart = release(&plane, "webhooks.certManager=true");
    let base = documents(&kustomize(&path("database", "base")));
    let overlay = documents(&kustomize(&path("database", "overlays/cert-manager")));

    let of_cert_manager = |objects: &[Value]| -> Vec<Value> {
        let mut found: Vec<_> = objects.iter().filter(|object| object["apiVersion"] == "cert-manager.io/v1").collect();
        found.sort_by_key(|object| (object["kind"].to_string(), object["metadata"]["name"].to_string()));
        found.into_iter().cloned().map(without_labels).collect()
    };
    assert_eq!((of_cert_manager(&chart).len(), of_cert_manager(&chart)), (4, of_cert_manager(&overlay)));
    assert_eq!((of_cert_manager(&own), of_cert_manager(&base)), (Vec::new(), Vec::new()));

    let annotated = ["CustomResourceDefinition", "ValidatingWebhookConfiguration"].map(str::to_owned);
    assert_eq!((annotations(&chart), annotations(&overlay)), (annotated.clone().into(), annotated.into()));
    assert_eq!((annotations(&own), annotations(&base)), (BTreeSet::new(), BTreeSet::new()));

    assert_eq!(rules(&chart), rules(&overlay));
    let removed: Vec<_> = rules(&base).difference(&rules(&overlay)).cloned().collect();
    let of = |resource: &str| removed.iter().filter(|rule| rule.contains(resource)).count();
    let counts = ["\"secrets\"", "\"validatingwebhookconfigurations\"", "\"customresourcedefinitions\""].map(of);
    assert_eq!((counts, removed.len()), ([2, 1, 1], 4), "{removed:#?}");
    assert!(!rules(&chart).iter().any(|rule| rule.contains("\"secrets\"")));

    let file = only(&chart, "ConfigMap")["data"]["config.yaml"].as_str().expect("text").to_owned();
    let file: Value = serde_saphyr::from_str(&file).expect("YAML");
    for (objects, is_set) in [(&chart, file["webhooks"]["certPath"].is_string()), (&overlay, false)] {
        let pod = &only(objects, "Deployment")["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let mounts = container["volumeMounts"].as_array().expect("a list").iter();
        let mount = mounts.clone().find(|mount| mount["name"] == "webhook-certificates").expect("a mount");
        assert_eq!(mount["readOnly"], true);
        let flag = format!("--webhook-cert-path={}", mount["mountPath"].as_str().expect("a path"));
        let has_flag = container["args"].as_array().expect("a list").contains(&json!(flag));
        assert_eq!((is_set, has_flag), (!has_flag, !is_set), "{container}");
        let volume = json!({"name": "webhook-certificates", "secret": {"secretName": "database-webhook-tls"}});
        assert!(pod["volumes"].as_array().expect("a list").contains(&volume), "{pod}");
    }
    assert_eq!(file["webhooks"]["certPath"], "/etc/webhook-certificates");

    let both = "webhooks.certManager=true,config.webhooks.certPath=/certs";
    let error = helm_fails(&plane, &["template", "one", &path("database", "chart"), "--set", both]);
    assert!(error.contains("webhooks.certManager and config.webhooks.certPath can't be set both"), "{error}");
    let error =
        helm_fails(&plane, &["template", "one", &path("webapp", "chart"), "--set", "webhooks.certManager=true"]);
    assert!(error.contains("additional properties 'webhooks' not allowed"), "{error}");
}

/// Returns the kinds of the objects with the annotation.
fn annotations(objects: &[Value]) -> BTreeSet<String> {
    let source = |object: &Value| object["metadata"]["annotations"][ANNOTATION].as_str().map(str::to_owned);
    let annotated = objects.iter().filter(|object| {
        source(object).inspect(|source| assert_eq!(source, "database-system/database-webhook")).is_some()
    });
    annotated.map(|object| object["kind"].as_str().expect("a kind").to_owned()).collect()
}

/// Returns the rules of the roles of the operator, as JSON.
fn rules(objects: &[Value]) -> BTreeSet<String> {
    let roles = objects.iter().filter(|object| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        ["Role", "ClusterRole"].iter().any(|kind| object["kind"] == *kind)
            && ["database", "database-system-database"].contains(&name)
    });
    roles.flat_map(|role| role["rules"].as_array().expect("a list")).map(ToString::to_string).collect()
}
