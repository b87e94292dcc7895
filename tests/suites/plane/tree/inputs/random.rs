//! Random changes of all that build functions can read, in random order: what an operator makes that remembers its builds is
//! what one without memory makes, and where nothing has changed, nothing is built or written.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, atomic::Ordering},
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use opgen::{
    Channel, NamespacedName, Operator, RunOptions,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{
    Form, Plane,
    wait::{self, PATIENCE},
};
use serde_json::{Value, json};

use super::{
    super::kinds::{Pool, SHOP, Shop, ShopSpec, done, entry, named, shop, written},
    reading::{LETTER, NOTE, Owner, Reading, SMUGGLED, Settings, World, calls},
};
use crate::operator::site::{Running, Site};

/// What build functions read, and what else may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Input {
    Text,
    Pools,
    Options,
    Extra,
    /// A label that a view shows.
    Label,
    /// A Secret that is in the view, or isn't.
    Member,
    /// An object that is read by a call.
    Letter,
    /// An annotation of somebody else on a child that another node reads.
    Note,
    /// A child is changed by somebody else.
    Drift,
    /// A child is deleted by somebody else.
    Loss,
    /// What no pass can know of.
    Smuggled,
}

const INPUTS: [Input; 10] = [
    Input::Text,
    Input::Pools,
    Input::Options,
    Input::Extra,
    Input::Label,
    Input::Member,
    Input::Letter,
    Input::Note,
    Input::Drift,
    Input::Loss,
];

/// What has the build functions of nodes called that are skipped otherwise, while the owner is what it was.
fn causes(node: &str) -> &'static [Input] {
    match node {
        "object" | "chain" | "quiet/quiet" => &[Input::Label, Input::Member, Input::Note, Input::Drift, Input::Loss],
        "spec" | "several" | "list" | "pools/item" => &[Input::Drift, Input::Loss],
        _ => &[],
    }
}

/// A place with a shop, and the operator's knowledge.
struct Place {
    site: Site,
    world: World,
    channel: Channel,
}

impl Place {
    async fn new(plane: &Arc<Plane>, settings: &Arc<Mutex<Settings>>, smuggles: bool) -> Self {
        let site = Site::new(plane).await;
        let place = Self::with(site, World { settings: settings.clone(), smuggles, ..World::default() });
        place.site.install(&place.operator()).await;
        for name in [LETTER, "said"] {
            place.site.create(&Secret { metadata: named(name), ..Secret::default() }).await;
        }
        place.site.create(&shop(ShopSpec { text: "first".to_owned(), ..ShopSpec::default() })).await;
        place
    }

    fn with(site: Site, world: World) -> Self {
        Self { site, world, channel: Channel::new() }
    }

    fn operator(&self) -> Operator {
        self.site.operator().controls_with::<Owner, Reading>(|controller| {
            let text =
                |labels: Option<&BTreeMap<String, String>>| labels.and_then(|labels| labels.get("text")).cloned();
            controller.options(self.world.clone()).channel(&self.channel).metadata_lister::<Secret, _, _, _>(
                &self.world.labels,
                move |metadata| text(metadata.labels.as_ref()).unwrap_or_default(),
                |_, _| [NamespacedName { name: SHOP.to_owned(), namespace: None }],
            )
        })
    }

    async fn run(&self) -> Running {
        self.site.run(&self.operator(), RunOptions::default()).await
    }

    /// As a process that has just begun.
    fn without_memory(self) -> Self {
        let world = World { settings: self.world.settings, smuggles: self.world.smuggles, ..World::default() };
        Self::with(self.site, world)
    }

    /// Has the shop looked at, and waits until all is done.
    async fn settle(&self) {
        let before = self.world.passes.load(Ordering::Relaxed);
        self.channel.push(NamespacedName::in_namespace(&self.site.namespace, SHOP));
        wait::until("a pass", PATIENCE, async || {
            let passes = self.world.passes.load(Ordering::Relaxed);
            if passes > before { Ok(()) } else { Err(format!("{passes} passes")) }
        })
        .await;
        done(&self.site).await;
        self.site.settled().await;
        done(&self.site).await;
    }

    /// Lets a process bring all up to date that knows nothing of what was before.
    async fn settle_without_memory(&self) {
        let running = self.run().await;
        self.settle().await;
        drop(running);
    }

    /// The children with their nodes and their content.
    async fn children(&self) -> BTreeMap<String, String> {
        let all = self.site.api::<ConfigMap>().list(&ListParams::default()).await.unwrap();
        let of_operator = all.items.into_iter().filter_map(|config| {
            let node = config.annotations().get("opgen.dev/node")?;
            let note = config.annotations().get(NOTE);
            Some((config.name_any(), format!("node {node}, {:?}, note {note:?}", entry(&config, "text"))))
        });
        of_operator.collect()
    }

    async fn version(&self) -> Option<String> {
        self.site.api::<Shop>().get(SHOP).await.unwrap().resource_version()
    }
}

/// Chance that repeats itself.
struct Dice(Seeded);

impl Dice {
    fn below(&self, end: usize) -> usize {
        usize::try_from(self.0.bits() >> 33).unwrap_or_default() % end
    }

    fn word(&self) -> String {
        ["a", "bb", "ccc", "dddd"][self.below(4)].repeat(1 + self.below(3))
    }

    fn pools(&self) -> Vec<Pool> {
        let keys: BTreeSet<_> = (0..self.below(4)).map(|_| ["one", "two", "three"][self.below(3)]).collect();
        keys.into_iter().map(|key| Pool { size: 1 + i32::from(self.below(3) == 0), ..Pool::new(key, key) }).collect()
    }
}

/// Changes an input in all places alike.
async fn change(places: [&Place; 2], input: Input, dice: &Dice) {
    let (word, pools) = (dice.word(), dice.pools());
    let child = ["view", "object", "spec", "options", "given", "list"][dice.below(6)];
    match input {
        Input::Options => places[0].world.settings.lock().unwrap().text.clone_from(&word),
        Input::Extra => places[0].world.settings.lock().unwrap().extra ^= true,
        Input::Smuggled => SMUGGLED.lock().unwrap().push_str(&word),
        _ => {}
    }
    for Place { site, .. } in places {
        match input {
            Input::Text => drop(site.patch::<Shop>(SHOP, &json!({"spec": {"text": word}})).await),
            Input::Pools => drop(site.patch::<Shop>(SHOP, &json!({"spec": {"pools": pools}})).await),
            Input::Label => {
                drop(site.patch::<Secret>("said", &json!({"metadata": {"labels": {"text": word}}})).await);
            }
            Input::Member if site.api::<Secret>().get_opt("member").await.unwrap().is_some() => {
                site.delete::<Secret>("member").await;
            }
            Input::Member => drop(site.create(&Secret { metadata: named("member"), ..Secret::default() }).await),
            Input::Letter => {
                drop(site.patch::<Secret>(LETTER, &json!({"stringData": {"text": word.replace('b', "\n")}})).await)
            }
            Input::Note => patch_child(site, "view", &json!({"metadata": {"annotations": {NOTE: word}}})).await,
            Input::Drift => patch_child(site, child, &json!({"data": {"text": format!("not {word}")}})).await,
            Input::Loss => drop(site.api::<ConfigMap>().delete(child, &DeleteParams::default()).await),
            Input::Options | Input::Extra | Input::Smuggled => {}
        }
    }
}

/// It may be gone for a moment.
async fn patch_child(site: &Site, name: &str, patch: &Value) {
    let params = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
    drop(site.api::<ConfigMap>().patch(name, &params, &Patch::Merge(patch)).await);
}

/// How a run of changes differs from what must be.
pub(super) struct Wrong(pub(super) String);

/// Lets chance change the inputs of a tree, with what no pass can know of if it smuggles.
pub(super) async fn lives(plane: &Arc<Plane>, seed: u64, smuggles: bool) -> Result<(), Wrong> {
    let dice = Dice(Seeded::new(seed));
    let settings = Arc::<Mutex<Settings>>::default();
    let live = Place::new(plane, &settings, smuggles).await;
    let mut fresh = Place::new(plane, &settings, smuggles).await;
    let _running = live.run().await;
    live.settle().await;
    fresh.settle_without_memory().await;
    let steps = if plane.form() == Form::Sandbox { 12 } else { 6 };
    for step in 0..steps {
        let (calls_before, version) = (calls(&live.site.namespace), live.version().await);
        let asked = live.site.asked().await;
        let mut changed = BTreeSet::new();
        for _ in 0..=dice.below(3) {
            let inputs = INPUTS.iter().chain(smuggles.then_some(&Input::Smuggled));
            let input = *inputs.clone().nth(dice.below(inputs.count())).unwrap();
            change([&live, &fresh], input, &dice).await;
            changed.insert(input);
            if input == Input::Loss {
                // Where nobody runs, it is not there again for what comes next.
                break;
            }
            // The next one comes at once, while a pass goes on, or when that is over.
            match dice.below(3) {
                0 => live.settle().await,
                1 => live.channel.push(NamespacedName::in_namespace(&live.site.namespace, SHOP)),
                _ => {}
            }
        }
        live.settle().await;
        let wrong = |what: String| Wrong(format!("seed {seed}, step {step}, after {changed:?}: {what}"));
        // Whoever deletes an object asks all nodes whether one wants it.
        let deleted = written(&live.site, &asked).await.verb("delete");
        if live.version().await == version && deleted.is_empty() {
            needless(&calls_before, &calls(&live.site.namespace), &changed).map_err(wrong)?;
        }
        fresh = fresh.without_memory();
        fresh.settle_without_memory().await;
        differences(&live.children().await, &fresh.children().await).map_err(wrong)?;
        idle(&live).await.map_err(wrong)?;
    }
    Ok(())
}

/// Nodes whose build functions were called although nothing that they read has changed.
fn needless(
    before: &BTreeMap<&str, usize>,
    now: &BTreeMap<&'static str, usize>,
    changed: &BTreeSet<Input>,
) -> Result<(), String> {
    let was_called = |node: &&str| before.get(*node) != now.get(*node);
    let has_cause = |node: &&str| causes(node).iter().any(|cause| changed.contains(cause));
    match now.keys().find(|node| was_called(node) && !has_cause(node)) {
        Some(node) => Err(format!("{node} was built though nothing that it reads has changed")),
        None => Ok(()),
    }
}

fn differences(live: &BTreeMap<String, String>, fresh: &BTreeMap<String, String>) -> Result<(), String> {
    let names: BTreeSet<_> = live.keys().chain(fresh.keys()).collect();
    let differing = names.into_iter().filter(|name| live.get(*name) != fresh.get(*name));
    let lines: Vec<_> =
        differing.map(|name| format!("{name} is {:?} instead of {:?}", live.get(name), fresh.get(name))).collect();
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
}

/// A pass over what is as it was builds nothing that can be skipped, and writes nothing.
async fn idle(live: &Place) -> Result<(), String> {
    let (asked, before) = (live.site.settled().await, calls(&live.site.namespace));
    live.settle().await;
    needless(&before, &calls(&live.site.namespace), &BTreeSet::new())?;
    let writes = written(&live.site, &asked).await;
    if writes.is_empty() { Ok(()) } else { Err(format!("written though nothing has changed:\n{writes}")) }
}
