//! What is made once keeps its content.

use std::sync::Arc;

use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use serde_json::json;

use super::kinds::{SHOP, Shop, ShopSpec, done, idle_pass, named, shop, written};
use crate::operator::site::{NAME, Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_once_a_generated_secret_keeps_its_content_and_one_that_is_deleted_comes_back", keeps_its_content),
        case("node_once_what_lost_its_marks_is_marked_again_and_keeps_its_content", is_marked_again),
        case("node_once_an_object_that_was_there_before_is_adopted_with_its_content", is_adopted_as_it_is),
    ]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct OnceTree {
    #[provisioner(resource(once, adopt))]
    key: Secret,
}

impl OnceTree {
    fn key(draft: &Draft<'_, Shop>) -> Secret {
        Secret {
            metadata: named("key"),
            string_data: Some([("password".to_owned(), draft.random_text(32))].into()),
            ..Secret::default()
        }
    }
}

fn password(secret: &Secret) -> String {
    let ByteString(bytes) = &secret.data.as_ref().unwrap()["password"];
    String::from_utf8(bytes.clone()).unwrap()
}

async fn key(site: &Site) -> Secret {
    site.api::<Secret>().get("key").await.unwrap()
}

async fn keeps_its_content(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Shop, OnceTree>();
    let mut running = site.start(&operator).await;
    site.create(&shop(ShopSpec::default())).await;
    done(&site).await;
    let made = password(&key(&site).await);
    assert_eq!(made.len(), 32);
    idle_pass(&site, json!({"text": "edited"})).await;
    assert_eq!(password(&key(&site).await), made);

    running.signal();
    running.end().await.unwrap();
    let before = site.settled().await;
    let _running = site.run(&operator, Default::default()).await;
    let writes = written(&site, &before).await;
    assert!(writes.is_empty(), "{writes}");
    assert_eq!(password(&key(&site).await), made);

    // What a person puts there stays, too.
    site.patch::<Secret>("key", &json!({"stringData": {"password": "mine"}})).await;
    idle_pass(&site, json!({"text": "edited again"})).await;
    assert_eq!(password(&key(&site).await), "mine");

    let uid = key(&site).await.uid();
    site.delete::<Secret>("key").await;
    let again = until_object(&site.api::<Secret>(), "key", "is made again", |secret| secret.uid() != uid).await;
    assert!(password(&again) != made && password(&again).len() == 32);
    assert!(site.asked().await.denied().is_empty());
}

async fn is_marked_again(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Shop, OnceTree>()).await;
    site.create(&shop(ShopSpec::default())).await;
    done(&site).await;
    let made = password(&key(&site).await);
    let label = |secret: &Secret| secret.labels().get("app.kubernetes.io/managed-by").is_some_and(|name| name == NAME);
    for loss in [
        json!({"metadata": {"labels": null}}),
        json!({"metadata": {"ownerReferences": null}}),
        json!({"metadata": {"labels": null, "annotations": null}}),
    ] {
        site.patch::<Secret>("key", &loss).await;
        let whole = |secret: &Secret| {
            label(secret) && secret.owner_references().len() == 1 && secret.annotations().contains_key("opgen.dev/node")
        };
        let secret = until_object(&site.api::<Secret>(), "key", &format!("is marked after {loss}"), whole).await;
        assert_eq!(password(&secret), made);
        done(&site).await;
    }
    idle_pass(&site, json!({"text": "edited"})).await;
    site.delete::<Shop>(SHOP).await;
    until_gone(&site.api::<Shop>(), SHOP).await;
    until_gone(&site.api::<Secret>(), "key").await;
}

async fn is_adopted_as_it_is(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let secret =
        Secret { string_data: Some([("password".to_owned(), "theirs".to_owned())].into()), ..Secret::default() };
    site.create(&Secret { metadata: named("key"), ..secret }).await;
    let _running = site.start(&site.operator().controls::<Shop, OnceTree>()).await;
    site.create(&shop(ShopSpec::default())).await;
    done(&site).await;
    assert_eq!(password(&key(&site).await), "theirs");
    idle_pass(&site, json!({"text": "edited"})).await;
    site.delete::<Shop>(SHOP).await;
    until_gone(&site.api::<Secret>(), "key").await;
}
