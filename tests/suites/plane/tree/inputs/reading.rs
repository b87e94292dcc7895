//! A tree whose nodes read each combination of what a build function can read.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use opgen::{Lister, prelude::*};

use super::super::kinds::{Pool, Shop, entry, holding};

/// The Secret that a hand-written node reads by a call.
pub(super) const LETTER: &str = "letter";

/// An annotation by somebody else on a child that another node reads.
pub(super) const NOTE: &str = "example.com/note";

/// What the options point to.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) text: String,
    pub(super) extra: bool,
}

/// The options of the controller.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) settings: Arc<Mutex<Settings>>,
    /// The labels `text` of the Secrets.
    pub(super) labels: Lister<String>,
    pub(super) passes: Arc<AtomicUsize>,
    /// Whether there is a node that reads what is no input.
    pub(super) smuggles: bool,
}

impl World {
    fn text(&self) -> String {
        self.settings.lock().unwrap().text.clone()
    }

    fn labels(&self, namespace: Option<&str>) -> Result<Vec<String>> {
        let of_namespace =
            |(place, name, text): (&str, &str, &String)| (Some(place) == namespace).then(|| format!("{name}={text}"));
        let mut labels: Vec<_> = self.labels.read(|shown| shown.iter().filter_map(of_namespace).collect())?;
        labels.sort_unstable();
        Ok(labels)
    }
}

pub(super) type Owner = For<Shop, World>;

fn labels(draft: &Draft<'_, Owner>) -> Result<String> {
    Ok(draft.options().labels(draft.metadata.namespace.as_deref())?.join(","))
}

/// How often build functions were called that no pass is to call without need, by namespace and node.
static CALLS: Mutex<BTreeMap<(String, &str), usize>> = Mutex::new(BTreeMap::new());

fn called(shop: &Shop, node: &'static str) {
    *CALLS.lock().unwrap().entry((shop.namespace().unwrap_or_default(), node)).or_default() += 1;
}

pub(super) fn calls(namespace: &str) -> BTreeMap<&'static str, usize> {
    let calls = CALLS.lock().unwrap();
    calls.iter().filter(|((of, _), _)| of == namespace).map(|((_, node), count)| (*node, *count)).collect()
}

/// An input that bypasses all that is tracked: a build function must not read such a thing, and this one does.
pub(super) static SMUGGLED: Mutex<String> = Mutex::new(String::new());

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Owner)]
pub(super) struct Reading {
    #[provisioner(resource)]
    spec: ConfigMap,
    #[provisioner(resource)]
    options: ConfigMap,
    #[provisioner(resource)]
    view: ConfigMap,
    #[provisioner(resource)]
    mixed: ConfigMap,
    #[provisioner(manifest(ConfigMap))]
    text: Manifest,
    #[provisioner(resource)]
    several: Vec<ConfigMap>,
    letter: Letter,
    #[provisioner(from(letter))]
    length: Length,
    #[provisioner(resource, from(letter))]
    given: ConfigMap,
    #[provisioner(resource, from(length))]
    derived: ConfigMap,
    #[provisioner(resource, from(view))]
    object: ConfigMap,
    #[provisioner(resource, from(object))]
    chain: ConfigMap,
    #[provisioner(resource, from(several))]
    list: ConfigMap,
    #[provisioner(resource, from(object, letter))]
    both: ConfigMap,
    #[provisioner(each = |shop| &shop.spec.pools, key = |pool| &pool.key)]
    pools: Pools,
    #[provisioner(each = guests, key = |guest| &guest.key)]
    guests: Items,
    #[provisioner(each = |_, letter| lines(letter), key = |line| &line.key, from(letter))]
    lines: Items,
    #[provisioner(from(view, letter))]
    part: Subresource,
    #[provisioner(from(view))]
    quiet: Quiet,
    #[provisioner(resource, when = has_extra)]
    extra: ConfigMap,
    #[provisioner(resource, when = smuggles)]
    smuggled: ConfigMap,
}

fn has_extra(draft: &Draft<'_, Owner>) -> bool {
    draft.options().settings.lock().unwrap().extra
}

fn smuggles(draft: &Draft<'_, Owner>) -> bool {
    draft.options().smuggles
}

/// Items that follow from the options and from the view.
fn guests(draft: &Draft<'_, Owner>) -> Vec<Pool> {
    let labels = labels(draft).unwrap_or_default();
    let text = draft.options().text();
    let guests = [("by-options", text.len()), ("by-view", labels.len())];
    guests.map(|(key, size)| Pool { size: size.try_into().unwrap(), ..Pool::new(key, key) }).into()
}

/// Items that follow from what a node gives.
fn lines(letter: &str) -> Vec<Pool> {
    let item = |(number, line): (usize, &str)| {
        let name = format!("line-{number}");
        Pool { size: line.len().try_into().unwrap(), ..Pool::new(&name, &name) }
    };
    letter.lines().enumerate().map(item).collect()
}

impl Reading {
    fn spec(shop: &Shop) -> ConfigMap {
        called(shop, "spec");
        holding("spec", &shop.spec.text)
    }

    fn options(draft: &Draft<'_, Owner>) -> ConfigMap {
        holding("options", &draft.options().text())
    }

    fn view(draft: &Draft<'_, Owner>) -> Result<ConfigMap> {
        Ok(holding("view", &labels(draft)?))
    }

    fn mixed(draft: &Draft<'_, Owner>) -> Result<ConfigMap> {
        Ok(holding("mixed", &format!("{} {} {}", draft.spec.text, draft.options().text(), labels(draft)?)))
    }

    fn text(draft: &Draft<'_, Owner>) -> Manifest {
        serde_json::to_string(&holding("text", &draft.options().text())).unwrap().into()
    }

    fn several(shop: &Shop) -> Vec<ConfigMap> {
        called(shop, "several");
        let one = |pool: &Pool| holding(&format!("several-{}", pool.key), &pool.size.to_string());
        shop.spec.pools.iter().map(one).collect()
    }

    fn given(_: &Shop, letter: &str) -> ConfigMap {
        holding("given", letter)
    }

    fn derived(_: &Shop, length: &usize) -> ConfigMap {
        holding("derived", &length.to_string())
    }

    fn object(shop: &Shop, view: &ConfigMap) -> ConfigMap {
        called(shop, "object");
        holding("object", &seen(view))
    }

    fn chain(shop: &Shop, object: &ConfigMap) -> ConfigMap {
        called(shop, "chain");
        holding("chain", &seen(object))
    }

    fn list(shop: &Shop, several: &[ConfigMap]) -> ConfigMap {
        called(shop, "list");
        holding("list", &several.iter().map(seen).collect::<Vec<_>>().join(","))
    }

    fn both(_: &Shop, object: &ConfigMap, letter: &str) -> ConfigMap {
        holding("both", &format!("{} {letter}", seen(object)))
    }

    fn extra(shop: &Shop) -> ConfigMap {
        holding("extra", &shop.spec.text)
    }

    fn smuggled(_: &Shop) -> ConfigMap {
        holding("smuggled", &SMUGGLED.lock().unwrap())
    }
}

/// Content and annotation of a child that is read.
fn seen(config: &ConfigMap) -> String {
    let note = config.annotations().get(NOTE).map(String::as_str).unwrap_or_default();
    format!("{}:{note}", entry(config, "text").unwrap_or_default())
}

/// Gives what the Secret says, as a call reads it.
#[derive(Debug, Provisioner)]
#[provisioner(access(Secret: get), output = String)]
pub(super) struct Letter;

impl Provision<Owner> for Letter {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        cx.options().passes.fetch_add(1, Ordering::Relaxed);
        let data = cx.find::<Secret>(LETTER).await?.and_then(|secret| secret.data).unwrap_or_default();
        let text = data.get("text").map(|text| String::from_utf8_lossy(&text.0).into_owned());
        cx.set_output(text.unwrap_or_default());
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

/// Gives what follows from another node's value.
#[derive(Debug, Provisioner)]
#[provisioner(access(), inputs(letter: String), output = usize)]
pub(super) struct Length;

impl Provision<Owner> for Length {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        cx.set_output(cx.inputs().0.get()?.len());
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}

/// Of a pool, one node that reads the item alone, one that reads options, and one that reads another.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Each<Owner, Pool>)]
pub(super) struct Pools {
    #[provisioner(resource)]
    item: ConfigMap,
    #[provisioner(resource)]
    options: ConfigMap,
    #[provisioner(resource, from(options))]
    object: ConfigMap,
}

impl Pools {
    fn item(draft: &Draft<'_, Each<Owner, Pool>>) -> ConfigMap {
        called(draft.owner, "pools/item");
        holding(&format!("pool-{}", draft.key), &draft.size.to_string())
    }

    fn options(draft: &Draft<'_, Each<Owner, Pool>>) -> ConfigMap {
        holding(&format!("pool-{}-options", draft.key), &draft.options().text())
    }

    fn object(pool: &Pool, options: &ConfigMap) -> ConfigMap {
        holding(&format!("pool-{}-object", pool.key), &seen(options))
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Each<Owner, Pool>)]
pub(super) struct Items {
    #[provisioner(resource)]
    item: ConfigMap,
}

impl Items {
    fn item(item: &Pool) -> ConfigMap {
        holding(&item.name, &item.size.to_string())
    }
}

/// A group that has an object and a value.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner, inputs(view: ConfigMap, letter: String))]
pub(super) struct Subresource {
    #[provisioner(resource, from(letter))]
    letter_below: ConfigMap,
    #[provisioner(resource, from(view))]
    view_below: ConfigMap,
    #[provisioner(resource)]
    options_below: ConfigMap,
}

impl Subresource {
    fn letter_below(_: &Shop, letter: &str) -> ConfigMap {
        holding("letter-below", letter)
    }

    fn view_below(_: &Shop, view: &ConfigMap) -> ConfigMap {
        holding("view-below", &seen(view))
    }

    fn options_below(draft: &Draft<'_, Owner>) -> ConfigMap {
        holding("options-below", &draft.options().text())
    }
}

/// A group that has an object alone, so that its nodes can be skipped.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner, inputs(view: ConfigMap))]
pub(super) struct Quiet {
    #[provisioner(resource, from(view))]
    quiet: ConfigMap,
}

impl Quiet {
    fn quiet(shop: &Shop, view: &ConfigMap) -> ConfigMap {
        called(shop, "quiet/quiet");
        holding("quiet", &seen(view))
    }
}
