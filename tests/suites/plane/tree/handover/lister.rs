//! Tests objects whose node depends on a lister, which changes while a pass runs.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt as _;
use opgen::{Lister, NamespacedName, prelude::*};
use opgen_tests::{
    Plane,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde_json::json;
use tokio::sync::Semaphore;

use super::{
    super::kinds::{SHOP, Shop, ShopSpec, done, entry, holding, named, shop},
    deleted,
};
use crate::operator::site::Site;

/// The name of the Secret whose label names the node that has the object.
const PLACE: &str = "place";

/// The nodes of Secrets by their labels, and a gate that each pass waits at while no node has the object.
#[derive(Clone, Debug)]
struct World {
    places: Lister<String>,
    is_waiting: Arc<AtomicBool>,
    gate: Arc<Semaphore>,
}

impl Default for World {
    fn default() -> Self {
        Self { places: Lister::default(), is_waiting: Arc::default(), gate: Arc::new(Semaphore::new(0)) }
    }
}

impl World {
    fn place(&self, namespace: Option<&str>) -> Result<String> {
        self.places.read(|places| places.get(namespace.unwrap_or_default(), PLACE).cloned().unwrap_or_default())
    }

    /// Returns the object if it is at this place.
    fn object_at(&self, namespace: Option<&str>, place: &str) -> Result<Option<ConfigMap>> {
        Ok((self.place(namespace)? == place).then(|| holding("kept", place)))
    }
}

type Owner = For<Shop, World>;

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Owner)]
struct Moving {
    #[provisioner(resource)]
    first: Option<ConfigMap>,
    later: Later,
}

impl Moving {
    fn first(draft: &Draft<'_, Owner>) -> Result<Option<ConfigMap>> {
        draft.options().object_at(draft.metadata.namespace.as_deref(), "first")
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
struct Later {
    gate: Gate,
    #[provisioner(resource)]
    second: Option<ConfigMap>,
}

impl Later {
    fn second(draft: &Draft<'_, Owner>) -> Result<Option<ConfigMap>> {
        draft.options().object_at(draft.metadata.namespace.as_deref(), "second")
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Gate;

impl Provision<Owner> for Gate {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        let world = cx.options();
        if world.place(cx.object().metadata.namespace.as_deref())? == "nobody" {
            world.is_waiting.store(true, Ordering::Relaxed);
            drop(world.gate.acquire().await?);
        }
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

async fn move_to(site: &Site, place: &str) {
    site.patch::<Secret>(PLACE, &json!({"metadata": {"labels": {PLACE: place}}})).await;
}

pub(super) async fn keeps(plane: Arc<Plane>) {
    let (site, world) = (Site::new(&plane).await, World::default());
    site.create(&Secret { metadata: named(PLACE), ..Secret::default() }).await;
    move_to(&site, "first").await;
    let operator = site.operator().controls_with::<Owner, Moving>(|controller| {
        controller.options(world.clone()).metadata_lister::<Secret, _, _, _>(
            &world.places,
            |metadata| metadata.labels.as_ref().and_then(|labels| labels.get(PLACE)).cloned().unwrap_or_default(),
            |_, _| [NamespacedName { name: SHOP.to_owned(), namespace: None }],
        )
    });
    let _running = site.start(&operator).await;
    site.create(&shop(ShopSpec::default())).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    let made = configs.get("kept").await.unwrap();

    let before = site.settled().await;
    move_to(&site, "nobody").await;
    wait::until("a pass waits at the gate", PATIENCE, async || {
        if world.is_waiting.load(Ordering::Relaxed) { Ok(()) } else { Err("no pass".to_owned()) }
    })
    .await;
    move_to(&site, "second").await;
    wait::until("the lister shows the change", PATIENCE, async || {
        let place = world.place(Some(&site.namespace)).map_err(|error| error.to_string())?;
        if place == "second" { Ok(()) } else { Err(place) }
    })
    .await;
    world.gate.add_permits(1);
    let is_moved = |kept: &ConfigMap| entry(kept, "text") == Some("second");
    let kept = until_object(&configs, "kept", "is moved", is_moved).await;
    done(&site).await;
    assert_eq!(kept.uid(), made.uid());
    let deletions = deleted(&site, &before).await;
    assert!(deletions.is_empty(), "{deletions}");

    // The gate is open from now on.
    move_to(&site, "nobody").await;
    until_gone(&configs, "kept").await;
    done(&site).await;
}
