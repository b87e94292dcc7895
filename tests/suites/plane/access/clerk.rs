//! A hand-written node that makes every kind of call.

use k8s_openapi::api::{
    apps::v1::Deployment,
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{ConfigMap, LimitRange, Pod, ResourceQuota, Secret, ServiceAccount},
    networking::v1::Ingress,
    policy::v1::Eviction,
};
use kube::{Api, CustomResource, ResourceExt as _, api::ObjectMeta};
use opgen::{CallError, access::subresource, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A piece of work for the clerk.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "access.example.com", version = "v1", kind = "Task", namespaced, status = "Status")]
pub(crate) struct TaskSpec {
    /// Which calls.
    pub(crate) what: String,
}

opgen::dynamic_kind! {
    /// A Lease, as if nobody knew its fields.
    pub(crate) Lease: "coordination.k8s.io/v1", "leases", namespaced;
}

#[derive(Debug, Provisioner)]
#[provisioner(access(
    ConfigMap: get, list, create, update, patch, delete, deletecollection;
    Secret("granted"): get, apply, delete;
    LimitRange in "default": get, apply, delete;
    Ingress/status: get, update, patch;
    Deployment("web")/scale: get, update, patch;
    Pod/log: get;
    Pod/ephemeralcontainers: get, patch;
    Pod("old")/eviction: create;
    ServiceAccount("default")/token: create;
    Lease: get, list, create, update, patch, delete;
    "/metrics": get;
    raw(ResourceQuota: list);
))]
pub(crate) struct Clerk;

type Cx<'a> = Context<'a, Task, Clerk>;

impl Provision<Task> for Clerk {
    async fn provision(cx: &Cx<'_>) -> Result<()> {
        match cx.object().spec.what.as_str() {
            "objects" => objects(cx).await,
            "named" => named(cx).await,
            "not named" => cx.get::<Secret>("other").await.map(drop),
            "elsewhere" => elsewhere(cx).await,
            "status" => status(cx).await,
            "scale" => scale(cx).await,
            "parts" => parts(cx).await,
            "dynamic" => dynamic(cx).await,
            "path" => path(cx).await,
            "another path" => cx.get_path("/openapi/v2").await.map(drop),
            "raw" => raw(cx).await,
            other => yield_because("Unknown", format!("{other} is no work")),
        }
    }

    async fn deprovision(_: &Teardown<'_, Task, Self>) -> Result<()> {
        Ok(())
    }
}

fn holds(said: bool, what: &str) -> Result<()> {
    if said { Ok(()) } else { Err(Error::terminal("Wrong", what.to_owned())) }
}

fn labelled(name: &str) -> ObjectMeta {
    let labels = [("clerk".to_owned(), "yes".to_owned())].into();
    ObjectMeta { name: Some(name.to_owned()), labels: Some(labels), ..ObjectMeta::default() }
}

fn config(name: &str) -> ConfigMap {
    ConfigMap { metadata: labelled(name), ..ConfigMap::default() }
}

async fn objects(cx: &Cx<'_>) -> Result<()> {
    cx.delete_collection::<ConfigMap>("clerk=yes").await?;
    let mut one = cx.create(&config("one")).await?;
    one.data = Some([("a".to_owned(), "1".to_owned())].into());
    let stale: ConfigMap = cx.get("one").await?;
    cx.update(&one).await?;
    let conflict = cx.update(&stale).await;
    holds(matches!(conflict, Err(Error::Conflict(_))), "an update of a stale object is a conflict")?;
    let patched: ConfigMap = cx.patch("one", &json!({"data": {"b": "2"}})).await?;
    holds(patched.data.is_some_and(|data| data.len() == 2), "what was updated and patched is there")?;
    cx.create(&config("two")).await?;
    let names = |found: Vec<ConfigMap>| found.iter().map(ConfigMap::name_any).collect::<Vec<_>>();
    holds(names(cx.list("clerk=yes").await?) == ["one", "two"], "both are listed")?;
    holds(cx.delete::<ConfigMap>("one").await?, "one is deleted")?;
    cx.delete_collection::<ConfigMap>("clerk=yes").await?;
    holds(cx.find::<ConfigMap>("two").await?.is_none(), "the rest is deleted")
}

async fn named(cx: &Cx<'_>) -> Result<()> {
    let granted = Secret { metadata: labelled("granted"), ..Secret::default() };
    cx.apply(&granted).await?;
    cx.apply(&granted).await?;
    cx.get::<Secret>("granted").await?;
    cx.delete::<Secret>("granted").await.map(drop)
}

async fn elsewhere(cx: &Cx<'_>) -> Result<()> {
    let (there, name) = (cx.in_namespace("default"), cx.object().namespace().unwrap_or_default());
    there.apply(&LimitRange { metadata: labelled(&name), ..LimitRange::default() }).await?;
    let found: LimitRange = there.get(&name).await?;
    holds(found.namespace().as_deref() == Some("default"), "it is in the other namespace")?;
    there.delete::<LimitRange>(&name).await.map(drop)
}

/// Of a kind whose status nobody else writes.
async fn status(cx: &Cx<'_>) -> Result<()> {
    let patch = json!({"status": {"loadBalancer": {"ingress": [{"hostname": "a.example.com"}]}}});
    cx.patch_status::<Ingress>("web", &patch).await?;
    let mut web: Ingress = cx.get_status("web").await?;
    let hosts = |web: &Ingress| json!(web.status)["loadBalancer"]["ingress"].clone();
    holds(hosts(&web) == json!([{"hostname": "a.example.com"}]), "the status is patched")?;
    web.status = serde_json::from_value(json!({"loadBalancer": {"ingress": [{"hostname": "b.example.com"}]}}))?;
    let web = cx.update_status(&web).await?;
    holds(hosts(&web) == json!([{"hostname": "b.example.com"}]), "the status is replaced")
}

async fn scale(cx: &Cx<'_>) -> Result<()> {
    cx.patch_scale::<Deployment>("web", 2).await?;
    let mut scale = cx.get_scale::<Deployment>("web").await?;
    let spec = scale.spec.get_or_insert_default();
    holds(spec.replicas == Some(2), "the scale is patched")?;
    spec.replicas = Some(3);
    let scale = cx.update_scale::<Deployment>(&scale).await?;
    holds(scale.spec.is_some_and(|spec| spec.replicas == Some(3)), "the scale is replaced")
}

async fn parts(cx: &Cx<'_>) -> Result<()> {
    let expiration_seconds = Some(600);
    let spec = TokenRequestSpec { expiration_seconds, ..TokenRequestSpec::default() };
    let wanted = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let made = cx.subresource::<ServiceAccount, subresource::Token>("default").create(&wanted).await?;
    holds(made.status.is_some_and(|status| status.token.is_some_and(|token| !token.is_empty())), "a token is made")?;
    // Nobody has put the pod on a node, so its log is empty.
    holds(cx.subresource::<Pod, subresource::Log>("web").text().await?.is_empty(), "the log is read")?;
    let debugger = cx.subresource::<Pod, subresource::EphemeralContainers>("web");
    debugger
        .patch(&json!({"spec": {"ephemeralContainers": [{"name": "look", "image": "example.com/look:1"}]}}))
        .await?;
    let pod = debugger.get().await?;
    holds(json!(pod.spec)["ephemeralContainers"][0]["name"] == "look", "the pod has another container")?;
    let metadata = ObjectMeta { name: Some("old".to_owned()), ..ObjectMeta::default() };
    let eviction = Eviction { metadata, ..Eviction::default() };
    match cx.subresource::<Pod, subresource::Eviction>("old").create(&eviction).await {
        Ok(answer) => holds(answer.status.as_deref() == Some("Success"), "the pod is evicted"),
        // By an earlier pass.
        Err(Error::Unexpected(error)) if error.downcast_ref().is_some_and(CallError::is_not_found) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn dynamic(cx: &Cx<'_>) -> Result<()> {
    cx.delete::<Lease>("one").await?;
    let mut lease = cx.create(&Lease::new("one", json!({"spec": {"holderIdentity": "a"}}))).await?;
    lease.content["spec"]["holderIdentity"] = "b".into();
    cx.update(&lease).await?;
    cx.apply(&Lease::new("one", json!({"spec": {"leaseDurationSeconds": 9}}))).await?;
    cx.patch::<Lease>("one", &json!({"spec": {"leaseTransitions": 1}})).await?;
    let lease: Lease = cx.get("one").await?;
    let spec = json!({"holderIdentity": "b", "leaseDurationSeconds": 9, "leaseTransitions": 1});
    holds(lease.content.get("spec") == Some(&spec), "every write is there")?;
    holds(cx.list::<Lease>("").await?.iter().any(|lease| lease.name_any() == "one"), "it is listed")?;
    cx.delete::<Lease>("one").await.map(drop)
}

async fn path(cx: &Cx<'_>) -> Result<()> {
    holds(cx.get_path("/metrics").await?.contains("apiserver_request_total"), "the metrics are read")
}

async fn raw(cx: &Cx<'_>) -> Result<()> {
    let namespace = cx.object().namespace().unwrap_or_default();
    let quotas = Api::<ResourceQuota>::namespaced(cx.raw_client(), &namespace);
    let found = quotas.list(&Default::default()).await?;
    holds(found.items.iter().any(|quota| quota.name_any() == "roomy"), "the quota is listed")
}
