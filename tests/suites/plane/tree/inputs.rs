//! A build function is called again when anything that it reads has changed, and not while nothing has.

mod random;
mod reading;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use libtest_mimic::Trial;
use opgen::{Lister, NamespacedName, prelude::*};
use opgen_tests::{Form, Plane, case, long, wait::until_object};
use serde_json::json;

use super::kinds::{Pool, SHOP, Shop, ShopSpec, done, entry, holding, named, shop};
use crate::operator::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_inputs_a_build_function_is_called_again_when_what_it_reads_has_changed", follows_its_inputs),
        case("node_inputs_random_changes_lead_to_what_an_operator_without_memory_builds", random_changes),
        long(case("node_inputs_one_that_bypasses_what_is_tracked_is_found", smuggled)),
    ]
}

/// What the operator knows beside the object of a pass.
#[derive(Clone, Debug, Default)]
struct World {
    /// What the Secrets of a namespace say.
    said: Lister<String>,
    /// What somebody sets while the operator runs.
    set: Arc<Mutex<String>>,
}

type Owner = For<Shop, World>;

impl World {
    fn said(&self, namespace: Option<&str>) -> Result<String> {
        self.said.read(|shown| shown.get(namespace.unwrap_or_default(), "said").cloned().unwrap_or_default())
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Owner)]
struct Readers {
    #[provisioner(resource)]
    options: ConfigMap,
    #[provisioner(resource)]
    view: ConfigMap,
    #[provisioner(each = items, key = |item| &item.key)]
    items: Items,
    value: Value,
    #[provisioner(resource, from(value))]
    given: ConfigMap,
    #[provisioner(resource, from(view))]
    object: ConfigMap,
    #[provisioner(resource)]
    nothing: ConfigMap,
}

static CALLS_OF_NOTHING: AtomicUsize = AtomicUsize::new(0);

impl Readers {
    fn options(draft: &Draft<'_, Owner>) -> ConfigMap {
        holding("options", &draft.options().set.lock().unwrap())
    }

    fn view(draft: &Draft<'_, Owner>) -> Result<ConfigMap> {
        Ok(holding("view", &draft.options().said(draft.metadata.namespace.as_deref())?))
    }

    fn given(_: &Shop, value: &str) -> ConfigMap {
        holding("given", value)
    }

    fn object(_: &Shop, view: &ConfigMap) -> ConfigMap {
        holding("object", entry(view, "text").unwrap_or_default())
    }

    fn nothing(shop: &Shop) -> ConfigMap {
        CALLS_OF_NOTHING.fetch_add(1, Ordering::Relaxed);
        holding("nothing", &shop.spec.text)
    }
}

fn items(draft: &Draft<'_, Owner>) -> Vec<Pool> {
    let said = draft.options().said(draft.metadata.namespace.as_deref()).unwrap_or_default();
    vec![Pool { size: said.len().try_into().unwrap(), ..Pool::new("one", "item") }]
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Each<Owner, Pool>)]
struct Items {
    #[provisioner(resource)]
    item: ConfigMap,
}

impl Items {
    fn item(pool: &Pool) -> ConfigMap {
        holding(&pool.name, &pool.size.to_string())
    }
}

/// Gives what the Secret says.
#[derive(Debug, Provisioner)]
#[provisioner(access(), output = String)]
struct Value;

impl Provision<Owner> for Value {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        cx.set_output(cx.options().said(cx.object().metadata.namespace.as_deref())?);
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

async fn follows_its_inputs(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let mut metadata = named("said");
    metadata.labels = Some([("text".to_owned(), "a".to_owned())].into());
    site.create(&Secret { metadata, ..Secret::default() }).await;
    let world = World::default();
    let operator = site.operator().controls_with::<Owner, Readers>(|controller| {
        controller.options(world.clone()).metadata_lister::<Secret, _, _, _>(
            &world.said,
            |metadata| metadata.labels.as_ref().and_then(|labels| labels.get("text")).cloned().unwrap_or_default(),
            |_, _| [NamespacedName { name: SHOP.to_owned(), namespace: None }],
        )
    });
    let _running = site.start(&operator).await;
    site.create(&shop(ShopSpec { text: "fixed".to_owned(), ..ShopSpec::default() })).await;
    done(&site).await;
    let configs = site.api::<ConfigMap>();
    let says = async |name: &str, text: &str| {
        until_object(&configs, name, &format!("says {text}"), |config| entry(config, "text") == Some(text)).await
    };
    for (name, text) in [("view", "a"), ("given", "a"), ("object", "a"), ("item", "1"), ("options", "")] {
        says(name, text).await;
    }
    site.settled().await;
    let calls = CALLS_OF_NOTHING.load(Ordering::Relaxed);

    "set".clone_into(&mut world.set.lock().unwrap());
    site.patch::<Secret>("said", &json!({"metadata": {"labels": {"text": "other"}}})).await;
    for (name, text) in [("view", "other"), ("given", "other"), ("object", "other"), ("item", "5"), ("options", "set")]
    {
        says(name, text).await;
    }
    site.settled().await;
    assert_eq!(
        CALLS_OF_NOTHING.load(Ordering::Relaxed),
        calls,
        "a build function whose inputs are the same is skipped"
    );
}

/// One seed on a server, where each step waits for its events.
async fn random_changes(plane: Arc<Plane>) {
    let seeds = if plane.form() == Form::Sandbox { 0..4 } else { 0..1 };
    for seed in seeds {
        if let Err(random::Wrong(what)) = random::lives(&plane, seed, false).await {
            panic!("{what}");
        }
    }
}

/// The oracle of the random changes finds a node that reads what no pass can know of.
async fn smuggled(plane: Arc<Plane>) {
    for seed in 0..4 {
        if let Err(random::Wrong(what)) = random::lives(&plane, seed, true).await {
            assert!(what.contains("\nsmuggled is ") || what.contains(": smuggled is "), "{what}");
            return;
        }
    }
    panic!("nothing was found");
}
