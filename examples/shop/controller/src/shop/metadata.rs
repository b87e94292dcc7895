//! Names and labels of the objects of a shop.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::ResourceExt as _;

use shop_api::Shop;

/// The metadata of an object of the shop, whose name starts with that of the shop.
pub(super) fn named(shop: &Shop, suffix: &str) -> ObjectMeta {
    ObjectMeta { name: Some(format!("{}-{suffix}", shop.name_any())), ..ObjectMeta::default() }
}

/// The metadata of the Pods of a tier.
pub(super) fn of_pods(shop: &Shop, tier: &str) -> ObjectMeta {
    ObjectMeta { labels: Some(labels(shop, tier)), ..ObjectMeta::default() }
}

/// The selector of the Pods of a tier.
pub(super) fn selector(shop: &Shop, tier: &str) -> LabelSelector {
    LabelSelector { match_labels: Some(labels(shop, tier)), ..LabelSelector::default() }
}

/// The labels of the Pods of a tier.
pub(super) fn labels(shop: &Shop, tier: &str) -> BTreeMap<String, String> {
    let (name, part) = ("app.kubernetes.io/name".to_owned(), "app.kubernetes.io/component".to_owned());
    let instance = "app.kubernetes.io/instance".to_owned();
    [(name, "shop".to_owned()), (instance, shop.name_any()), (part, tier.to_owned())].into()
}
