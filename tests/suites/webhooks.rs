//! Webhooks that read other objects, called without a server.

use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace, Secret},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use opgen::{
    Operator,
    manifest::{self, Describe as _},
    prelude::*,
    testing::AdmissionHarness,
    webhook::{Admission, DefaultingWebhook, Denied, ObjectReader, ValidatingWebhook},
};
use opgen_sandbox::Sandbox;
use serde_json::json;

/// Refuses ConfigMaps with more entries than the label `entries` of their namespace allows.
#[derive(Provisioner)]
#[provisioner(access(Namespace: get; ConfigMap: list; Secret("limits"): get))]
struct CheckEntries;

impl ValidatingWebhook for CheckEntries {
    type Object = ConfigMap;

    async fn validate(request: &Admission<ConfigMap>, reader: &ObjectReader<Self>) -> Result<(), Denied> {
        let entries = request.object().data.as_ref().map_or(0, |data| data.len());
        if request.name() == "secret" {
            reader.find::<Secret>("others").await?;
        }
        let namespace = reader.find::<Namespace>(request.namespace().unwrap_or_default()).await?;
        let labels = namespace.and_then(|namespace| namespace.metadata.labels).unwrap_or_default();
        let limit = labels.get("entries").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
        let others = reader.list::<ConfigMap>("counted=yes").await?;
        let used: usize = others.iter().filter_map(|config| config.data.as_ref()).map(|data| data.len()).sum();
        if used + entries > limit { Err(Denied::invalid("data", format!("exceeds {limit} entries"))) } else { Ok(()) }
    }
}

/// Sets the entry `team` to the label of the namespace.
#[derive(Provisioner)]
#[provisioner(access(Namespace: get))]
struct SetTeam;

impl DefaultingWebhook for SetTeam {
    type Object = ConfigMap;

    async fn set_defaults(
        request: &Admission<ConfigMap>,
        config: &mut ConfigMap,
        reader: &ObjectReader<Self>,
    ) -> Result<(), Denied> {
        let namespace = reader.find::<Namespace>(request.namespace().unwrap_or_default()).await?;
        let labels = namespace.and_then(|namespace| namespace.metadata.labels).unwrap_or_default();
        let team = labels.get("team").cloned().unwrap_or_else(|| "none".to_owned());
        config.data.get_or_insert_default().entry("team".to_owned()).or_insert(team);
        Ok(())
    }
}

/// Declares a write, which a webhook does not have.
#[derive(Provisioner)]
#[provisioner(access(Namespace: get, patch))]
struct Writes;

impl ValidatingWebhook for Writes {
    type Object = ConfigMap;

    async fn validate(_: &Admission<ConfigMap>, _: &ObjectReader<Self>) -> Result<(), Denied> {
        Ok(())
    }
}

fn operator() -> Operator {
    Operator::new("entries").validates_by::<CheckEntries>(|webhook| webhook).defaults_by::<SetTeam>(|webhook| webhook)
}

fn config(name: &str, entries: usize) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), namespace: Some("shop".into()), ..ObjectMeta::default() },
        data: Some((0..entries).map(|number| (format!("entry-{number}"), String::new())).collect()),
        ..ConfigMap::default()
    }
}

/// Starts a sandbox with the namespace `shop`, which allows five entries, of which two are used.
async fn sandbox() -> Sandbox {
    let sandbox = Sandbox::builder().start();
    let labels = json!({"metadata": {"name": "shop", "labels": {"entries": "5", "team": "blue"}}});
    let namespaces = kube::Api::<Namespace>::all(sandbox.client());
    namespaces.create(&Default::default(), &serde_json::from_value(labels).unwrap()).await.unwrap();
    let mut counted = config("counted", 2);
    counted.metadata.labels = Some([("counted".to_owned(), "yes".to_owned())].into());
    let configs = kube::Api::<ConfigMap>::namespaced(sandbox.client(), "shop");
    configs.create(&Default::default(), &counted).await.unwrap();
    sandbox
}

#[tokio::test(start_paused = true)]
async fn webhooks_read_what_they_declare() {
    let sandbox = sandbox().await;
    let create = |config: &ConfigMap| AdmissionHarness::create(config).client(sandbox.client());
    let allowed = create(&config("web", 2)).call(&operator()).await;
    assert_eq!((allowed.denied, &allowed.object["data"]["team"]), (None, &json!("blue")));
    let denied = create(&config("web", 3)).call(&operator()).await.denied.expect("two, three and the team are six");
    assert_eq!(denied.to_string(), "data: exceeds 5 entries");
}

#[tokio::test(start_paused = true)]
async fn a_read_outside_of_the_declared_names_or_without_an_api_server_is_a_failure_of_the_webhook() {
    let sandbox = sandbox().await;
    let outside = AdmissionHarness::create(&config("secret", 1)).client(sandbox.client()).call(&operator()).await;
    assert_eq!(outside.denied.map(|denied| denied.code()), Some(500));
    let without = AdmissionHarness::create(&config("web", 1)).call(&operator()).await;
    assert_eq!(without.denied.map(|denied| denied.code()), Some(500));
}

#[test]
fn the_declared_reads_of_webhooks_are_rules_of_the_role() {
    let rendered = manifest::files(&operator().project().unwrap()).unwrap();
    let explained = manifest::explain(&operator().project().unwrap());
    let role = rendered.text("base/rbac.yaml").unwrap();
    let rule = |resource: &str, verb: &str| format!("  resources:\n  - {resource}\n  verbs:\n  - {verb}\n");
    assert!(role.contains(&rule("namespaces", "get")) && role.contains(&rule("configmaps", "list")), "{role}");
    assert!(role.contains("  resourceNames:\n  - limits\n"), "{role}");
    assert!(explained.contains("reads objects for a webhook"), "{explained}");
}

#[test]
fn a_webhook_that_declares_a_write_is_refused() {
    let operator = Operator::new("entries").validates_by::<Writes>(|webhook| webhook);
    let error = manifest::files(&operator.project().unwrap()).unwrap_err().to_string();
    assert!(error.contains("it declares `Namespace: get, patch`, but a webhook only reads"), "{error}");
}
