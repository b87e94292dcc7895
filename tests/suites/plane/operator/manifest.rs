//! Nodes whose objects are given as YAML: made in the order of need, pruned, taken down the other way round.

use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service, ServiceAccount},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Api, CustomResource};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Entries, Entry, Plane, case,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    kinds::available,
    right,
    site::{NAME, Site},
    tally::state_writes,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("manifest_objects_come_in_order_are_kept_pruned_and_go_in_reverse", life)]
}

/// Made of manifests only.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Crew", namespaced, status = "Status")]
struct CrewSpec {
    image: String,
    /// Whether it has a dial and a service.
    #[managed(allow(bool))]
    whole: bool,
}

/// A kind that a manifest brings along.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "crew.example.org", version = "v1", kind = "Dial", namespaced)]
struct DialSpec {
    limit: i32,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Crew)]
struct CrewTree {
    #[provisioner(manifest = "suites/plane/operator/crew.yaml")]
    base: Manifest,
    #[provisioner(manifest(ConfigMap, Service, Deployment, CustomResourceDefinition, Dial))]
    work: Manifest,
}

impl CrewTree {
    /// In no order.
    fn work(crew: &Crew) -> Manifest {
        let CrewSpec { image, whole } = &crew.spec;
        let mut text = format!(
            "\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: crew}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: crew}}}}
  template:
    metadata: {{labels: {{app: crew}}}}
    spec:
      containers:
      - {{name: crew, image: {image}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: crew}}
data: {{image: {image}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: dials.crew.example.org}}
spec:
  group: crew.example.org
  names: {{kind: Dial, listKind: DialList, plural: dials, singular: dial}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              limit: {{type: integer}}
"
        );
        if *whole {
            text = format!("{DIAL}---\n{text}---\n{SERVICE}");
        }
        text.into()
    }
}

const DIAL: &str = "\
apiVersion: crew.example.org/v1
kind: Dial
metadata: {name: crew}
spec: {limit: 3}
";
const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata: {name: crew}
spec:
  selector: {app: crew}
  ports:
  - {port: 80}
";

async fn ready(site: &Site) {
    let is = |crew: &Crew| {
        let status = crew.status.as_ref();
        available(status).is_some_and(|(truth, _, _)| truth == "True")
            && status.and_then(|status| status.observed_generation) == crew.metadata.generation
    };
    until_object(&site.api::<Crew>(), "one", "is available", is).await;
}

/// The kinds that such requests were about, each time one was asked for.
fn kinds(entries: &Entries, accept: impl Fn(&Entry) -> bool) -> Vec<String> {
    entries.with(accept).iter().map(|entry| entry.resource.clone()).collect()
}

async fn life(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Crew, CrewTree>();
    let mut running = site.start(&operator).await;
    site.create(&Crew::new("one", CrewSpec { image: "crew:1".to_owned(), whole: true })).await;
    ready(&site).await;
    let asked = site.settled().await;
    let made = kinds(&asked, |entry| entry.resource != "events" && entry.code == 201);
    let order = [
        "serviceaccounts",
        "configmaps",
        "customresourcedefinitions",
        "configmaps",
        "services",
        "deployments",
        "dials",
    ];
    assert_eq!(made, order, "{asked}");

    is_kept_and_pruned(&site).await;
    site.patch::<Crew>("one", &json!({"spec": {"whole": true}})).await;
    ready(&site).await;
    site.settled().await;
    running.signal();
    running.end().await.unwrap();
    let before = site.settled().await;
    let _running = site.run(&operator, Default::default()).await;
    let since = site.settled().await.since(&before);
    assert!(since.writes().is_empty(), "writes of a restart:\n{since}");

    let before = site.settled().await;
    site.delete::<Crew>("one").await;
    until_gone(&site.api::<Crew>(), "one").await;
    let asked = site.settled().await;
    let deleted = kinds(&asked.since(&before), |entry| entry.verb == "delete");
    assert_eq!(deleted, order.iter().rev().copied().collect::<Vec<_>>(), "{asked}");
    nothing_is_left(&site).await;

    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let used = right::used(&asked);
    let mut granted = right::granted_in(&plane, &site.namespace, NAME).await;
    granted.extend(right::granted(&plane, &format!("{}-{NAME}", site.namespace)).await);
    // Only a repeated event is patched.
    let unused: BTreeSet<_> = granted.difference(&used).map(ToString::to_string).collect();
    let but_events: Vec<_> = unused.iter().filter(|right| *right != "events.k8s.io/events: patch").collect();
    assert!(but_events.is_empty(), "granted and not used: {but_events:?}");
}

async fn is_kept_and_pruned(site: &Site) {
    let configs = site.api::<ConfigMap>();
    site.patch::<ConfigMap>("crew", &json!({"data": {"image": "boo"}})).await;
    let holds = |image: &str| {
        let image = image.to_owned();
        move |config: &ConfigMap| config.data.as_ref().is_some_and(|data| data["image"] == image)
    };
    until_object(&configs, "crew", "is repaired", holds("crew:1")).await;
    site.delete::<ConfigMap>("crew-base").await;
    until_object(&configs, "crew-base", "is back", |config| config.metadata.deletion_timestamp.is_none()).await;
    ready(site).await;

    let before = site.settled().await;
    site.patch::<Crew>("one", &json!({"spec": {"image": "crew:2", "whole": false}})).await;
    until_object(&configs, "crew", "follows", holds("crew:2")).await;
    until_gone(&site.api::<Service>(), "crew").await;
    until_gone(&site.api::<Dial>(), "crew").await;
    ready(site).await;
    let writes = state_writes(&site.settled().await.since(&before)).with(|entry| entry.resource != "crews");
    let lines: Vec<_> = writes.iter().map(|entry| (entry.verb.as_str(), entry.resource.as_str())).collect();
    let wanted = [("patch", "configmaps"), ("patch", "deployments"), ("delete", "dials"), ("delete", "services")];
    assert_eq!(lines, wanted, "{writes}");
}

async fn nothing_is_left(site: &Site) {
    assert!(site.api::<Deployment>().get_opt("crew").await.unwrap().is_none());
    assert!(site.api::<ServiceAccount>().get_opt("crew").await.unwrap().is_none());
    assert!(site.api::<ConfigMap>().get_opt("crew-base").await.unwrap().is_none());
    let definitions = Api::<CustomResourceDefinition>::all(site.plane.client());
    assert!(definitions.get_opt("dials.crew.example.org").await.unwrap().is_none());
}
