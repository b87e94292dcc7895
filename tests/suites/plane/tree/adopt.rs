//! Objects that were there before their operator.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::{Operator, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::{Value, json};

use super::kinds::{SHOP, Shop, ShopSpec, done, entry, holding, idle_pass, says, shop, written};
use crate::operator::site::{NAME, Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_adopt_of_what_helm_made_leaves_nothing_of_helm", from_helm),
        case("node_adopt_of_what_another_operator_applied_leaves_nothing_that_is_not_wanted", from_an_applier),
        case("node_adopt_ended_by_a_crash_after_the_fields_have_moved_goes_on", after_a_crash),
        case("node_adopt_is_not_needed_where_the_owner_reference_is_to_the_owner", from_the_owner),
        case("node_adopt_of_what_the_owner_had_takes_the_fields_of_the_named_manager", fields_from_the_owner),
        case("node_adopt_is_not_done_where_nobody_says_so", not_adopted),
        case("node_adopt_of_what_has_another_controller_is_refused_until_it_has_none", refused),
    ]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct AdoptTree {
    #[provisioner(resource(adopt("helm", "manager", "old-operator")))]
    config: ConfigMap,
}

impl AdoptTree {
    fn config(_: &Shop) -> ConfigMap {
        holding("config", "wanted")
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct PlainTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl PlainTree {
    fn config(shop: &Shop) -> ConfigMap {
        AdoptTree::config(shop)
    }
}

/// As somebody else made it, with an entry that nobody wants.
fn stale(metadata: Value) -> Value {
    let mut object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": "old", "stale": "yes"},
    });
    object["metadata"]["name"] = "config".into();
    object
}

async fn create(site: &Site, manager: &str, object: Value) {
    let params = PostParams { field_manager: Some(manager.to_owned()), ..PostParams::default() };
    site.api::<ConfigMap>().create(&params, &serde_json::from_value(object).unwrap()).await.unwrap();
}

async fn config(site: &Site) -> ConfigMap {
    site.api::<ConfigMap>().get("config").await.unwrap()
}

/// The object is the operator's, as it is wanted, and nothing is written once more.
async fn is_taken_over(site: &Site, operator: &Operator, stale: Option<&str>) {
    let mut running = site.start(operator).await;
    if site.api::<Shop>().get_opt(SHOP).await.unwrap().is_none() {
        site.create(&shop(ShopSpec::default())).await;
    }
    done(site).await;
    let config = config(site).await;
    assert_eq!((entry(&config, "text"), entry(&config, "stale")), (Some("wanted"), stale));
    assert_eq!(config.labels()["app.kubernetes.io/managed-by"], NAME);
    assert_eq!(config.owner_references().len(), 1);
    idle_pass(site, json!({"text": "edited"})).await;
    running.signal();
    running.end().await.unwrap();
    let before = site.settled().await;
    let _running = site.run(operator, Default::default()).await;
    let writes = written(site, &before).await;
    assert!(writes.is_empty(), "{writes}");
    assert!(site.asked().await.denied().is_empty());
    site.delete::<Shop>(SHOP).await;
    until_gone(&site.api::<ConfigMap>(), "config").await;
}

async fn from_helm(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let annotations = json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "default"});
    let labels = json!({"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "shop-1"});
    create(&site, "helm", stale(json!({"annotations": annotations, "labels": labels}))).await;
    let params = PatchParams { field_manager: Some("kubectl-edit".to_owned()), ..PatchParams::default() };
    let edit = Patch::Merge(json!({"data": {"mine": "kept"}}));
    site.api::<ConfigMap>().patch("config", &params, &edit).await.unwrap();

    let operator = site.operator().controls::<Shop, AdoptTree>();
    let _running = site.start(&operator).await;
    site.create(&shop(ShopSpec::default())).await;
    done(&site).await;
    let config = config(&site).await;
    assert_eq!(entry(&config, "mine"), Some("kept"), "what a third one had set is not theirs");
    let names: Vec<_> = config.annotations().keys().chain(config.labels().keys()).collect();
    assert!(!names.iter().any(|name| name.contains("helm")), "{names:?}");
    drop(_running);
    is_taken_over(&site, &operator, None).await;
}

async fn from_an_applier(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let applied = Patch::Apply(stale(json!({"labels": {"old": "yes"}})));
    site.api::<ConfigMap>().patch("config", &PatchParams::apply("old-operator"), &applied).await.unwrap();
    is_taken_over(&site, &site.operator().controls::<Shop, AdoptTree>(), None).await;
}

/// The fields are the operator's already; nothing else has been done.
async fn after_a_crash(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    create(&site, "helm", stale(json!({"labels": {"app.kubernetes.io/managed-by": "Helm"}}))).await;
    let mut fields = serde_json::to_value(config(&site).await.metadata.managed_fields).unwrap();
    fields[0]["manager"] = NAME.into();
    fields[0]["operation"] = "Apply".into();
    let patch = json!([{"op": "replace", "path": "/metadata/managedFields", "value": fields}]);
    let patch: Patch<()> = Patch::Json(serde_json::from_value(patch).unwrap());
    site.api::<ConfigMap>().patch("config", &PatchParams::default(), &patch).await.unwrap();
    is_taken_over(&site, &site.operator().controls::<Shop, AdoptTree>(), None).await;
}

/// As an operator in Go leaves it that had the same kind.
async fn of_the_owner(site: &Site) {
    let operator = site.operator().controls::<Shop, PlainTree>();
    site.install(&operator).await;
    let owner = site.create(&shop(ShopSpec::default())).await;
    let reference = json!({
        "apiVersion": "tree.example.com/v1", "kind": "Shop", "name": SHOP, "uid": owner.uid(),
        "controller": true, "blockOwnerDeletion": true,
    });
    create(site, "manager", stale(json!({"ownerReferences": [reference]}))).await;
}

/// It has always been the owner's. The fields of the earlier manager are its own as long as no node names it.
async fn from_the_owner(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    of_the_owner(&site).await;
    is_taken_over(&site, &site.operator().controls::<Shop, PlainTree>(), Some("yes")).await;
}

async fn fields_from_the_owner(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    of_the_owner(&site).await;
    is_taken_over(&site, &site.operator().controls::<Shop, AdoptTree>(), None).await;
}

async fn not_adopted(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    create(&site, "kubectl", stale(json!({}))).await;
    let _running = site.start(&site.operator().controls::<Shop, PlainTree>()).await;
    site.create(&shop(ShopSpec::default())).await;
    let wanted = format!(
        "ConfigMap {}/config exists and belongs to another client; delete or rename it, choose another name, or let the \
         node adopt it",
        site.namespace
    );
    assert_eq!(says(&site, "NotOwned").await, wanted);
    assert_eq!(entry(&config(&site).await, "text"), Some("old"));
    // What was never taken stays when the owner goes.
    site.delete::<Shop>(SHOP).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    assert_eq!(entry(&config(&site).await, "text"), Some("old"));
}

async fn refused(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let other = site.create(&holding("other", "")).await;
    let reference =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": other.uid(), "controller": true});
    create(&site, "manager", stale(json!({"ownerReferences": [reference]}))).await;
    let operator = site.operator().controls_with::<Shop, AdoptTree>(|controller| {
        controller.backoff(opgen::Backoff::Fixed(std::time::Duration::from_millis(500)))
    });
    let _running = site.start(&operator).await;
    site.create(&shop(ShopSpec::default())).await;
    let wanted = format!(
        "ConfigMap {}/config exists and belongs to ConfigMap other; it can be adopted only when it has no controller",
        site.namespace
    );
    assert_eq!(says(&site, "NotOwned").await, wanted);
    site.patch::<ConfigMap>("config", &json!({"metadata": {"ownerReferences": null}})).await;
    until_object(&site.api::<ConfigMap>(), "config", "is adopted", |config| entry(config, "text") == Some("wanted"))
        .await;
    done(&site).await;
}
