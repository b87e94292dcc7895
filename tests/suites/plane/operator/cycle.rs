//! Tests that passes of two primaries which cause each other, by whatever they write, are found and slowed down, and that a change
//! which runs through many primaries is not.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, api::ObjectMeta};
use libtest_mimic::Trial;
use opgen::{Backoff, Enqueue, Lister, NamespacedName, ObjectKey, Predicate, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

use super::{
    fight::{self, DELAY, note_says, repairs},
    kinds::{Errand, ErrandSpec, Note, available, text},
    site::Site,
};

mod rollout;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("brake_an_object_that_many_others_take_turns_with_is_in_no_cycle", rollout::by_turns),
        case("brake_two_primaries_that_are_built_from_each_others_children_are_slowed_down", endless),
        case("brake_hand_written_nodes_that_read_what_each_other_write_are_slowed_down", by_hand),
        case("brake_children_that_exist_because_the_other_does_or_does_not_are_slowed_down", by_existence),
        case("brake_two_objects_that_copy_each_others_status_are_slowed_down", status),
        case("brake_a_change_of_a_status_that_runs_through_many_objects_is_no_cycle", line),
        case("brake_a_child_that_another_primary_is_built_from_may_change_often", often),
    ]
}

/// The numbers in the ConfigMaps of both kinds.
type Numbers = Lister<u64>;
/// The maximum number of writes before the cycle is slowed down. Each of the two first passes starts a chain, which is a cycle after 31
/// writes; the rest is for writes of the same passes, such as their statuses.
const BURST: usize = 2 * 45;
/// No number is higher, so that a cycle that is not slowed down ends and the case fails.
const HIGHEST: u64 = 400;
/// The number of objects, each of which reads the one before.
const LENGTH: i64 = 50;

/// Its ConfigMap holds the number after that of the note.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = For<Errand, Numbers>)]
struct AfterNoteTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl AfterNoteTree {
    fn config(draft: &Draft<'_, For<Errand, Numbers>>) -> Result<ConfigMap> {
        let namespace = draft.metadata.namespace.as_deref().unwrap_or_default();
        after("of-errand", draft.options(), namespace, "of-note")
    }
}

/// Its ConfigMap holds the number after that of the errand, or the text of the note if that is a number.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = For<Note, Numbers>)]
struct AfterErrandTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl AfterErrandTree {
    fn config(draft: &Draft<'_, For<Note, Numbers>>) -> Result<ConfigMap> {
        let namespace = draft.metadata.namespace.as_deref().unwrap_or_default();
        match draft.spec.text.parse() {
            Ok(number) => numbered("of-note", number),
            Err(_) => after("of-note", draft.options(), namespace, "of-errand"),
        }
    }
}

/// Applies the same ConfigMaps as the trees of resources.
#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap: create, patch))]
struct ByHand;

impl Provision<For<Errand, Numbers>> for ByHand {
    async fn provision(cx: &Context<'_, For<Errand, Numbers>, Self>) -> Result<()> {
        let namespace = cx.object().metadata.namespace.as_deref().unwrap_or_default();
        let config = after("of-errand", cx.options(), namespace, "of-note")?;
        cx.apply::<ConfigMap>(&config).await.map(drop)
    }

    async fn deprovision(_: &Teardown<'_, For<Errand, Numbers>, Self>) -> Result<()> {
        Ok(())
    }
}

impl Provision<For<Note, Numbers>> for ByHand {
    async fn provision(cx: &Context<'_, For<Note, Numbers>, Self>) -> Result<()> {
        let namespace = cx.object().metadata.namespace.as_deref().unwrap_or_default();
        let config = match cx.object().spec.text.parse() {
            Ok(number) => numbered("of-note", number)?,
            Err(_) => after("of-note", cx.options(), namespace, "of-errand")?,
        };
        cx.apply::<ConfigMap>(&config).await.map(drop)
    }

    async fn deprovision(_: &Teardown<'_, For<Note, Numbers>, Self>) -> Result<()> {
        Ok(())
    }
}

/// Returns a ConfigMap with the number after that of another one.
fn after(name: &str, numbers: &Numbers, namespace: &str, other: &str) -> Result<ConfigMap> {
    let number = numbers.read(|objects| objects.get(namespace, other).copied().unwrap_or(0))?;
    numbered(name, HIGHEST.min(number + 1))
}

fn numbered(name: &str, number: u64) -> Result<ConfigMap> {
    Ok(ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("text".to_owned(), number.to_string())])),
        ..ConfigMap::default()
    })
}

fn number(config: &ConfigMap) -> u64 {
    text(config).parse().unwrap_or(0)
}

/// The primary `one` for a change of the ConfigMap `name`.
fn one_for(name: &'static str) -> impl Fn(&ObjectKey, &u64) -> Option<NamespacedName> {
    move |key, _| {
        (key.name() == name)
            .then(|| NamespacedName { name: "one".to_owned(), namespace: key.namespace().map(str::to_owned) })
    }
}

fn operator<E, N>(site: &Site) -> Operator
where
    E: Provision<For<Errand, Numbers>> + Provisioner<Inputs = ()>,
    N: Provision<For<Note, Numbers>> + Provisioner<Inputs = ()>,
{
    let (for_errands, for_notes) = (Numbers::default(), Numbers::default());
    site.operator()
        .controls_with::<For<Errand, Numbers>, E>(|controller| {
            let controller = controller.options(for_errands.clone()).backoff(Backoff::Fixed(DELAY));
            controller.lister::<ConfigMap, _, _, _>(&for_errands, number, one_for("of-note"))
        })
        .controls_with::<For<Note, Numbers>, N>(|controller| {
            let controller = controller.options(for_notes.clone()).backoff(Backoff::Fixed(DELAY));
            controller.lister::<ConfigMap, _, _, _>(&for_notes, number, one_for("of-errand"))
        })
}

async fn endless(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    slowed_down(&site, &operator::<AfterNoteTree, AfterErrandTree>(&site)).await;
}

async fn by_hand(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    slowed_down(&site, &operator::<ByHand, ByHand>(&site)).await;
}

/// Its ConfigMap exists if that of the note does.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = For<Errand, Numbers>)]
struct IfNoteTree {
    #[provisioner(resource)]
    config: Option<ConfigMap>,
}

impl IfNoteTree {
    fn config(draft: &Draft<'_, For<Errand, Numbers>>) -> Result<Option<ConfigMap>> {
        let namespace = draft.metadata.namespace.as_deref().unwrap_or_default();
        let is_there = draft.options().read(|objects| objects.get(namespace, "of-note").is_some())?;
        is_there.then(|| numbered("of-errand", 1)).transpose()
    }
}

/// Counts the builds, so that a cycle that is not slowed down ends.
type Counted = For<Note, (Numbers, Arc<AtomicU64>)>;

/// Its ConfigMap exists if that of the errand does not, or if the note has a number.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Counted)]
struct UnlessErrandTree {
    #[provisioner(resource)]
    config: Option<ConfigMap>,
}

impl UnlessErrandTree {
    fn config(draft: &Draft<'_, Counted>) -> Result<Option<ConfigMap>> {
        let (numbers, builds) = draft.options();
        let namespace = draft.metadata.namespace.as_deref().unwrap_or_default();
        let is_there = numbers.read(|objects| objects.get(namespace, "of-errand").is_some())?;
        let is_fixed = draft.spec.text.parse::<u64>().is_ok() || builds.fetch_add(1, Ordering::Relaxed) > HIGHEST;
        (is_fixed || !is_there).then(|| numbered("of-note", 1)).transpose()
    }
}

async fn by_existence(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (for_errands, for_notes) = (Numbers::default(), Numbers::default());
    let operator = site
        .operator()
        .controls_with::<For<Errand, Numbers>, IfNoteTree>(|controller| {
            let controller = controller.options(for_errands.clone()).backoff(Backoff::Fixed(DELAY));
            controller.lister::<ConfigMap, _, _, _>(&for_errands, number, one_for("of-note"))
        })
        .controls_with::<Counted, UnlessErrandTree>(|controller| {
            let options = (for_notes.clone(), Arc::default());
            let controller = controller.options(options).backoff(Backoff::Fixed(DELAY));
            controller.lister::<ConfigMap, _, _, _>(&for_notes, number, one_for("of-errand"))
        });
    let _running = site.start(&operator).await;
    site.create(&Errand::new("one", ErrandSpec::default())).await;
    site.create(&fight::note("endless")).await;
    let message = note_says(&site, "Fighting").await;
    assert!(message.contains("is part of a cycle"), "{message}");
    is_slow(async || repairs(&site).await).await;
    site.patch::<Note>("one", &json!({"spec": {"text": "7"}})).await;
    note_says(&site, "Provisioned").await;
    until_object(&site.api::<ConfigMap>(), "of-errand", "is there", |_| true).await;
}

async fn slowed_down(site: &Site, operator: &Operator) {
    let _running = site.start(operator).await;
    site.create(&Errand::new("one", ErrandSpec::default())).await;
    site.create(&fight::note("endless")).await;
    let message = note_says(site, "Fighting").await;
    assert!(message.contains("is part of a cycle"), "{message}");
    is_slow(async || repairs(site).await).await;
    // A user ends the cycle.
    site.patch::<Note>("one", &json!({"spec": {"text": "7"}})).await;
    note_says(site, "Provisioned").await;
    until_object(&site.api::<ConfigMap>(), "of-errand", "holds 8", |config| number(config) == 8).await;
}

/// Checks that there have been few writes so far, and that the next ones are made at the pace of the backoff.
async fn is_slow(writes: impl AsyncFn() -> usize) {
    let (before, start) = (writes().await, Instant::now());
    assert!(before < BURST, "{before} writes before it was slowed down");
    wait::until("three more writes", PATIENCE * 2, async || match writes().await {
        seen if seen >= before + 3 => Ok(()),
        seen => Err(format!("{seen} writes, {before} before")),
    })
    .await;
    assert!(start.elapsed() >= DELAY, "three writes in {:?}", start.elapsed());
}

async fn often(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator::<AfterNoteTree, AfterErrandTree>(&site);
    let _running = site.start(&operator).await;
    site.create(&Errand::new("one", ErrandSpec::default())).await;
    site.create(&fight::note("0")).await;
    for number_to_set in 1..60 {
        site.patch::<Note>("one", &json!({"spec": {"text": number_to_set.to_string()}})).await;
        let is_next = |config: &ConfigMap| number(config) == number_to_set + 1;
        until_object(&site.api::<ConfigMap>(), "of-errand", "holds the next number", is_next).await;
    }
    assert_eq!(operator.counters().fights(), 0);
}

/// Its status has the number of its spec, or the number after that in the status of another object.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Echo", plural = "echoes", namespaced, status = "EchoStatus")]
struct EchoSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<i64>,
    /// The name of the other object.
    of: String,
    /// The name of the object that reads this one.
    wakes: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
struct EchoStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<i64>,
    #[serde(flatten)]
    standard: Status,
}

#[derive(Debug, Provisioner)]
#[provisioner(access(Echo: get))]
struct CopyStatus;

impl Provision<Echo> for CopyStatus {
    async fn provision(cx: &Context<'_, Echo, Self>) -> Result<()> {
        let spec = &cx.object().spec;
        let number = match spec.number {
            Some(number) => number,
            None => {
                let other = cx.find::<Echo>(&spec.of).await?;
                other.and_then(|other| status_number(&other)).map_or(0, |number| number + 1)
            }
        };
        let highest = HIGHEST.try_into().unwrap_or(i64::MAX);
        cx.status(|status| status.number = Some(number.min(highest)));
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Echo, Self>) -> Result<()> {
        Ok(())
    }
}

fn status_number(echo: &Echo) -> Option<i64> {
    echo.status.as_ref()?.number
}

fn echoes(site: &Site) -> Operator {
    let reader = |echo: &Echo| Some(NamespacedName { name: echo.spec.wakes.clone(), namespace: None });
    site.operator().controls_with::<Echo, CopyStatus>(|controller| {
        let reads = Enqueue::map(reader).when(Predicate::of(status_number));
        controller.watches(reads).backoff(Backoff::Fixed(DELAY))
    })
}

async fn echo_says(site: &Site, name: &str, reason: &str) -> Echo {
    let says = |echo: &Echo| {
        let status = echo.status.as_ref().map(|status| &status.standard);
        available(status).is_some_and(|(_, said, _)| said == reason)
    };
    until_object(&site.api::<Echo>(), name, &format!("says {reason}"), says).await
}

async fn status(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&echoes(&site)).await;
    for (name, other) in [("one", "two"), ("two", "one")] {
        let spec = EchoSpec { number: None, of: other.to_owned(), wakes: other.to_owned() };
        site.create(&Echo::new(name, spec)).await;
    }
    for name in ["one", "two"] {
        let echo = echo_says(&site, name, "Fighting").await;
        let status = echo.status.map(|status| status.standard).unwrap_or_default();
        let (.., message) = available(Some(&status)).expect("a condition");
        let expected = format!("Echo {}/{name}: its content is part of a cycle", site.namespace);
        assert!(message.contains(&expected), "{message}");
    }
    is_slow(async || site.asked().await.verb("update").resource("echoes").len()).await;
    // A user ends the cycle.
    site.patch::<Echo>("one", &json!({"spec": {"number": 7}})).await;
    for (name, number) in [("one", 7), ("two", 8)] {
        let echo = echo_says(&site, name, "Provisioned").await;
        assert_eq!(status_number(&echo), Some(number), "{name}");
    }
}

async fn line(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = echoes(&site);
    let _running = site.start(&operator).await;
    let name = |number: i64| format!("e{number}");
    for number in 0..=LENGTH {
        let spec = EchoSpec { number: (number == 0).then_some(0), of: name(number - 1), wakes: name(number + 1) };
        site.create(&Echo::new(&name(number), spec)).await;
    }
    let last = async |number: i64| {
        let has_number = |echo: &Echo| status_number(echo) == Some(number);
        until_object(&site.api::<Echo>(), &name(LENGTH), &format!("has {number}"), has_number).await;
    };
    last(LENGTH).await;
    site.patch::<Echo>(&name(0), &json!({"spec": {"number": 100}})).await;
    last(100 + LENGTH).await;
    site.settled().await;
    assert_eq!(operator.counters().fights(), 0);
}
