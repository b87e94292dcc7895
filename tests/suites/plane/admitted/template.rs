//! Two managers that each apply a container of a Pod template, which the spec of a custom resource embeds.

use std::sync::Arc;

use kube::{
    Api, CustomResource,
    api::{Patch, PatchParams},
};
use opgen::{Operator, prelude::*};
use opgen_tests::Plane;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::operator::install;

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Bakery", plural = "bakeries", namespaced, status = "Status")]
pub(crate) struct BakerySpec {
    template: PodTemplateSpec,
}

/// Types with the names of those of Kubernetes, as `k8s-openapi` gives them by its feature `schemars`, and with some of their fields.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[schemars(rename = "io.k8s.api.core.v1.PodTemplateSpec")]
struct PodTemplateSpec {
    spec: Option<PodSpec>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[schemars(rename = "io.k8s.api.core.v1.PodSpec")]
struct PodSpec {
    containers: Vec<Container>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[schemars(rename = "io.k8s.api.core.v1.Container")]
struct Container {
    name: String,
    image: Option<String>,
    env: Option<Vec<EnvVar>>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[schemars(rename = "io.k8s.api.core.v1.EnvVar")]
struct EnvVar {
    name: String,
    value: Option<String>,
}

pub(super) async fn applied(plane: Arc<Plane>) {
    install::definitions(&plane, &Operator::new("bakery").defines::<Bakery>()).await;
    let namespace = plane.namespace("templates").await;
    let bakeries = Api::<Bakery>::namespaced(plane.client(), &namespace);
    let apply = async |manager: &str, containers: Value| {
        let object = json!({
            "apiVersion": "demo.example.com/v1", "kind": "Bakery", "metadata": {"name": "a"},
            "spec": {"template": {"spec": {"containers": containers}}},
        });
        let applied = bakeries.patch("a", &PatchParams::apply(manager), &Patch::Apply(object)).await.unwrap();
        let spec = applied.spec.template.spec.expect("the Pod of the template");
        let describe = |container: Container| {
            let mut env: Vec<_> = container.env.into_iter().flatten().map(|env| env.name).collect();
            env.sort();
            format!("{} {} {}", container.name, container.image.unwrap_or_default(), env.join(","))
        };
        let mut containers: Vec<_> = spec.containers.into_iter().map(describe).collect();
        containers.sort();
        containers
    };
    let named = |name: &str| json!({"name": name, "value": "1"});
    apply("one", json!([{"name": "oven", "image": "oven:1", "env": [named("A")]}])).await;
    let of_two = json!([{"name": "proxy", "image": "proxy:1"}, {"name": "oven", "env": [named("B")]}]);
    let both = apply("two", of_two).await;
    assert_eq!(both, ["oven oven:1 A,B", "proxy proxy:1 "]);
    let changed = apply("one", json!([{"name": "oven", "image": "oven:2", "env": [named("A")]}])).await;
    assert_eq!(changed, ["oven oven:2 A,B", "proxy proxy:1 "]);
    // A manager gives up its own fields, and nothing else.
    let left = apply("two", json!([{"name": "proxy", "image": "proxy:1"}])).await;
    assert_eq!(left, ["oven oven:2 A", "proxy proxy:1 "]);
}
