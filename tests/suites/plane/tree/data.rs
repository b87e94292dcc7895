//! What earlier nodes made, read by later ones.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{Plane, case, wait::until_object};
use serde_json::json;

use super::kinds::{SHOP, Shop, ShopSpec, done, entry, holding, idle_pass, named, shop, written};
use crate::operator::{log, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("node_data_later_nodes_follow_what_earlier_ones_made_and_write_nothing_else", follows)]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct DataTree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource(once))]
    key: Option<Secret>,
    #[provisioner(resource, from(config))]
    deployment: Deployment,
    #[provisioner(resource)]
    service: Service,
    #[provisioner(resource, from(service, key))]
    note: ConfigMap,
}

impl DataTree {
    fn config(shop: &Shop) -> ConfigMap {
        holding("config", &shop.spec.text)
    }

    fn key(draft: &Draft<'_, Shop>) -> Option<Secret> {
        let content = || Some([("password".to_owned(), draft.random_text(32))].into());
        draft.spec.extra.then(|| Secret { metadata: named("key"), string_data: content(), ..Secret::default() })
    }

    fn deployment(_: &Shop, config: &ConfigMap) -> Result<Deployment> {
        let mut hasher = DefaultHasher::new();
        config.data.hash(&mut hasher);
        let labels = json!({"app": "shop"});
        Ok(serde_json::from_value(json!({
            "metadata": {"name": "web"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels, "annotations": {"config": format!("{:x}", hasher.finish())}},
                    "spec": {"containers": [{"name": "web", "image": "web:1"}]},
                },
            },
        }))?)
    }

    fn service(_: &Shop) -> Result<Service> {
        let spec = json!({"selector": {"app": "shop"}, "ports": [{"port": 80}]});
        Ok(serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": spec}))?)
    }

    fn note(_: &Shop, service: &Service, key: Option<&Secret>) -> ConfigMap {
        let ip = service.spec.as_ref().and_then(|spec| spec.cluster_ip.clone()).unwrap_or_default();
        let mut note = holding("note", &ip);
        let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref()?.ingress.clone());
        let hosts: Vec<_> = balancer.unwrap_or_default().into_iter().filter_map(|ingress| ingress.hostname).collect();
        let length = key.and_then(|key| key.data.as_ref()).map(|data| data["password"].0.len());
        note.data
            .get_or_insert_default()
            .extend([("key".to_owned(), format!("{length:?}")), ("hosts".to_owned(), hosts.join(","))]);
        note
    }
}

fn template_hash(deployment: &Deployment) -> Option<String> {
    let template = &deployment.spec.as_ref()?.template;
    template.metadata.as_ref()?.annotations.as_ref()?.get("config").cloned()
}

async fn note_says(site: &Site, name: &str, text: &str) -> ConfigMap {
    let says = |note: &ConfigMap| entry(note, name) == Some(text);
    until_object(&site.api::<ConfigMap>(), "note", &format!("says {name}: {text}"), says).await
}

async fn follows(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Shop, DataTree>();
    let mut running = site.start(&operator).await;
    site.create(&shop(ShopSpec { text: "a".to_owned(), ..ShopSpec::default() })).await;
    done(&site).await;
    let deployment = site.api::<Deployment>().get("web").await.unwrap();
    let (hash, revision) = (template_hash(&deployment).unwrap(), deployment.metadata.generation);
    let ip = site.api::<Service>().get("web").await.unwrap().spec.unwrap().cluster_ip.unwrap();
    let note = note_says(&site, "text", &ip).await;
    assert_eq!(entry(&note, "key"), Some("None"));

    // An edit of the config rolls the Deployment, and writes nothing else but the status.
    let before = site.settled().await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"text": "b"}})).await;
    let rolled = |deployment: &Deployment| template_hash(deployment).is_some_and(|now| now != hash);
    let deployment = until_object(&site.api::<Deployment>(), "web", "is rolled", rolled).await;
    assert!(deployment.metadata.generation > revision);
    done(&site).await;
    let writes = written(&site, &before).await.subresource("");
    let written_objects: Vec<_> = writes.iter().map(|entry| entry.resource.as_str()).collect();
    assert_eq!(written_objects, ["configmaps", "deployments"], "{writes}");

    // A status is read as well.
    site.patch::<Service>("web", &json!({"spec": {"type": "LoadBalancer"}})).await;
    let status = json!({"status": {"loadBalancer": {"ingress": [{"hostname": "a.example.com"}]}}});
    let services = site.api::<Service>();
    services.patch_status("web", &PatchParams::default(), &Patch::Merge(&status)).await.unwrap();
    note_says(&site, "hosts", "a.example.com").await;
    done(&site).await;

    // What is absent comes, and goes.
    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": true}})).await;
    note_says(&site, "key", "Some(32)").await;
    done(&site).await;
    let secret = site.api::<Secret>().get("key").await.unwrap();
    let before = site.settled().await;
    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": false}})).await;
    note_says(&site, "key", "None").await;
    done(&site).await;
    let writes = written(&site, &before).await.subresource("");
    let lines: Vec<_> = writes.iter().map(|entry| (entry.verb.as_str(), entry.resource.as_str())).collect();
    assert_eq!(lines, [("delete", "secrets"), ("patch", "configmaps")], "{writes}");

    site.patch::<Shop>(SHOP, &json!({"spec": {"extra": true}})).await;
    note_says(&site, "key", "Some(32)").await;
    done(&site).await;
    let again = site.api::<Secret>().get("key").await.unwrap();
    assert_ne!(secret.uid(), again.uid());

    // Nothing is written by a pass over what is as wanted, nor after a restart.
    idle_pass(&site, json!({"pools": [{"key": "a", "name": "a"}]})).await;
    running.signal();
    running.end().await.unwrap();
    let before = site.settled().await;
    let _running = site.run(&operator, Default::default()).await;
    let writes = written(&site, &before).await;
    assert!(writes.is_empty(), "{writes}");

    for secret in [secret, again] {
        let password = String::from_utf8(secret.data.unwrap()["password"].0.clone()).unwrap();
        assert_eq!(log::lines_with(&[&password]), [""; 0], "a Secret's content is in the log");
    }
    assert!(site.asked().await.denied().is_empty());
}
