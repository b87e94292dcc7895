//! Tests of the objects of a new sandbox.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use k8s_openapi::api::{
    core::v1::{Namespace, Service},
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use kube::{Api, ResourceExt as _, api::ListParams};
use opgen_sandbox::Sandbox;

#[tokio::test(start_paused = true)]
async fn a_new_sandbox_has_what_every_cluster_has() {
    let client = Sandbox::builder().seed(1).start().client();
    let namespaces = Api::<Namespace>::all(client.clone()).list(&ListParams::default()).await.unwrap();
    let names: Vec<_> = namespaces.items.iter().map(|namespace| namespace.name_any()).collect();
    assert_eq!(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
    let made = namespaces.items[0].creation_timestamp().unwrap();
    assert_eq!(made.0.to_string(), "2026-01-01T00:00:00Z");
    assert_ne!(namespaces.items[0].uid(), namespaces.items[1].uid());

    let admin = Api::<ClusterRole>::all(client.clone()).get("admin").await.unwrap();
    assert!(admin.aggregation_rule.is_some() && admin.rules.unwrap().len() > 10);
    let bound = Api::<ClusterRoleBinding>::all(client.clone()).get("cluster-admin").await.unwrap();
    assert_eq!(bound.subjects.unwrap()[0].name, "system:masters");
    let service = Api::<Service>::namespaced(client, "default").get("kubernetes").await.unwrap();
    assert_eq!(service.spec.unwrap().cluster_ip.as_deref(), Some("10.96.0.1"));
}

#[tokio::test(start_paused = true)]
async fn uids_follow_from_the_seed() {
    let uid = async |seed| {
        let client = Sandbox::builder().seed(seed).start().client();
        Api::<Namespace>::all(client).get("default").await.unwrap().uid().unwrap()
    };
    assert_eq!(uid(1).await, uid(1).await);
    assert_ne!(uid(1).await, uid(2).await);
}
