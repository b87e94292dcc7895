//! Desks that name the nets they are on and a secret they use, and what is asked of them.

use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{ConfigMap, Secret},
};
use kube::{CustomResource, Resource, ResourceExt as _, api::ObjectMeta};
use opgen::{NamespacedName, prelude::*};
use opgen_tests::wait::until_object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::operator::{
    kinds::available,
    site::{Running, Site},
};

/// Ready as soon as it is up.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Net", namespaced, status = "Status")]
pub(crate) struct NetSpec {
    pub(crate) up: bool,
}

/// Nothing but a word on whether it is up.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(crate) struct NetTree;

impl Provision<Net> for NetTree {
    async fn provision(cx: &Context<'_, Net, Self>) -> Result<()> {
        if cx.object().spec.up { Ok(()) } else { yield_because("Down", "the net is down") }
    }

    async fn deprovision(_: &Teardown<'_, Net, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "reference.example.com", version = "v1", kind = "Desk", namespaced, status = "Status")]
pub(crate) struct DeskSpec {
    #[managed(reference = Net)]
    pub(crate) net: String,
    #[serde(default)]
    #[managed(reference = Net)]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub(crate) others: Vec<NamespacedName>,
    /// In other namespaces, too, if these allow it.
    #[serde(default)]
    #[managed(reference = Net, grant)]
    pub(crate) shared: Option<NamespacedName>,
    #[managed(reference = Secret)]
    pub(crate) secret: Option<String>,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Desk)]
pub(crate) struct DeskTree {
    #[provisioner(resource)]
    top: ConfigMap,
}

impl DeskTree {
    fn top(desk: &Desk) -> ConfigMap {
        let metadata = ObjectMeta { name: Some(desk.name_any()), ..ObjectMeta::default() };
        ConfigMap { metadata, data: Some([("net".to_owned(), desk.spec.net.clone())].into()), ..ConfigMap::default() }
    }
}

/// Runs the operator of both kinds.
pub(crate) async fn start(site: &Site) -> Running {
    site.start(&operator(site)).await
}

pub(crate) fn operator(site: &Site) -> Operator {
    site.operator().controls::<Desk, DeskTree>().controls::<Net, NetTree>()
}

pub(crate) async fn net(site: &Site, name: &str, up: bool) -> Net {
    site.create(&Net::new(name, NetSpec { up })).await
}

pub(crate) fn desk(name: &str, net: &str) -> Desk {
    Desk::new(name, DeskSpec { net: net.to_owned(), ..DeskSpec::default() })
}

/// Waits until the desk's condition has this reason, for the latest spec; gives the sentence.
pub(crate) async fn says(site: &Site, name: &str, reason: &str) -> String {
    let fits = |desk: &Desk| {
        let observed = desk.status.as_ref().and_then(|status| status.observed_generation);
        observed == desk.metadata.generation
            && available(desk.status.as_ref()).is_some_and(|(_, said, _)| said == reason)
    };
    let desk = until_object(&site.api::<Desk>(), name, &format!("says {reason}"), fits).await;
    available(desk.status.as_ref()).map(|(_, _, sentence)| sentence.to_owned()).unwrap_or_default()
}

/// The references on an object.
pub(crate) async fn references<K>(site: &Site, name: &str) -> Vec<String>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + std::fmt::Debug + DeserializeOwned,
{
    let object = site.api::<K>().get(name).await.unwrap();
    object.finalizers().iter().filter(|held| held.contains("/reference_")).cloned().collect()
}

/// The reference from a desk.
pub(crate) fn from(site: &Site, desk: &str) -> String {
    format!("desks.reference.example.com/reference_{}_{desk}", site.namespace)
}

/// Waits until exactly these desks reference a net.
pub(crate) async fn held_by(site: &Site, net: &str, desks: &[&str]) {
    let references: Vec<_> = desks.iter().map(|desk| from(site, desk)).collect();
    is_held_by(site, net, &references.iter().map(String::as_str).collect::<Vec<_>>()).await;
}

/// Waits until a net has exactly these references.
pub(crate) async fn is_held_by(site: &Site, net: &str, references: &[&str]) {
    let mut wanted = references.to_vec();
    wanted.sort_unstable();
    let fits = |net: &Net| {
        let mut held: Vec<_> = net.finalizers().iter().filter(|held| held.contains("/reference_")).collect();
        held.sort();
        held == wanted
    };
    until_object(&site.api::<Net>(), net, &format!("is held by {wanted:?}"), fits).await;
}
