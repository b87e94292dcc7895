//! Cycles: passes of two primaries that cause each other are found and slowed down, and a change that runs through many is not.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use libtest_mimic::Trial;
use opgen::{Backoff, Lister, NamespacedName, ObjectKey, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_object},
};
use serde_json::json;
use tokio::time::Instant;

use super::{
    fight::{self, DELAY, note_says, repairs},
    kinds::{Errand, ErrandSpec, Note, text},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("brake_two_primaries_that_are_built_from_each_others_children_are_slowed_down", endless),
        case("brake_a_child_that_another_primary_is_built_from_may_change_often", often),
    ]
}

/// The numbers in the ConfigMaps of both kinds.
type Numbers = Lister<u64>;
/// The writes that both primaries may need until the cycle is found: twice the number that is allowed.
const BURST: usize = 2 * 45;

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
        numbered("of-errand", 1 + number_of(draft.options(), namespace, "of-note")?)
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
            Err(_) => numbered("of-note", 1 + number_of(draft.options(), namespace, "of-errand")?),
        }
    }
}

fn number_of(numbers: &Numbers, namespace: &str, name: &str) -> Result<u64> {
    numbers.read(|objects| objects.get(namespace, name).copied().unwrap_or(0))
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

fn operator(site: &Site) -> Operator {
    let (for_errands, for_notes) = (Numbers::default(), Numbers::default());
    site.operator()
        .controls_with::<For<Errand, Numbers>, AfterNoteTree>(|controller| {
            let controller = controller.options(for_errands.clone()).backoff(Backoff::Fixed(DELAY));
            controller.lister::<ConfigMap, _, _, _>(&for_errands, number, one_for("of-note"))
        })
        .controls_with::<For<Note, Numbers>, AfterErrandTree>(|controller| {
            let controller = controller.options(for_notes.clone()).backoff(Backoff::Fixed(DELAY));
            controller.lister::<ConfigMap, _, _, _>(&for_notes, number, one_for("of-errand"))
        })
}

async fn endless(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator(&site);
    let _running = site.start(&operator).await;
    site.create(&Errand::new("one", ErrandSpec::default())).await;
    site.create(&fight::note("endless")).await;
    let message = note_says(&site, "Fighting").await;
    assert!(message.contains("is part of a cycle"), "{message}");
    let (before, start) = (repairs(&site).await, Instant::now());
    assert!(before < BURST, "{before} writes before it was slowed down");
    wait::until("three more writes", PATIENCE * 2, async || match repairs(&site).await {
        seen if seen >= before + 3 => Ok(()),
        seen => Err(format!("{seen} writes, {before} before")),
    })
    .await;
    assert!(start.elapsed() >= DELAY, "three writes in {:?}", start.elapsed());
    // A user ends the cycle.
    site.patch::<Note>("one", &json!({"spec": {"text": "7"}})).await;
    note_says(&site, "Provisioned").await;
    until_object(&site.api::<ConfigMap>(), "of-errand", "holds 8", |config| number(config) == 8).await;
}

async fn often(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = operator(&site);
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
