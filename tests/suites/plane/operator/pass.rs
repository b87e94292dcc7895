//! What one pass does, and when the next one comes.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::Operator;
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde_json::json;
use tokio::time::Instant;

use super::{
    kinds::{self, Diary, Errand, ErrandSpec, ErrandTree, Note, NoteSpec, NoteTree, Outcome, RelayTree, available},
    site::{NAME, Site},
    tally::{state_writes, was_tried_again},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("loop_a_paused_object_is_left_alone_until_it_is_not", paused),
        case("loop_the_finalizer_is_stored_before_anything_is_made", finalizer_first),
        case("loop_r6_what_provisioners_set_in_the_status_is_stored_however_the_pass_ends", fields),
        case("loop_r8_a_conflict_of_the_status_write_is_followed_by_another_pass", conflict),
        case("loop_a_yield_is_followed_by_a_pass_after_the_requeue_interval", yields),
        case("manager_m42_an_unexpected_error_is_tried_again_and_its_detail_stays_in_the_log", unexpected),
        case("loop_a_conflict_that_does_not_end_is_told_after_a_while", endless_conflict),
        case("loop_a_user_action_is_parked_until_the_spec_changes", parked_for_the_user),
        case("loop_a_parked_object_created_again_under_its_name_is_reconciled", parked_and_created_again),
        case("manager_m42_a_terminal_error_is_not_tried_again_before_a_restart", parked_until_restart),
        case("loop_identical_outcomes_write_nothing", identical),
        case("stale_y1_own_writes_are_never_overtaken_by_an_older_cache", stale),
    ]
}

/// The steps of an errand, in a site of their own.
fn errands(site: &Site, diary: &Diary) -> Operator {
    let diary = diary.clone();
    site.operator().controls_with::<opgen::For<Errand, Diary>, ErrandTree>(|controller| {
        let controller = controller.options(diary).requeue_after(Duration::from_millis(300));
        controller.backoff(opgen::Backoff::Fixed(Duration::from_millis(300)))
    })
}

fn errand(first: Outcome) -> Errand {
    Errand::new("one", ErrandSpec { first, ..ErrandSpec::default() })
}

async fn says(site: &Site, reason: &str) -> Errand {
    let fits = |errand: &Errand| {
        let status = errand.status.as_ref().map(|status| &status.standard);
        available(status).is_some_and(|(_, said, _)| said == reason)
            && status.and_then(|status| status.observed_generation) == errand.metadata.generation
    };
    until_object(&site.api::<Errand>(), "one", &format!("says {reason}"), fits).await
}

async fn repeats(diary: &Diary, line: &str, times: usize) -> Vec<Instant> {
    wait::until(format!("`{line}` {times} times"), PATIENCE, async || {
        let seen = diary.times(line);
        if seen.len() >= times { Ok(seen) } else { Err(format!("{} times", seen.len())) }
    })
    .await
}

async fn paused(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Note, NoteTree>()).await;
    let spec = |pause, text: &str| NoteSpec { pause, text: text.to_owned() };
    site.create(&Note::new("paused", spec(true, "a"))).await;
    // The pass over this one is after that over the paused one.
    site.create(&Note::new("other", spec(false, "a"))).await;
    until_object(&site.api::<ConfigMap>(), "other", "is there", |_| true).await;
    let writes = state_writes(&site.settled().await).name("paused");
    assert!(writes.is_empty(), "{writes}");

    site.patch::<Note>("paused", &json!({"spec": {"pause": false}})).await;
    until_object(&site.api::<ConfigMap>(), "paused", "is there", |config| kinds::text(config) == "a").await;
    site.settled().await;
    site.patch::<Note>("paused", &json!({"spec": {"pause": true, "text": "b"}})).await;
    let before = site.settled().await;
    site.delete::<ConfigMap>("paused").await;
    let since = site.settled().await.since(&before);
    assert!(since.is_empty(), "{since}");

    site.delete::<Note>("paused").await;
    until_gone(&site.api::<Note>(), "paused").await;
}

async fn finalizer_first(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Note, NoteTree>()).await;
    let note = Note::new("one", NoteSpec { pause: false, text: "a".to_owned() });
    site.create(&note).await;
    until_object(&site.api::<ConfigMap>(), "one", "is there", |_| true).await;
    let asked = site.settled().await.name("one");
    let lines: Vec<_> = asked.iter().map(|e| (e.verb.as_str(), e.resource.as_str(), e.subresource.as_str())).collect();
    let wanted = [("patch", "notes", ""), ("create", "configmaps", ""), ("update", "notes", "status")];
    assert_eq!(lines, wanted, "{asked}");
}

async fn fields(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let _running = site.start(&errands(&site, &diary)).await;
    site.create(&errand(Outcome::Done)).await;
    let outcomes = [
        (Outcome::Done, "Provisioned"),
        (Outcome::Yield, "NotYet"),
        (Outcome::Unexpected, "Errored"),
        (Outcome::UserAction, "WrongAddress"),
        (Outcome::Panic, "Errored"),
        (Outcome::Terminal, "RoadClosed"),
    ];
    for (outcome, reason) in outcomes {
        site.patch::<Errand>("one", &json!({"spec": {"first": outcome}})).await;
        let errand = says(&site, reason).await;
        assert_eq!(errand.status.and_then(|status| status.tried), Some(outcome));
    }
}

/// While a pass waits, its object is taken away by force and made anew: the status of the old one must not get to the new.
async fn conflict(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let _running = site.start(&errands(&site, &diary)).await;
    site.create(&errand(Outcome::Gate)).await;
    repeats(&diary, "first one", 1).await;
    let api = site.api::<Errand>();
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    api.patch("one", &PatchParams::default(), &release).await.unwrap();
    let old = api.delete("one", &DeleteParams::default()).await.unwrap();
    until_gone(&api, "one").await;
    let new = site.create(&errand(Outcome::Done)).await;
    assert_ne!(old.left().and_then(|old| old.uid()), new.uid());
    diary.gate.add_permits(1);
    says(&site, "Provisioned").await;
    let writes = site.settled().await.subresource("status");
    was_tried_again(&writes.iter().map(|write| write.code).collect::<Vec<_>>(), 409);
}

async fn yields(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let _running = site.start(&errands(&site, &diary)).await;
    site.create(&errand(Outcome::Yield)).await;
    let times = repeats(&diary, "first one", 6).await;
    // The finalizer of the first pass is news, and makes a second.
    let early = times[1..].windows(2).map(|pair| pair[1] - pair[0]).find(|gap| *gap < Duration::from_millis(300));
    assert_eq!(early, None);
    let errand = says(&site, "NotYet").await;
    let said = available(errand.status.as_ref().map(|status| &status.standard)).unwrap();
    assert_eq!(said, ("False", "NotYet", "the errand takes its time"));
    site.patch::<Errand>("one", &json!({"spec": {"first": "Done"}})).await;
    says(&site, "Provisioned").await;
}

async fn unexpected(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let _running = site.start(&errands(&site, &diary)).await;
    site.create(&errand(Outcome::Unexpected)).await;
    repeats(&diary, "first one", 3).await;
    let errand = says(&site, "Errored").await;
    assert!(!serde_json::to_string(&errand).unwrap().contains("secret"), "{errand:?}");
    let place = format!("{}/one", site.namespace);
    let lines = super::log::lines_with(&["ERROR", &place, "the secret detail"]);
    assert!(!lines.is_empty(), "{place} is not in the log");
}

/// A patch that never fits is none.
async fn endless_conflict(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let _running = site.start(&errands(&site, &diary)).await;
    let mut object = errand(Outcome::Conflict);
    object.spec.undo = Outcome::Conflict;
    site.create(&object).await;
    repeats(&diary, "first one", 4).await;
    let so_far = site.api::<Errand>().get("one").await.unwrap();
    assert!(so_far.status.is_none(), "{:?}", so_far.status);
    says(&site, "Errored").await;
    site.patch::<Errand>("one", &json!({"spec": {"first": "Done"}})).await;
    says(&site, "Provisioned").await;
    site.delete::<Errand>("one").await;
    says(&site, "Errored").await;
    site.patch::<Errand>("one", &json!({"spec": {"undo": "Done"}})).await;
    until_gone(&site.api::<Errand>(), "one").await;
}

async fn parked_for_the_user(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let _running = site.start(&errands(&site, &diary)).await;
    site.create(&errand(Outcome::UserAction)).await;
    says(&site, "WrongAddress").await;
    site.patch::<Errand>("one", &json!({"metadata": {"annotations": {"touched": "yes"}}})).await;
    site.settled().await;
    assert_eq!(diary.times("first one").len(), 1);
    site.patch::<Errand>("one", &json!({"spec": {"first": "Done"}})).await;
    says(&site, "Provisioned").await;
    assert_eq!(diary.times("first one").len(), 2);
}

/// The only worker is busy while a parked object is deleted and created again, so that no pass sees that it was gone.
async fn parked_and_created_again(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let options = diary.clone();
    let operator = site
        .operator()
        .controls_with::<opgen::For<Errand, Diary>, ErrandTree>(|controller| controller.options(options).workers(1));
    let _running = site.start(&operator).await;
    let api = site.api::<Errand>();
    for outcome in [Outcome::UserAction, Outcome::Terminal] {
        let parked = site.create(&errand(outcome)).await;
        until_object(&api, "one", "is parked", |errand| {
            available(errand.status.as_ref().map(|status| &status.standard)).is_some_and(|(truth, ..)| truth == "False")
        })
        .await;
        site.settled().await;
        let busy = Errand::new("busy", ErrandSpec { first: Outcome::Gate, ..ErrandSpec::default() });
        let gates = diary.times("first busy").len();
        site.create(&busy).await;
        repeats(&diary, "first busy", gates + 1).await;

        let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        api.patch("one", &PatchParams::default(), &release).await.unwrap();
        api.delete("one", &DeleteParams::default()).await.unwrap();
        let anew = site.create(&errand(Outcome::Done)).await;
        assert_eq!((anew.metadata.generation, anew.uid() == parked.uid()), (parked.metadata.generation, false));
        site.settled().await;
        diary.gate.add_permits(10);
        says(&site, "Provisioned").await;
        for name in ["one", "busy"] {
            site.delete::<Errand>(name).await;
            until_gone(&api, name).await;
        }
        diary.gate.forget_permits(10);
    }
}

async fn parked_until_restart(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let operator = errands(&site, &diary);
    let mut running = site.start(&operator).await;
    site.create(&errand(Outcome::Terminal)).await;
    says(&site, "RoadClosed").await;
    site.settled().await;
    assert_eq!(diary.times("first one").len(), 1);
    running.signal();
    running.end().await.unwrap();
    let _running = site.run(&operator, Default::default()).await;
    repeats(&diary, "first one", 2).await;

    // On the way down nothing is parked: the finalizer would stay for ever.
    site.patch::<Errand>("one", &json!({"spec": {"undo": "Terminal"}})).await;
    site.delete::<Errand>("one").await;
    repeats(&diary, "undo one", 3).await;
    site.patch::<Errand>("one", &json!({"spec": {"undo": "Done"}})).await;
    until_gone(&site.api::<Errand>(), "one").await;
}

async fn identical(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let _running = site.start(&errands(&site, &diary)).await;
    site.create(&errand(Outcome::Unexpected)).await;
    repeats(&diary, "first one", 5).await;
    let writes = state_writes(&site.asked().await).subresource("status");
    assert_eq!(writes.len(), 1, "{writes}");
}

/// Pass follows pass with next to no pause. One that came before the cache shows the ConfigMap would apply it as a new one,
/// which is a conflict.
async fn stale(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let options = diary.clone();
    let operator = site.operator().controls_with::<opgen::For<Errand, Diary>, RelayTree>(|controller| {
        controller.options(options).requeue_after(Duration::from_millis(1))
    });
    let _running = site.start(&operator).await;
    let api = site.api::<ConfigMap>();
    for lap in 1..=10 {
        let name = format!("lap-{lap}");
        site.create(&Errand::new(&name, ErrandSpec { first: Outcome::Yield, ..ErrandSpec::default() })).await;
        repeats(&diary, &format!("first {name}"), 20).await;
        site.patch::<Errand>(&name, &json!({"spec": {"second": "Yield"}})).await;
        until_object(&api, &name, "follows", |config| kinds::text(config) == "Yield").await;
        repeats(&diary, &format!("first {name}"), 40).await;
        let asked = site.asked().await.resource("configmaps").name(&name);
        let lines: Vec<_> = asked.iter().map(|entry| (entry.verb.as_str(), entry.code)).collect();
        assert_eq!(lines, [("create", 201), ("patch", 200)], "{asked}");
    }
    assert!(site.asked().await.denied().is_empty(), "the role of {NAME} is too small");
}
