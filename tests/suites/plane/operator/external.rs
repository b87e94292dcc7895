//! Nodes that own entries of a DNS service, which no API server stores.

mod broken_connection;
mod http_service;
mod killed;
mod orphan;
mod revert;
mod service;
mod trees;

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use libtest_mimic::Trial;
use opgen::{Backoff, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{PATIENCE, until, until_gone, until_object},
};
use serde_json::json;

use super::{
    fight::note_says,
    kinds::{Note, NoteSpec, available, text},
    site::{Running, Site},
};
use service::{Moment, Service};
use trees::{BriefTree, CalmTree, LaggingTree, NoteWithService, RetainedTree, WordsTree};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("external_a_thing_is_created_once_updated_on_an_edit_and_deleted_with_its_owner", lifecycle),
        case("external_a_stop_at_each_step_leaves_exactly_one_thing_and_none_after_a_deletion", killed::at_each_step),
        case("external_a_change_by_another_client_is_repaired_after_the_period", drift),
        case("external_a_creation_that_failed_after_its_work_is_found_by_the_token", failed_creation),
        case("external_a_thing_that_is_not_visible_yet_is_not_created_twice", lag),
        case("external_a_removal_waits_for_a_thing_that_is_not_visible_yet", lag_at_removal),
        case("external_a_thing_is_found_by_its_token_after_its_record_was_deleted", lost_record),
        case("external_a_damaged_record_is_reported", damaged_record),
        case("external_a_retained_thing_stays_and_its_record_goes", retained),
        case("external_an_existing_thing_is_imported_and_none_is_created", imported),
        case("external_a_thing_that_can_not_be_changed_is_replaced_once_it_is_gone", replaced),
        case("external_an_update_that_failed_after_its_work_is_undone_with_the_spec", revert::update),
        case("external_a_node_that_is_wanted_again_during_its_deletion_has_one_thing", revert::deletion),
        case(
            "external_a_connection_that_breaks_at_each_byte_of_the_answer_to_create_leaves_one_record",
            broken_connection::at_each_byte,
        ),
        case("external_the_record_of_a_removed_node_is_reported_at_the_deletion_of_its_owner", orphan::removed_node),
        case("external_each_item_has_a_thing_until_the_item_is_gone", each),
    ]
}

/// A note `one` that is provisioned, with the service that has its entries.
struct Scene {
    site: Site,
    service: Service,
    operator: Operator,
    running: Running,
}

impl Scene {
    async fn provisioned<T>(plane: &Arc<Plane>, text: &str) -> Self
    where
        T: Provision<NoteWithService> + Provisioner<Inputs = ()>,
    {
        let scene = Self::started::<T>(plane).await;
        scene.site.create(&note(text)).await;
        note_says(&scene.site, "Provisioned").await;
        scene
    }

    /// Starts an operator, without a note.
    async fn started<T>(plane: &Arc<Plane>) -> Self
    where
        T: Provision<NoteWithService> + Provisioner<Inputs = ()>,
    {
        let (site, service) = (Site::new(plane).await, Service::default());
        let operator = operator::<T>(&site, &service);
        let running = site.start(&operator).await;
        Self { site, service, operator, running }
    }

    /// Starts an operator, without a note, that retries a failed pass after a second: before a record of a lagging service is visible.
    async fn retrying<T>(plane: &Arc<Plane>) -> Self
    where
        T: Provision<NoteWithService> + Provisioner<Inputs = ()>,
    {
        let (site, service) = (Site::new(plane).await, Service::default());
        let options = service.clone();
        let operator = site.operator().controls_with::<NoteWithService, T>(|controller| {
            controller.options(options).backoff(Backoff::Fixed(Duration::from_secs(1)))
        });
        let running = site.start(&operator).await;
        Self { site, service, operator, running }
    }

    async fn edit(&self, text: &str) {
        self.site.patch::<Note>("one", &json!({"spec": {"text": text}})).await;
    }

    /// Waits until the only entry has this text.
    async fn has_only(&self, text: &str) {
        until(format!("the only entry has the text {text}"), PATIENCE, async || match self.service.only_text() {
            Ok(found) if found == text => Ok(()),
            found => Err(format!("{found:?}")),
        })
        .await;
    }

    /// Deletes the note and waits until it is gone.
    async fn delete(&self) {
        self.site.delete::<Note>("one").await;
        until_gone(&self.site.api::<Note>(), "one").await;
    }
}

fn operator<T>(site: &Site, service: &Service) -> Operator
where
    T: Provision<NoteWithService> + Provisioner<Inputs = ()>,
{
    let service = service.clone();
    site.operator().controls_with::<NoteWithService, T>(|controller| controller.options(service))
}

fn note(text: &str) -> Note {
    Note::new("one", NoteSpec { text: text.to_owned(), ..NoteSpec::default() })
}

/// The records in the namespace of the operator.
async fn records(site: &Site) -> Vec<ConfigMap> {
    let configs = site.api::<ConfigMap>().list(&Default::default()).await.unwrap();
    configs.items.into_iter().filter(|config| config.name_any().starts_with("opgen-external-")).collect()
}

async fn record_name(site: &Site) -> String {
    let records = records(site).await;
    assert_eq!(records.len(), 1, "{records:?}");
    records[0].name_any()
}

fn field<'a>(record: &'a ConfigMap, name: &str) -> &'a str {
    record.data.as_ref().and_then(|data| data.get(name)).map_or("", String::as_str)
}

async fn lifecycle(plane: Arc<Plane>) {
    let scene = Scene::provisioned::<CalmTree>(&plane, "a").await;
    let Scene { site, service, .. } = &scene;
    assert_eq!(service.take_calls(), ["observe by token", "create", "observe by id"]);
    assert_eq!(service.only_text().unwrap(), "a");
    assert_eq!(text(&site.api::<ConfigMap>().get("one").await.unwrap()), "a", "a later node reads the observed state");
    let record = records(site).await.remove(0);
    assert_eq!((field(&record, "phase"), field(&record, "id")), ("Created", "entry-1"));
    assert_eq!((field(&record, "node"), field(&record, "thing")), ("record", "DNS record"));
    assert_eq!(record.metadata.owner_references, None, "the garbage collector would delete it");
    // Passes with the same spec make no call, and read no record.
    let configs = site.api::<ConfigMap>();
    configs.delete("one", &Default::default()).await.unwrap();
    until_object(&configs, "one", "is made again", |config| text(config) == "a").await;
    assert_eq!(service.take_calls(), Vec::<&str>::new());
    scene.edit("b").await;
    until_object(&configs, "one", "has the new text", |config| text(config) == "b").await;
    assert_eq!(service.take_calls(), ["observe by id", "update", "observe by id"]);
    assert_eq!(service.only_text().unwrap(), "b");
    // A restart observes once.
    let Scene { site, service, operator, running } = scene;
    site.settled().await;
    running.end_now().await;
    let running = site.run(&operator, Default::default()).await;
    until("the thing is observed", PATIENCE, async || match service.take_calls()[..] {
        ["observe by id"] => Ok(()),
        ref calls => Err(format!("{calls:?}")),
    })
    .await;
    site.settled().await;
    assert_eq!(service.take_calls(), Vec::<&str>::new());
    let scene = Scene { site, service, operator, running };
    scene.service.set_deletion_time(Duration::from_secs(2));
    scene.site.delete::<Note>("one").await;
    let message = note_says(&scene.site, "WaitingFor").await;
    assert_eq!(message, "waiting for DNS record entry-1 to be gone");
    until_gone(&scene.site.api::<Note>(), "one").await;
    assert!(scene.service.entries().is_empty());
    assert!(records(&scene.site).await.is_empty());
}

async fn drift(plane: Arc<Plane>) {
    let scene = Scene::provisioned::<BriefTree>(&plane, "a").await;
    scene.service.put("entry-1", "edited");
    scene.has_only("a").await;
    scene.service.clear();
    scene.has_only("a").await;
    assert_eq!(scene.service.entries().into_keys().collect::<Vec<_>>(), ["entry-2"]);
    scene.delete().await;
    assert!(scene.service.entries().is_empty());
}

async fn failed_creation(plane: Arc<Plane>) {
    for moment in [Moment::Before, Moment::After] {
        let scene = Scene::started::<CalmTree>(&plane).await;
        scene.service.fail("create", moment);
        scene.site.create(&note("a")).await;
        note_says(&scene.site, "Provisioned").await;
        assert_eq!(scene.service.only_text().unwrap(), "a", "{moment:?}");
        let creations = scene.service.take_calls().iter().filter(|call| **call == "create").count();
        assert_eq!(creations, if moment == Moment::Before { 2 } else { 1 }, "{moment:?}");
    }
}

/// The time after which new entries are visible, shorter than the grace period of the tree.
const LAG: Duration = Duration::from_secs(5);

/// The message while an entry that may have been created is not visible.
const NOT_VISIBLE: &str = "waiting for the DNS record of node record, which may have been created";

async fn lag(plane: Arc<Plane>) {
    let scene = Scene::retrying::<LaggingTree>(&plane).await;
    scene.service.set_lag(LAG);
    scene.service.fail("create", Moment::After);
    scene.site.create(&note("a")).await;
    assert_eq!(note_says(&scene.site, "WaitingFor").await, NOT_VISIBLE);
    note_says(&scene.site, "Provisioned").await;
    assert_eq!(scene.service.only_text().unwrap(), "a");
    assert_eq!(scene.service.take_calls().iter().filter(|call| **call == "create").count(), 1);
    // One that disappears is created again.
    scene.service.set_lag(Duration::ZERO);
    scene.service.clear();
    scene.edit("b").await;
    scene.has_only("b").await;
}

async fn lag_at_removal(plane: Arc<Plane>) {
    let scene = Scene::retrying::<LaggingTree>(&plane).await;
    scene.service.set_lag(LAG);
    scene.service.fail("create", Moment::After);
    scene.site.create(&note("a")).await;
    until("the creation was called", PATIENCE, async || {
        let calls = scene.service.take_calls();
        if calls.contains(&"create") { Ok(()) } else { Err(format!("{calls:?}")) }
    })
    .await;
    scene.site.delete::<Note>("one").await;
    let notes = scene.site.api::<Note>();
    let waits = |note: &Note| {
        let is_deleting = note.metadata.deletion_timestamp.is_some();
        is_deleting && available(note.status.as_ref()).is_some_and(|(_, reason, _)| reason == "WaitingFor")
    };
    let note = until_object(&notes, "one", "waits for its thing", waits).await;
    assert_eq!(available(note.status.as_ref()).map(|(.., message)| message), Some(NOT_VISIBLE));
    assert_eq!(scene.service.only_text().as_deref(), Ok("a"), "it exists, although it is not visible");
    until_gone(&notes, "one").await;
    assert!(scene.service.entries().is_empty());
    assert!(records(&scene.site).await.is_empty());
}

async fn lost_record(plane: Arc<Plane>) {
    let scene = Scene::provisioned::<CalmTree>(&plane, "a").await;
    let configs: Api<ConfigMap> = scene.site.api();
    let name = record_name(&scene.site).await;
    configs.delete(&name, &Default::default()).await.unwrap();
    scene.edit("b").await;
    scene.has_only("b").await;
    until_object(&configs, &name, "is written again", |record| field(record, "phase") == "Created").await;
    note_says(&scene.site, "Provisioned").await;
    configs.delete(&name, &Default::default()).await.unwrap();
    scene.delete().await;
    assert!(scene.service.entries().is_empty());
}

async fn damaged_record(plane: Arc<Plane>) {
    let scene = Scene::provisioned::<CalmTree>(&plane, "a").await;
    let name = record_name(&scene.site).await;
    scene.site.patch::<ConfigMap>(&name, &json!({"data": {"phase": "Unknown"}})).await;
    scene.edit("b").await;
    let message = note_says(&scene.site, "DamagedRecord").await;
    assert!(message.contains(&format!("{}/{name}", scene.site.namespace)), "{message}");
    assert_eq!(scene.service.only_text().unwrap(), "a");
    scene.site.delete::<ConfigMap>(&name).await;
    scene.has_only("b").await;
}

async fn retained(plane: Arc<Plane>) {
    let scene = Scene::provisioned::<RetainedTree>(&plane, "a").await;
    assert_eq!(records(&scene.site).await.len(), 1);
    scene.delete().await;
    assert_eq!(scene.service.only_text().unwrap(), "a");
    assert!(records(&scene.site).await.is_empty());
}

async fn imported(plane: Arc<Plane>) {
    let scene = Scene::started::<CalmTree>(&plane).await;
    scene.site.create(&note("import/seven/a")).await;
    let message = note_says(&scene.site, "ImportNotFound").await;
    assert_eq!(message, "waiting for DNS record seven, which is to be imported");
    assert!(scene.service.entries().is_empty());
    scene.service.put("seven", "old");
    scene.has_only("import/seven/a").await;
    note_says(&scene.site, "Provisioned").await;
    scene.edit("import/seven/new").await;
    let message = note_says(&scene.site, "ImportNotReplaceable").await;
    assert_eq!(message, "DNS record seven can't be changed to the spec, and an imported one is not replaced");
    scene.edit("b").await;
    scene.has_only("b").await;
    assert_eq!(scene.service.entries().into_keys().collect::<Vec<_>>(), ["seven"]);
    scene.delete().await;
    assert!(scene.service.entries().is_empty(), "an imported thing is deleted with its owner");
}

async fn replaced(plane: Arc<Plane>) {
    let scene = Scene::provisioned::<CalmTree>(&plane, "a").await;
    scene.service.set_deletion_time(Duration::from_secs(2));
    scene.edit("b/new").await;
    let message = note_says(&scene.site, "WaitingFor").await;
    assert_eq!(message, "waiting for DNS record entry-1 to be gone");
    scene.has_only("b/new").await;
    note_says(&scene.site, "Provisioned").await;
    assert_eq!(scene.service.entries().into_keys().collect::<Vec<_>>(), ["entry-2"]);
    assert_eq!(records(&scene.site).await.len(), 1);
}

fn sorted_texts(service: &Service) -> Vec<String> {
    let mut texts: Vec<_> = service.entries().into_values().collect();
    texts.sort();
    texts
}

async fn each(plane: Arc<Plane>) {
    let scene = Scene::provisioned::<WordsTree>(&plane, "a b").await;
    assert_eq!(sorted_texts(&scene.service), ["a", "b"]);
    scene.edit("b c").await;
    until("the entries follow the items", PATIENCE, async || {
        let texts = sorted_texts(&scene.service);
        if texts == ["b", "c"] { Ok(()) } else { Err(format!("{texts:?}")) }
    })
    .await;
    note_says(&scene.site, "Provisioned").await;
    // The operator that removes an item knows of it by the record alone.
    let Scene { site, service, operator, running } = scene;
    running.end_now().await;
    site.patch::<Note>("one", &json!({"spec": {"text": "c"}})).await;
    let running = site.run(&operator, Default::default()).await;
    let scene = Scene { site, service, operator, running };
    scene.has_only("c").await;
    scene.delete().await;
    assert!(scene.service.entries().is_empty());
    assert!(records(&scene.site).await.is_empty());
}
