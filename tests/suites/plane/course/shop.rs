//! The whole life of shops: their databases have volumes, their backends roll.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use kube::{Api, ResourceExt as _, api::DeleteParams};
use opgen_tests::{Plane, wait};
use serde_json::json;
use shop_api::Shop;

use super::{Denials, Diary, LONG, delete_namespace};
use crate::{
    operator::example::{Installed, SHOP},
    shop::shops::Shops,
};

const COUNT: usize = 5;

pub(super) async fn life(plane: Arc<Plane>) {
    let (diary, denials) = (Diary::new(&plane), Denials::default());
    let installed = Installed::new(SHOP, plane).await;
    let plane = &installed.plane;
    let program = installed.start().await;
    let shops = Shops::new(plane, COUNT).await;

    shops.create(&shops.names).await;
    shops.complete().await;
    claims_are_bound(&shops, COUNT).await;
    let passwords = shops.passwords().await;
    passwords.are_good(COUNT);
    diary.say("created and available, with volumes");
    shops.change(json!({"backend": {"replicas": 3}, "database": {"replicas": 2}})).await;
    shops.complete().await;
    claims_are_bound(&shops, 2 * COUNT).await;
    diary.say("scaled");
    shops.change(json!({"backend": {"image": "example.com/backend:2", "settings": {"currency": "CHF"}}})).await;
    shops.change(json!({"database": {"image": "example.com/database:2"}})).await;
    shops.complete().await;
    diary.say("rolled");
    shops.passwords().await.are(&passwords, &[]);
    shops.delete::<Shop>(&shops.names[..1]).await;
    shops.available(COUNT - 1).await;
    shops.complete().await;
    diary.say("one was deleted");
    // A child that goes before its owner may not be made again there.
    denials.outage(&installed, delete_namespace(plane, &shops.namespace)).await;
    assert_eq!(shops.parts.there().await.unwrap(), [].into(), "what belongs to the cluster is left");
    volumes_are_gone(plane, &shops.namespace).await;
    diary.say("the namespace is gone, and the volumes");

    let few = Shops::new(plane, 2).await;
    few.create(&few.names).await;
    few.complete().await;
    plane.delete_crd(SHOP.definition).await;
    wait::until("nothing is left of the shops", LONG, async || {
        let there = few.parts.there().await.map_err(|error| error.to_string())?;
        if there.is_empty() { Ok(()) } else { Err(format!("{there:?}")) }
    })
    .await;
    diary.say("the definition is gone with all that it had");
    SHOP.define(plane).await;
    let anew = Shops::new(plane, 2).await;
    anew.create(&anew.names).await;
    anew.complete().await;
    anew.delete::<Shop>(&anew.names).await;
    // Claims outlive their StatefulSet.
    let claims = anew.api::<PersistentVolumeClaim>();
    claims.delete_collection(&DeleteParams::default(), &Default::default()).await.unwrap();
    anew.gone().await;
    program.stop().await;
    denials.none(&installed).await;
}

async fn claims_are_bound(shops: &Shops, count: usize) {
    wait::until(format!("{count} claims are bound"), LONG, async || {
        let claims = shops.api::<PersistentVolumeClaim>().list(&Default::default()).await;
        let claims = claims.map_err(|error| error.to_string())?.items;
        let phase = |claim: &PersistentVolumeClaim| claim.status.as_ref().and_then(|status| status.phase.clone());
        let bound = claims.iter().filter(|claim| phase(claim).as_deref() == Some("Bound")).count();
        if (bound, claims.len()) == (count, count) { Ok(()) } else { Err(format!("{bound} of {}", claims.len())) }
    })
    .await;
}

/// Those of the namespace: other cases may have claims in the cluster.
async fn volumes_are_gone(plane: &Plane, namespace: &str) {
    let volumes = Api::<PersistentVolume>::all(plane.client());
    wait::until("the volumes are gone", LONG, async || {
        let left = volumes.list(&Default::default()).await.map_err(|error| error.to_string())?.items;
        let is_of = |volume: &&PersistentVolume| {
            let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
            claim.is_some_and(|claim| claim.namespace.as_deref() == Some(namespace))
        };
        let names: Vec<_> =
            left.iter().filter(is_of).map(|volume| (volume.name_any(), volume.status.clone())).collect();
        if names.is_empty() { Ok(()) } else { Err(format!("{names:?}")) }
    })
    .await;
}
