//! Why a resource node applies what it makes, and creates only what it makes once: what the server records of a creation.

use std::sync::Arc;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use opgen_tests::Plane;
use serde_json::{Value, json};

const OPERATOR: &str = "operator";
const STRANGER: &str = "stranger";

pub(crate) async fn differs_from_apply(plane: Arc<Plane>) {
    for is_created in [false, true] {
        let namespace = plane.namespace("creation").await;
        let configs = Api::<ConfigMap>::namespaced(plane.client(), &namespace);
        let config =
            |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data});
        make(&configs, is_created, &config(json!({"kept": "1", "given-up": "1"}))).await;
        let params = PatchParams::apply(OPERATOR).force();
        let after = configs.patch("one", &params, &Patch::Apply(config(json!({"kept": "1"})))).await.unwrap();
        let is_kept = after.data.is_some_and(|data| data.contains_key("given-up"));
        assert_eq!(is_kept, is_created, "an apply gives up what the same manager applied, not what it created");

        let deployments = Api::<Deployment>::namespaced(plane.client(), &namespace);
        make(&deployments, is_created, &deployment()).await;
        let addition = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "one"}, "spec": {"revisionHistoryLimit": 3},
        });
        let added = deployments.patch("one", &PatchParams::apply(STRANGER), &Patch::Apply(addition)).await;
        let is_refused = matches!(&added, Err(kube::Error::Api(status)) if status.code == 409);
        assert_eq!(is_refused, is_created, "a field that the server defaulted is the creator's: {added:?}");
    }
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "one"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "one"}},
            "template": {
                "metadata": {"labels": {"app": "one"}},
                "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
            },
        },
    })
}

async fn make<K>(api: &Api<K>, is_created: bool, object: &Value)
where
    K: Clone + serde::de::DeserializeOwned + serde::Serialize + std::fmt::Debug,
{
    if is_created {
        let params = PostParams { field_manager: Some(OPERATOR.to_owned()), ..PostParams::default() };
        api.create(&params, &serde_json::from_value(object.clone()).unwrap()).await.unwrap();
    } else {
        api.patch("one", &PatchParams::apply(OPERATOR), &Patch::Apply(object)).await.unwrap();
    }
}
