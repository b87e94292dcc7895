//! An operator that reaches a second cluster over the network, with the generated role only.

use std::sync::Arc;

use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use kube::{
    Api, ResourceExt,
    api::{ObjectMeta, Patch},
};
use opgen_tests::{
    Options, Plane,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::{super::install, Note, RemoteTree, Site, note, note_says, records, text};

pub(super) async fn connected(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let options = Options { form: plane.form(), kubelet: false, ..Options::served() };
    let second = Plane::start(options).await.expect("a second plane");
    let operator = site.operator().controls::<Note, RemoteTree>();
    let _running = site.start(&operator).await;
    let role = install::generated(&operator).text("remote/role.yaml").expect("a role").to_owned();
    install::apply_quietly(&second, &role).await;
    let role: ClusterRole = serde_saphyr::from_str(&role).unwrap();
    let binding = json!({
        "metadata": {"name": "operator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role.name_any()},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
    });
    let bindings = Api::<ClusterRoleBinding>::all(second.client());
    bindings.create(&Default::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();
    let kubeconfig = second.service_account("default", "default").await.embedded_kubeconfig();
    let secret = Secret {
        metadata: ObjectMeta { name: Some("blue".to_owned()), ..ObjectMeta::default() },
        string_data: Some([("value".to_owned(), kubeconfig)].into()),
        ..Secret::default()
    };
    site.create(&secret).await;
    site.create(&note("blue/one")).await;
    note_says(&site, "Provisioned").await;
    let configs = Api::<ConfigMap>::namespaced(second.client(), "default");
    assert_eq!(text(&configs.get("one").await.unwrap()), "blue/one");
    let edit = json!({"data": {"text": "edited"}});
    configs.patch("one", &Default::default(), &Patch::Merge(&edit)).await.unwrap();
    until_object(&configs, "one", "is repaired", |config| text(config) == "blue/one").await;
    site.create(&Note {
        metadata: ObjectMeta { name: Some("two".to_owned()), ..ObjectMeta::default() },
        ..note("blue/two")
    })
    .await;
    until_object(&configs, "two", "is made", |config| text(config) == "blue/two").await;
    site.delete::<Note>("two").await;
    until_gone(&site.api::<Note>(), "two").await;
    assert!(configs.get_opt("two").await.unwrap().is_none());
    // The cluster ends, and with it what is in it.
    drop(second);
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/late"}})).await;
    note_says(&site, "ClusterUnreachable").await;
    site.api::<Secret>().delete("blue", &Default::default()).await.unwrap();
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    assert_eq!(records(&site).await, Vec::<String>::new());
}
