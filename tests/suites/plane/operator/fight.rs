//! Fights: what an operator restores and somebody else changes back at once. Whoever wakes it, it does not do so without end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt as _, pin_mut};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, WatchEvent, WatchParams},
};
use libtest_mimic::Trial;
use opgen::{Backoff, For, prelude::*};
use opgen_tests::{
    Entry, Plane, case,
    wait::{self, PATIENCE, until_object},
};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::Instant};

use super::{
    kinds::{self, Diary, Errand, ErrandSpec, Note, NoteSpec, NoteTree, Outcome, RelayTree, RestlessTree, available},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("fight_over_a_field_is_slowed_down_and_reported_and_ends_with_it", over_a_field),
        case("fight_with_somebody_who_deletes_a_child_is_slowed_down_and_reported", over_a_child),
        case("fight_does_not_delay_the_change_of_a_user", a_user_goes_first),
        case("fight_of_a_build_function_with_itself_is_slowed_down_and_reported", with_itself),
        case("fight_repairs_of_what_somebody_changes_now_and_then_are_immediate", honest_repairs),
        case("a_failing_pass_is_not_repeated_before_its_backoff_whoever_wakes_it", woken_while_failing),
        case("a_child_that_the_server_refuses_is_written_again_only_after_the_backoff", woken_while_refused),
    ]
}

/// The delay after an error.
pub(super) const DELAY: Duration = Duration::from_secs(10);
/// How often a rival insists: without a brake all of it happens at once.
pub(super) const INSISTS: usize = 60;

/// What a rival does to an object each time it changes.
#[derive(Clone, Copy)]
pub(super) enum Rivalry {
    Text,
    Delete,
}

/// Somebody who acts whenever a ConfigMap is not as it wants, so often.
pub(super) fn rival(plane: &Plane, namespace: &str, what: Rivalry, insists: usize) -> JoinHandle<()> {
    let api = Api::<ConfigMap>::namespaced(plane.client(), namespace);
    tokio::spawn(async move {
        let mut done = 0;
        while done < insists {
            let Ok(events) = api.watch(&WatchParams::default().fields("metadata.name=one"), "0").await else { return };
            pin_mut!(events);
            while let Some(Ok(event)) = events.next().await {
                let (WatchEvent::Added(config) | WatchEvent::Modified(config)) = event else { continue };
                match what {
                    _ if done == insists => return,
                    Rivalry::Text if kinds::text(&config) == "rival" => continue,
                    Rivalry::Text => take(&api, "rival").await,
                    Rivalry::Delete => drop(api.delete("one", &DeleteParams::default()).await),
                }
                done += 1;
            }
        }
    })
}

/// Takes the text from whoever has it.
pub(super) async fn take(api: &Api<ConfigMap>, text: &str) {
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"text": text}});
    // It may have been deleted meanwhile, and must not be made by this.
    if api.get_opt("one").await.unwrap().is_some() {
        api.patch("one", &PatchParams::apply("rival").force(), &Patch::Apply(config)).await.unwrap();
    }
}

pub(super) fn note(text: &str) -> Note {
    Note::new("one", NoteSpec { pause: false, text: text.to_owned() })
}

async fn notes(plane: &Arc<Plane>) -> (Site, super::site::Running) {
    let (site, running, _) = notes_of_operator(plane).await;
    (site, running)
}

async fn notes_of_operator(plane: &Arc<Plane>) -> (Site, super::site::Running, Operator) {
    let site = Site::new(plane).await;
    let operator = site.operator().controls::<Note, NoteTree>();
    let running = site.start(&operator).await;
    site.create(&note("a")).await;
    note_says(&site, "Provisioned").await;
    (site, running, operator)
}

/// The number of fights by the metrics of the operator, which its counters have as well.
fn fights(operator: &Operator) -> u64 {
    let text = operator.metrics().text().unwrap();
    let series = r#"opgen_fights_total{controller="note"} "#;
    let value = text.lines().find_map(|line| line.strip_prefix(series)).unwrap_or_else(|| panic!("{text}"));
    let fights = value.parse().unwrap();
    assert_eq!(fights, operator.counters().fights());
    fights
}

pub(super) async fn note_says(site: &Site, reason: &str) -> String {
    let says = |note: &Note| available(note.status.as_ref()).is_some_and(|(_, said, _)| said == reason);
    let note = until_object(&site.api::<Note>(), "one", &format!("says {reason}"), says).await;
    available(note.status.as_ref()).map(|(.., sentence)| sentence.to_owned()).unwrap_or_default()
}

/// Repairs of the one ConfigMap so far.
pub(super) async fn repairs(site: &Site) -> usize {
    let is_write = |entry: &Entry| matches!(entry.verb.as_str(), "create" | "patch");
    site.asked().await.resource("configmaps").with(is_write).len()
}

pub(super) async fn repaired(site: &Site, times: usize) -> Instant {
    wait::until(format!("{times} patches"), PATIENCE * 2, async || {
        let seen = repairs(site).await;
        if seen >= times { Ok(Instant::now()) } else { Err(format!("{seen} patches")) }
    })
    .await
}

async fn over_a_field(plane: Arc<Plane>) {
    let (site, _running, operator) = notes_of_operator(&plane).await;
    assert_eq!(fights(&operator), 0);
    let rival = rival(&plane, &site.namespace, Rivalry::Text, INSISTS);
    let said = note_says(&site, "Fighting").await;
    let place = format!("ConfigMap {}/one", site.namespace);
    assert!(said.contains(&place) && said.contains("data.text") && said.contains("rival"), "{said}");
    let times = said.strip_suffix(" times in a row").and_then(|said| said.rsplit(' ').next()).unwrap_or_default();
    assert!(times.parse().is_ok_and(|times: usize| (6..10).contains(&times)), "{said}");
    assert!(fights(&operator) > 0);
    let (before, since) = (repairs(&site).await, Instant::now());
    assert!(before < 10, "{before} patches before it was slowed down");
    repaired(&site, before + 3).await;
    assert!(since.elapsed() >= DELAY * 2, "3 patches in {:?}", since.elapsed());
    rival.abort();
    until_object(&site.api::<ConfigMap>(), "one", "is restored", |config| kinds::text(config) == "a").await;
    let since = Instant::now();
    note_says(&site, "Provisioned").await;
    // A fight is over 30 s after the last repair, and the pass that says so does not wait for the delay after an error.
    assert!(since.elapsed() <= Duration::from_secs(34), "over after {:?}", since.elapsed());
    let config = site.api::<ConfigMap>().get("one").await.unwrap();
    assert_eq!(kinds::text(&config), "a");
}

async fn over_a_child(plane: Arc<Plane>) {
    let (site, _running) = notes(&plane).await;
    let rival = rival(&plane, &site.namespace, Rivalry::Delete, INSISTS);
    let said = note_says(&site, "Fighting").await;
    assert!(said.contains("deleted"), "{said}");
    let (before, since) = (repairs(&site).await, Instant::now());
    assert!(before < 10, "{before} patches before it was slowed down");
    repaired(&site, before + 2).await;
    assert!(since.elapsed() >= DELAY, "2 patches in {:?}", since.elapsed());
    rival.abort();
    note_says(&site, "Provisioned").await;
}

async fn a_user_goes_first(plane: Arc<Plane>) {
    let (site, _running) = notes(&plane).await;
    let rival = rival(&plane, &site.namespace, Rivalry::Text, INSISTS);
    note_says(&site, "Fighting").await;
    site.settled().await;
    let before = repairs(&site).await;
    let since = Instant::now();
    site.patch::<Note>("one", &json!({"spec": {"text": "b"}})).await;
    // Its backoff begins anew, too: the next repairs are as immediate as the first ones.
    repaired(&site, before + 5).await;
    assert!(since.elapsed() < DELAY / 2, "{:?}", since.elapsed());
    rival.abort();
    let config = |config: &ConfigMap| kinds::text(config) == "b";
    until_object(&site.api::<ConfigMap>(), "one", "has the text of the user", config).await;
    site.delete::<Note>("one").await;
    let since = Instant::now();
    wait::until_gone(&site.api::<Note>(), "one").await;
    assert!(since.elapsed() < DELAY / 2, "{:?}", since.elapsed());
}

/// Its ConfigMap has another text in every pass.
async fn with_itself(plane: Arc<Plane>) {
    let (site, counter) = (Site::new(&plane).await, Arc::new(AtomicU64::new(0)));
    let options = counter.clone();
    let operator = site.operator().controls_with::<For<Errand, Arc<AtomicU64>>, RestlessTree>(|c| c.options(options));
    let _running = site.start(&operator).await;
    site.create(&Errand::new("one", ErrandSpec::default())).await;
    let says = async |reason: &str| {
        let is_said = |errand: &Errand| {
            let status = errand.status.as_ref().map(|status| &status.standard);
            available(status).is_some_and(|(_, said, _)| said == reason)
        };
        until_object(&site.api::<Errand>(), "one", reason, is_said).await
    };
    says("Fighting").await;
    let (before, since) = (repairs(&site).await, Instant::now());
    assert!(before < 40, "{before} patches before it was slowed down");
    repaired(&site, before + 2).await;
    assert!(since.elapsed() >= DELAY, "2 patches in {:?}", since.elapsed());
    // What it builds does not change any more.
    counter.store(u64::MAX / 2, Ordering::Relaxed);
    says("Provisioned").await;
}

async fn honest_repairs(plane: Arc<Plane>) {
    let (site, _running) = notes(&plane).await;
    let api = site.api::<ConfigMap>();
    for round in 0..5 {
        take(&api, &format!("by hand {round}")).await;
        let since = Instant::now();
        until_object(&api, "one", "is restored", |config| kinds::text(config) == "a").await;
        assert!(since.elapsed() < DELAY / 2, "{:?}", since.elapsed());
    }
    for _ in 0..4 {
        let (old, since) = (api.get("one").await.unwrap(), Instant::now());
        site.delete::<ConfigMap>("one").await;
        until_object(&api, "one", "is there again", |config| config.uid() != old.uid()).await;
        assert!(since.elapsed() < DELAY / 2, "{:?}", since.elapsed());
    }
    site.settled().await;
    note_says(&site, "Provisioned").await;
}

/// The pass fails after its ConfigMap, which changes again and again.
async fn woken_while_failing(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let options = diary.clone();
    let operator = site.operator().controls_with::<For<Errand, Diary>, RelayTree>(|controller| {
        controller.options(options).backoff(Backoff::Fixed(DELAY))
    });
    let _running = site.start(&operator).await;
    site.create(&Errand::new("one", ErrandSpec { first: Outcome::Unexpected, ..ErrandSpec::default() })).await;
    let api = site.api::<ConfigMap>();
    until_object(&api, "one", "is there", |_| true).await;
    let since = Instant::now();
    for round in 0..40 {
        take(&api, &format!("round {round}")).await;
        site.settled().await;
    }
    let allowed = usize::try_from(since.elapsed().as_secs() / DELAY.as_secs()).unwrap() + 2;
    let passes = diary.times("first one").len();
    assert!(passes <= allowed, "{passes} passes in {:?}", since.elapsed());

    let since = Instant::now();
    let asked: Value = json!({"metadata": {"annotations": {opgen::controller::RECONCILE_ANNOTATION: "now"}}});
    for change in [asked, json!({"spec": {"first": "Done"}})] {
        let before = diary.times("first one").len();
        site.patch::<Errand>("one", &change).await;
        wait::until("another pass", PATIENCE, async || {
            let passes = diary.times("first one").len();
            if passes > before { Ok(()) } else { Err(format!("{passes} passes")) }
        })
        .await;
    }
    assert!(since.elapsed() < DELAY / 2, "{:?}", since.elapsed());
}

/// A ConfigMap that may change, and one that the server refuses as long as the note does not say otherwise.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Note)]
struct RefusedTree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource)]
    refused: ConfigMap,
}

impl RefusedTree {
    fn config(_: &Note) -> ConfigMap {
        ConfigMap { data: Some([("text".to_owned(), "a".to_owned())].into()), ..ConfigMap::default() }
    }

    fn refused(note: &Note) -> ConfigMap {
        let key = if note.spec.text == "valid" { "key" } else { "no key" };
        let mut config = ConfigMap { data: Some([(key.to_owned(), String::new())].into()), ..ConfigMap::default() };
        config.metadata.name = Some("refused".to_owned());
        config
    }
}

/// The ConfigMap that may change wakes the note again and again.
async fn woken_while_refused(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls_with::<Note, RefusedTree>(|notes| notes.backoff(Backoff::Fixed(DELAY)));
    let _running = site.start(&operator).await;
    site.create(&note("invalid")).await;
    let message = note_says(&site, "Refused").await;
    assert!(message.contains("no key"), "{message}");
    let (api, since) = (site.api::<ConfigMap>(), Instant::now());
    for round in 0..40 {
        take(&api, &format!("round {round}")).await;
        site.settled().await;
    }
    let allowed = usize::try_from(since.elapsed().as_secs() / DELAY.as_secs()).unwrap() + 2;
    let refused = site.asked().await.resource("configmaps").code(422);
    assert!(refused.len() > 1 && refused.len() <= allowed, "in {:?}: {refused}", since.elapsed());

    // The next attempt is a whole delay away, unless a user changes the note.
    wait::until("another refusal", PATIENCE, async || {
        match site.asked().await.resource("configmaps").code(422).len() {
            now if now > refused.len() => Ok(()),
            now => Err(format!("{now} refusals")),
        }
    })
    .await;
    let since = Instant::now();
    site.patch::<Note>("one", &json!({"spec": {"text": "valid"}})).await;
    until_object(&api, "refused", "is there", |_| true).await;
    assert!(since.elapsed() < DELAY, "{:?}", since.elapsed());
}
