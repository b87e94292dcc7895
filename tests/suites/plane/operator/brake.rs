//! Brakes: a pass that changes nothing for good is not repeated faster than its backoff, whatever it is that wakes it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen::{Backoff, Controller, Enqueue, For, Foreign, NamespacedName, Predicate, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde_json::json;
use tokio::time::Instant;

use super::{
    fight::{self, DELAY, INSISTS, Rivalry, note_says, repaired, repairs, rival},
    kinds::{Errand, ErrandSpec, Note, NoteTree, Outcome, RestlessTree, available},
    probe::Passes,
    site::{Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("brake_the_own_status_write_does_not_end_the_backoff_of_a_fight", own_status),
        case("brake_a_status_that_every_pass_changes_and_that_wakes_the_next_is_slowed_down", status_of_every_pass),
        case("brake_an_annotation_that_another_controller_changes_ends_a_backoff_only_so_often", annotations_of_others),
        case("brake_a_child_that_is_followed_too_and_built_differently_in_every_pass_is_slowed_down", followed_child),
        case("brake_a_hand_written_node_that_changes_an_object_in_every_pass_is_slowed_down", by_hand),
        case("brake_a_hand_written_node_that_fights_with_another_client_is_slowed_down", by_hand_against_a_rival),
        case("brake_a_child_that_the_tree_itself_removes_and_makes_again_is_no_fight", removed_and_made_again),
        case("brake_children_that_have_other_names_in_every_pass_are_slowed_down", other_names),
    ]
}

/// Without a brake there are hundreds of writes in this time.
const BURST: usize = 45;

type Restless = For<Errand, Arc<AtomicU64>>;

async fn errand_says(site: &Site, reason: &str) -> String {
    let of = |errand: &Errand| {
        let status = errand.status.as_ref().map(|status| &status.standard);
        available(status).filter(|(_, said, _)| *said == reason).map(|(.., sentence)| sentence.to_owned())
    };
    let (errands, what) = (site.api::<Errand>(), format!("says {reason}"));
    let errand = until_object(&errands, "one", &what, |errand| of(errand).is_some()).await;
    of(&errand).unwrap_or_default()
}

/// An errand whose every pass is another than the one before.
async fn restless<P>(
    plane: &Arc<Plane>,
    options: impl FnOnce(Controller<Restless>) -> Controller<Restless>,
) -> (Site, Running)
where
    P: Provision<Restless> + Provisioner<Inputs = ()>,
{
    let (site, counter) = (Site::new(plane).await, Arc::new(AtomicU64::new(0)));
    let operator =
        site.operator().controls_with::<Restless, P>(|c| options(c.options(counter).backoff(Backoff::Fixed(DELAY))));
    let running = site.start(&operator).await;
    site.create(&Errand::new("one", ErrandSpec::default())).await;
    (site, running)
}

/// That so many writes have been made before the fight was found, and that they are made at the pace of the backoff from then on.
async fn is_slowed_down(site: &Site, writes: impl AsyncFn(&Site) -> usize) {
    let (before, since) = (writes(site).await, Instant::now());
    assert!(before < BURST, "{before} writes before it was slowed down");
    wait::until("two more writes", PATIENCE * 2, async || match writes(site).await {
        seen if seen >= before + 2 => Ok(()),
        seen => Err(format!("{seen} writes, {before} before")),
    })
    .await;
    assert!(since.elapsed() >= DELAY, "two writes in {:?}", since.elapsed());
}

async fn own_status(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator =
        site.operator().controls_with::<Note, NoteTree>(|controller| controller.when(Predicate::resource_version()));
    let _running = site.start(&operator).await;
    site.create(&fight::note("a")).await;
    note_says(&site, "Provisioned").await;
    let rival = rival(&plane, &site.namespace, Rivalry::Text, INSISTS);
    note_says(&site, "Fighting").await;
    let (before, since) = (repairs(&site).await, Instant::now());
    repaired(&site, before + 2).await;
    assert!(since.elapsed() >= DELAY, "two patches in {:?}", since.elapsed());
    rival.abort();
    note_says(&site, "Provisioned").await;
}

/// Sets another status in every pass.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Flicker;

impl Provision<Restless> for Flicker {
    async fn provision(cx: &Context<'_, Restless, Self>) -> Result<()> {
        let is_even = cx.options().fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        cx.status(|status| status.tried = Some(if is_even { Outcome::Done } else { Outcome::Yield }));
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Restless, Self>) -> Result<()> {
        Ok(())
    }
}

async fn status_of_every_pass(plane: Arc<Plane>) {
    let (site, _running) = restless::<Flicker>(&plane, |c| c.when(Predicate::resource_version())).await;
    let said = errand_says(&site, "Fighting").await;
    assert!(said.contains(&format!("Errand {}/one: its status", site.namespace)), "{said}");
    is_slowed_down(&site, async |site| site.asked().await.verb("update").resource("errands").len()).await;
}

/// Fails on objects that are labelled so.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Grumble;

type Grumbled = For<Foreign<ConfigMap>, Passes>;

impl Provision<Grumbled> for Grumble {
    async fn provision(cx: &Context<'_, Grumbled, Self>) -> Result<()> {
        cx.options().count(cx.object().name_any());
        Err(std::io::Error::other("it never works").into())
    }

    async fn deprovision(_: &Teardown<'_, Grumbled, Self>) -> Result<()> {
        Ok(())
    }
}

async fn annotations_of_others(plane: Arc<Plane>) {
    let (site, passes) = (Site::new(&plane).await, Passes::default());
    let options = passes.clone();
    let operator = site.operator().controls_with::<Grumbled, Grumble>(|controller| {
        controller.options(options).labels([("grumble", "yes")]).backoff(Backoff::Fixed(DELAY))
    });
    let _running = site.start(&operator).await;
    let config = json!({"metadata": {"name": "one", "labels": {"grumble": "yes"}}});
    site.create::<ConfigMap>(&serde_json::from_value(config).unwrap()).await;
    passes.reach("one", 1).await;
    site.settled().await;
    // Whoever it is may be a user.
    let (before, since) = (passes.of("one"), Instant::now());
    site.patch::<ConfigMap>("one", &json!({"metadata": {"annotations": {"leader": "first"}}})).await;
    passes.reach("one", before + 1).await;
    assert!(since.elapsed() < DELAY / 2, "{:?}", since.elapsed());

    let (before, since) = (passes.of("one"), Instant::now());
    for round in 0..INSISTS {
        let leader = json!({"metadata": {"annotations": {"leader": round.to_string()}}});
        site.patch::<ConfigMap>("one", &leader).await;
        site.settled().await;
    }
    let allowed = 10 + usize::try_from(since.elapsed().as_secs() / DELAY.as_secs()).unwrap() + 1;
    let seen = passes.of("one") - before;
    assert!(seen <= allowed, "{seen} passes in {:?}", since.elapsed());
    // Whoever asks for a pass has one.
    let (before, since) = (passes.of("one"), Instant::now());
    site.patch::<ConfigMap>(
        "one",
        &json!({"metadata": {"annotations": {opgen::controller::RECONCILE_ANNOTATION: "now"}}}),
    )
    .await;
    passes.reach("one", before + 1).await;
    assert!(since.elapsed() < DELAY / 2, "{:?}", since.elapsed());
}

fn one(_: &ConfigMap) -> Option<NamespacedName> {
    Some(NamespacedName { name: "one".to_owned(), namespace: None })
}

async fn followed_child(plane: Arc<Plane>) {
    let (site, _running) = restless::<RestlessTree>(&plane, |c| c.watches(Enqueue::map(one))).await;
    let said = errand_says(&site, "Fighting").await;
    assert!(said.contains("its build function returned another object"), "{said}");
    is_slowed_down(&site, async |site| repairs(site).await).await;
}

/// Applies a ConfigMap that counts, as far as it is told to.
#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap: create, patch))]
struct Ticker;

impl Provision<Restless> for Ticker {
    async fn provision(cx: &Context<'_, Restless, Self>) -> Result<()> {
        let count = cx.options().fetch_add(1, Ordering::Relaxed);
        let steady = cx.object().spec.second == Outcome::Yield;
        apply(cx, &if steady { "steady".to_owned() } else { count.to_string() }).await
    }

    async fn deprovision(_: &Teardown<'_, Restless, Self>) -> Result<()> {
        Ok(())
    }
}

async fn apply(cx: &Context<'_, Restless, Ticker>, text: &str) -> Result<()> {
    let config = json!({"metadata": {"name": "one", "namespace": cx.object().namespace()}, "data": {"text": text}});
    cx.apply::<ConfigMap>(&serde_json::from_value(config)?).await.map(drop)
}

async fn by_hand(plane: Arc<Plane>) {
    let (site, _running) = restless::<Ticker>(&plane, |c| c.watches(Enqueue::map(one))).await;
    let said = errand_says(&site, "Fighting").await;
    assert!(said.contains(&format!("ConfigMap {}/one", site.namespace)) && said.contains("Ticker"), "{said}");
    is_slowed_down(&site, async |site| repairs(site).await).await;
    // What it applies does not change any more.
    site.patch::<Errand>("one", &json!({"spec": {"second": "Yield"}})).await;
    errand_says(&site, "Provisioned").await;
}

async fn by_hand_against_a_rival(plane: Arc<Plane>) {
    let (site, _running) = restless::<Ticker>(&plane, |c| c.watches(Enqueue::map(one))).await;
    site.patch::<Errand>("one", &json!({"spec": {"second": "Yield"}})).await;
    let steady = |config: &ConfigMap| super::kinds::text(config) == "steady";
    until_object(&site.api::<ConfigMap>(), "one", "is steady", steady).await;
    errand_says(&site, "Provisioned").await;
    let rival = rival(&plane, &site.namespace, Rivalry::Text, INSISTS * 20);
    let said = errand_says(&site, "Fighting").await;
    assert!(said.contains("Ticker"), "{said}");
    let (before, since) = (repairs(&site).await, Instant::now());
    repaired(&site, before + 2).await;
    assert!(since.elapsed() >= DELAY, "two patches in {:?}", since.elapsed());
    rival.abort();
}

type Switched = For<Errand, Arc<AtomicBool>>;

/// Has its ConfigMap as long as a switch is on.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Switched)]
struct SwitchTree {
    #[provisioner(resource)]
    config: Option<ConfigMap>,
}

impl SwitchTree {
    fn config(draft: &Draft<'_, Switched>) -> Option<ConfigMap> {
        draft.options().load(Ordering::Relaxed).then(ConfigMap::default)
    }
}

async fn removed_and_made_again(plane: Arc<Plane>) {
    let (site, switch) = (Site::new(&plane).await, Arc::new(AtomicBool::new(true)));
    let options = switch.clone();
    let of_switch = |config: &ConfigMap| one(config).filter(|_| config.name_any() == "switch");
    let operator =
        site.operator().controls_with::<Switched, SwitchTree>(|c| c.options(options).watches(Enqueue::map(of_switch)));
    let _running = site.start(&operator).await;
    let metadata = kube::api::ObjectMeta { name: Some("switch".to_owned()), ..kube::api::ObjectMeta::default() };
    site.create(&ConfigMap { metadata, ..ConfigMap::default() }).await;
    site.create(&Errand::new("one", ErrandSpec::default())).await;
    let configs = site.api::<ConfigMap>();
    for round in 0..12 {
        until_object(&configs, "one", "is there", |_| true).await;
        for is_on in [false, true] {
            switch.store(is_on, Ordering::Relaxed);
            site.patch::<ConfigMap>("switch", &json!({"data": {"is": format!("{round} {is_on}")}})).await;
            if !is_on {
                until_gone(&configs, "one").await;
            }
        }
    }
    until_object(&configs, "one", "is there", |_| true).await;
    errand_says(&site, "Provisioned").await;
    assert_eq!(operator.counters().fights(), 0, "it fought with itself");
}

/// Its ConfigMap has another name in every pass.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Restless)]
struct RenamingTree {
    #[provisioner(resource)]
    configs: Vec<ConfigMap>,
}

impl RenamingTree {
    fn configs(draft: &Draft<'_, Restless>) -> Vec<ConfigMap> {
        let number = draft.options().fetch_add(1, Ordering::Relaxed);
        let metadata = kube::api::ObjectMeta { name: Some(format!("n-{number}")), ..kube::api::ObjectMeta::default() };
        vec![ConfigMap { metadata, ..ConfigMap::default() }]
    }
}

async fn other_names(plane: Arc<Plane>) {
    let (site, _running) = restless::<RenamingTree>(&plane, |c| c).await;
    let said = errand_says(&site, "Fighting").await;
    assert!(said.contains("ConfigMap") && said.contains("configs"), "{said}");
    is_slowed_down(&site, async |site| repairs(site).await).await;
}
