//! Tests upgrades between two releases in which random tree nodes own each object: an object that moves to another node is kept.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{CustomResource, api::ObjectMeta};
use opgen::{Operator, prelude::*};
use opgen_testing::{Check, Report, trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "upgrade.example.com", version = "v1", kind = "Rack", namespaced, status = "Status")]
pub struct RackSpec {
    #[serde(default)]
    text: String,
}

/// The node that owns an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nobody,
    First,
    Second,
    Item(&'static str),
    Once,
    Text,
    Behind,
}

const PLACES: [Place; 9] = [
    Place::Nobody,
    Place::First,
    Place::Second,
    Place::Item("a"),
    Place::Item("b"),
    Place::Once,
    Place::Text,
    Place::Behind,
    Place::First,
];

const NAMES: [&str; 5] = ["one", "two", "three", "four", "five"];

/// A release: the form of its tree, and the node of each object.
#[derive(Clone, Debug)]
struct Release {
    form: Form,
    places: [Place; NAMES.len()],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Serial,
    Concurrent,
    /// The first and the second node have other names, the former ones are retired, and the order is another one.
    Renamed,
}

/// The objects of a release with their nodes, as options of the operator.
#[derive(Clone, Debug, Default)]
pub struct Places(Arc<Vec<(&'static str, Place)>>);

impl Places {
    fn of(&self, place: Place) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter(move |(_, owner)| *owner == place).map(|(name, _)| *name)
    }

    fn configs(&self, place: Place) -> Vec<ConfigMap> {
        self.of(place).map(config).collect()
    }
}

fn config(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some([("name".to_owned(), name.to_owned())].into()), ..ConfigMap::default() }
}

fn text(places: &Places) -> Manifest {
    let texts = places.configs(Place::Text);
    let texts: Vec<String> = texts.iter().map(|config| serde_json::to_string(config).unwrap()).collect();
    texts.join("\n---\n").into()
}

fn password(draft: &Draft<'_, Owner>) -> Secret {
    let metadata = ObjectMeta { name: Some("password".to_owned()), ..ObjectMeta::default() };
    let content = [("password".to_owned(), draft.random_text(22))].into();
    Secret { metadata, string_data: Some(content), ..Secret::default() }
}

type Owner = For<Rack, Places>;

fn has_second(draft: &Draft<'_, Owner>) -> bool {
    draft.options().of(Place::Second).next().is_some()
}

fn keys(draft: &Draft<'_, Owner>) -> Vec<&'static str> {
    ["a", "b"].into_iter().filter(|key| draft.options().of(Place::Item(key)).next().is_some()).collect()
}

/// The objects of an item of the rack.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Each<Owner, &'static str>)]
pub struct Items {
    #[provisioner(resource)]
    configs: Vec<ConfigMap>,
}

impl Items {
    fn configs(draft: &Draft<'_, Each<Owner, &'static str>>) -> Vec<ConfigMap> {
        draft.options().configs(Place::Item(**draft))
    }
}

/// Outputs a value that later nodes need.
#[derive(Debug, Provisioner)]
#[provisioner(access(), output = usize)]
pub struct Value;

impl Provision<Owner> for Value {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        cx.set_output(cx.options().0.len());
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

/// The build functions of a tree, by the names of the renamed nodes.
macro_rules! builds {
    ($tree:ident, $first:ident, $second:ident, $password:ident) => {
        impl $tree {
            fn $first(draft: &Draft<'_, Owner>) -> Vec<ConfigMap> {
                draft.options().configs(Place::First)
            }

            fn $second(draft: &Draft<'_, Owner>) -> Vec<ConfigMap> {
                draft.options().configs(Place::Second)
            }

            fn once(draft: &Draft<'_, Owner>) -> Vec<ConfigMap> {
                draft.options().configs(Place::Once)
            }

            fn text(draft: &Draft<'_, Owner>) -> Manifest {
                text(draft.options())
            }

            fn behind(draft: &Draft<'_, Owner>, _: &usize) -> Vec<ConfigMap> {
                draft.options().configs(Place::Behind)
            }

            fn $password(draft: &Draft<'_, Owner>) -> Secret {
                password(draft)
            }
        }
    };
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner, retired(front: ConfigMap, back: ConfigMap, secret: Secret))]
pub struct Serial {
    #[provisioner(resource)]
    first: Vec<ConfigMap>,
    #[provisioner(resource, when = has_second)]
    second: Vec<ConfigMap>,
    #[provisioner(each = keys, key = |key| key)]
    items: Items,
    #[provisioner(resource(once))]
    once: Vec<ConfigMap>,
    #[provisioner(manifest(ConfigMap))]
    text: Manifest,
    value: Value,
    #[provisioner(resource, from(value))]
    behind: Vec<ConfigMap>,
    #[provisioner(resource(once))]
    password: Secret,
}

builds!(Serial, first, second, password);

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Owner, retired(front: ConfigMap, back: ConfigMap, secret: Secret))]
pub struct Concurrent {
    value: Value,
    #[provisioner(resource, from(value))]
    behind: Vec<ConfigMap>,
    #[provisioner(manifest(ConfigMap))]
    text: Manifest,
    #[provisioner(resource)]
    first: Vec<ConfigMap>,
    #[provisioner(each = keys, key = |key| key)]
    items: Items,
    #[provisioner(resource, when = has_second)]
    second: Vec<ConfigMap>,
    #[provisioner(resource(once))]
    once: Vec<ConfigMap>,
    #[provisioner(resource(once))]
    password: Secret,
}

builds!(Concurrent, first, second, password);

/// The nodes of the other two trees with other names and in another order.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner, retired(first: ConfigMap, second: ConfigMap, password: Secret))]
pub struct Renamed {
    #[provisioner(manifest(ConfigMap))]
    text: Manifest,
    #[provisioner(each = keys, key = |key| key)]
    items: Items,
    #[provisioner(resource(once))]
    once: Vec<ConfigMap>,
    value: Value,
    #[provisioner(resource, from(value))]
    behind: Vec<ConfigMap>,
    #[provisioner(resource, when = has_second)]
    back: Vec<ConfigMap>,
    #[provisioner(resource)]
    front: Vec<ConfigMap>,
    #[provisioner(resource(once))]
    secret: Secret,
}

builds!(Renamed, front, back, secret);

impl Release {
    fn random(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let forms = [Form::Serial, Form::Concurrent, Form::Renamed];
        Self {
            form: forms[random.usize(..forms.len())],
            places: [(); NAMES.len()].map(|()| PLACES[random.usize(..PLACES.len())]),
        }
    }

    fn operator(&self) -> Operator {
        let places = Places(Arc::new(NAMES.into_iter().zip(self.places).collect()));
        let operator = Operator::new("rack");
        match self.form {
            Form::Serial => operator.controls_with::<Owner, Serial>(|controller| controller.options(places)),
            Form::Concurrent => operator.controls_with::<Owner, Concurrent>(|controller| controller.options(places)),
            Form::Renamed => operator.controls_with::<Owner, Renamed>(|controller| controller.options(places)),
        }
    }
}

fn upgrade(older: &Release, newer: &Release, seeds: u64) -> Report {
    let (older, newer) = (older.clone(), newer.clone());
    trial(move || newer.operator())
        .upgrades_from(move || older.operator())
        .sample(&Rack::new("rack", RackSpec::default()))
        .only([Check::Upgrade])
        .seeds(0..seeds)
        .run()
}

/// The number of pairs of releases; `OPGEN_UPGRADES` overrides it.
const PAIRS: u64 = 6;

#[test]
fn objects_that_move_between_random_nodes_are_kept() {
    let pairs = std::env::var("OPGEN_UPGRADES").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(PAIRS);
    for pair in 0..pairs {
        let (older, newer) = (Release::random(2 * pair), Release::random(2 * pair + 1));
        let report = upgrade(&older, &newer, 1);
        assert!(report.is_clean(), "pair {pair}, from {older:?} to {newer:?}: {report}");
        assert!(report.runs() > 10, "{report}");
    }
}
