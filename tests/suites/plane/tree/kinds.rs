//! The owner `Shop` of these cases, and functions that wait for its conditions.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, api::ObjectMeta};
use opgen::prelude::*;
use opgen_tests::{Entries, wait::until_object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operator::{kinds::available, site::Site, tally::state_writes};

/// The owner of most trees.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Shop", namespaced, status = "Status")]
pub(crate) struct ShopSpec {
    #[serde(default)]
    pub(crate) text: String,
    /// Whether there is more than what always is.
    #[serde(default)]
    pub(crate) extra: bool,
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub(crate) pools: Vec<Pool>,
}

/// An item of a shop.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
pub(crate) struct Pool {
    /// Its key.
    pub(crate) key: String,
    /// The name of its objects.
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) size: i32,
}

impl Pool {
    pub(crate) fn new(key: &str, name: &str) -> Self {
        Self { key: key.to_owned(), name: name.to_owned(), size: 1 }
    }
}

/// A ConfigMap of this name with one text.
pub(crate) fn holding(name: &str, text: &str) -> ConfigMap {
    ConfigMap {
        metadata: named(name),
        data: Some([("text".to_owned(), text.to_owned())].into()),
        ..ConfigMap::default()
    }
}

pub(crate) fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

/// What an entry of a ConfigMap says.
pub(crate) fn entry<'a>(config: &'a ConfigMap, name: &str) -> Option<&'a str> {
    config.data.as_ref()?.get(name).map(String::as_str)
}

/// The shop of a site, which has one.
pub(crate) const SHOP: &str = "shop";

pub(crate) fn shop(spec: ShopSpec) -> Shop {
    Shop::new(SHOP, spec)
}

/// Waits until the condition `Available` of the shop has this reason for the latest generation. Returns its message.
pub(crate) async fn says(site: &Site, reason: &str) -> String {
    let fits = |shop: &Shop| {
        let observed = shop.status.as_ref().and_then(|status| status.observed_generation);
        observed == shop.metadata.generation
            && available(shop.status.as_ref()).is_some_and(|(_, said, _)| said == reason)
    };
    let shop = until_object(&site.api::<Shop>(), SHOP, &format!("says {reason}"), fits).await;
    available(shop.status.as_ref()).map(|(_, _, sentence)| sentence.to_owned()).unwrap_or_default()
}

/// Waits until the shop is provisioned.
pub(crate) async fn done(site: &Site) {
    says(site, "Provisioned").await;
}

/// What the operator has written since `earlier`, once it is at rest.
pub(crate) async fn written(site: &Site, earlier: &Entries) -> Entries {
    state_writes(&site.settled().await.since(earlier))
}

/// Makes a pass that finds all as wanted, by a change of the spec that no node reads; it may write nothing but the status.
pub(crate) async fn idle_pass(site: &Site, spec: serde_json::Value) {
    let before = site.settled().await;
    site.patch::<Shop>(SHOP, &serde_json::json!({"spec": spec})).await;
    done(site).await;
    let writes = written(site, &before).await.with(|entry| entry.subresource != "status");
    assert!(writes.is_empty(), "{writes}");
}
