//! The hooks of controllers: `initialize` once per process, and `upgrade` once per version of the operator in the cluster.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::{
    Operator, RunError, RunOptions,
    controller::{Upgrade, UpgradeHook},
    prelude::*,
};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_object},
};
use serde_json::{Value, json};

use super::{
    fight::{self, note_says},
    kinds::{Errand, ErrandSpec, Note, NoteTree},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("unikorn_n6_an_upgrade_hook_runs_once_for_each_version_and_before_any_pass", once_per_version),
        case("unikorn_n6_a_failing_upgrade_hook_blocks_its_kind_alone_and_continues_at_its_checkpoint", failing),
        case("unikorn_n6_an_upgrade_hook_never_changes_a_spec", no_spec),
        case("unikorn_n7_initialize_runs_before_anything_is_watched_and_its_error_ends_the_run", initialize),
    ]
}

/// Appends a line to the ConfigMap `journal`: the versions, and the checkpoint of an interrupted run. Fails after its first checkpoint
/// while the ConfigMap has the key `broken`.
#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap: get, patch))]
struct Journal;

impl UpgradeHook for Journal {
    async fn upgrade(upgrade: &Upgrade) -> Result<()> {
        let client = upgrade.client();
        let api = Api::<ConfigMap>::default_namespaced(client);
        let data = api.get("journal").await?.data.unwrap_or_default();
        let line = format!(
            "{} to {} at {}",
            upgrade.previous_version().unwrap_or("nothing"),
            upgrade.version(),
            upgrade.checkpoint().unwrap_or("the start")
        );
        let lines = format!("{}{line}\n", data.get("lines").map_or("", String::as_str));
        let patch = Patch::Merge(json!({"data": {"lines": lines}}));
        api.patch("journal", &PatchParams::default(), &patch).await?;
        if data.contains_key("broken") {
            upgrade.save_checkpoint("page 3").await?;
            return Err(std::io::Error::other("the journal is broken").into());
        }
        Ok(())
    }
}

fn operator(site: &Site, version: &str) -> Operator {
    site.operator().version(version).controls_with::<Note, NoteTree>(|controller| controller.upgrade::<Journal>())
}

async fn create_journal(site: &Site, data: Value) {
    site.create::<ConfigMap>(&serde_json::from_value(json!({"metadata": {"name": "journal"}, "data": data})).unwrap())
        .await;
}

async fn until_lines(site: &Site, expected: &str) {
    let lines =
        |config: &ConfigMap| config.data.as_ref().and_then(|data| data.get("lines")).cloned().unwrap_or_default();
    until_object(&site.api::<ConfigMap>(), "journal", expected, |config| lines(config) == expected).await;
}

/// Returns the entry of notes in the record of upgrades.
async fn record(site: &Site) -> Value {
    let record = site.api::<ConfigMap>().get("live-upgrades").await.unwrap().data.unwrap_or_default();
    serde_json::from_str(&record["notes.live.example.com"]).unwrap()
}

async fn once_per_version(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    create_journal(&site, json!({})).await;
    site.install(&operator(&site, "0.1.0")).await;
    site.create(&fight::note("a")).await;
    let mut expected = String::new();
    for (version, line) in [
        ("0.1.0", "nothing to 0.1.0 at the start\n"),
        ("0.1.0", ""),
        ("0.2.0", "0.1.0 to 0.2.0 at the start\n"),
        // A rollback is another version, too.
        ("0.1.0", "0.2.0 to 0.1.0 at the start\n"),
    ] {
        expected.push_str(line);
        let mut running = site.run(&operator(&site, version), RunOptions::default()).await;
        note_says(&site, "Provisioned").await;
        site.patch::<Note>("one", &json!({"spec": {"text": format!("{version} {}", expected.len())}})).await;
        let text = format!("{version} {}", expected.len());
        until_object(&site.api::<ConfigMap>(), "one", &text, |config| super::kinds::text(config) == text).await;
        until_lines(&site, &expected).await;
        assert_eq!(record(&site).await, json!({"version": version}));
        running.signal();
        running.end().await.unwrap();
    }
    let asked = site.asked().await;
    let (hook, pass) = (asked.verb("patch").resource("configmaps"), asked.verb("update").resource("notes"));
    assert!(hook.len() >= 3 && !pass.is_empty(), "{asked:?}");
}

/// The tree of a controller without a hook.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Errand)]
struct ConfigTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl ConfigTree {
    fn config(_: &Errand) -> ConfigMap {
        ConfigMap::default()
    }
}

async fn failing(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    create_journal(&site, json!({"broken": "yes"})).await;
    let operator = operator(&site, "0.2.0").controls::<Errand, ConfigTree>();
    let _running = site.start(&operator).await;
    site.create(&fight::note("a")).await;
    site.create(&Errand::new("two", ErrandSpec::default())).await;
    // The controller of the other kind works.
    until_object(&site.api::<ConfigMap>(), "two", "is there", |_| true).await;
    until_lines(&site, "nothing to 0.2.0 at the start\nnothing to 0.2.0 at page 3\n").await;
    assert!(site.api::<ConfigMap>().get_opt("one").await.unwrap().is_none(), "a pass ran before the upgrade");
    let expected = json!({"unfinished": {"version": "0.2.0", "checkpoint": "page 3"}});
    assert_eq!(record(&site).await, expected);
    let why = operator.why(plane.client(), "notes", "one", Some(&site.namespace)).await.unwrap();
    assert!(why.state.contains("the upgrade hook of live for version 0.2.0 has not succeeded yet"), "{why:?}");
    site.patch::<ConfigMap>("journal", &json!({"data": {"broken": null}})).await;
    note_says(&site, "Provisioned").await;
    assert_eq!(record(&site).await, json!({"version": "0.2.0"}));
}

/// Tries to change the spec of each note, in every way.
#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap: patch))]
struct Meddle;

impl UpgradeHook for Meddle {
    async fn upgrade(upgrade: &Upgrade) -> Result<()> {
        let api = Api::<Note>::default_namespaced(upgrade.client());
        let mut refusals = Vec::new();
        let spec = json!({"spec": {"text": "changed"}});
        let patches = [
            Patch::Merge(spec.clone()),
            Patch::Apply(
                json!({"apiVersion": "live.example.com/v1", "kind": "Note", "metadata": {"name": "one"}, "spec": spec["spec"]}),
            ),
        ];
        for (patch, params) in patches.into_iter().zip([PatchParams::default(), PatchParams::apply("meddle").force()]) {
            let error = api.patch("one", &params, &patch).await.err();
            refusals.push(error.map(|error| error.to_string()).unwrap_or_default());
        }
        let labels = Patch::Merge(json!({"metadata": {"labels": {"upgraded": "yes"}}}));
        api.patch("one", &PatchParams::default(), &labels).await?;
        let configs = Api::<ConfigMap>::default_namespaced(upgrade.client());
        let report = Patch::Merge(json!({"data": {"refusals": refusals.join("\n")}}));
        configs.patch("journal", &PatchParams::default(), &report).await?;
        Ok(())
    }
}

async fn no_spec(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    create_journal(&site, json!({})).await;
    let operator = site.operator().controls_with::<Note, NoteTree>(|controller| controller.upgrade::<Meddle>());
    site.install(&operator).await;
    site.create(&fight::note("a")).await;
    let _running = site.run(&operator, RunOptions::default()).await;
    note_says(&site, "Provisioned").await;
    let note = site.api::<Note>().get("one").await.unwrap();
    assert_eq!(note.spec.text, "a");
    assert_eq!(note.metadata.labels.unwrap()["upgraded"], "yes");
    let journal = site.api::<ConfigMap>().get("journal").await.unwrap().data.unwrap();
    let refusals: Vec<_> = journal["refusals"].lines().collect();
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    assert!(refusals.iter().all(|refusal| refusal.contains("must not change the spec")), "{refusals:?}");
}

async fn initialize(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls_with::<Note, NoteTree>(|controller| {
        controller.initialize(async |client| {
            let configs = Api::<ConfigMap>::default_namespaced(client).get_opt("journal").await?;
            if configs.is_none() {
                return Err(std::io::Error::other("there is no journal").into());
            }
            Ok(())
        })
    });
    site.install(&operator).await;
    let ended = site.run(&operator, RunOptions::default()).await.end().await;
    assert!(matches!(&ended, Err(RunError::Hook { .. })), "{ended:?}");
    wait::until("only the hook has read anything", PATIENCE, async || {
        let asked = site.settled().await;
        if asked.resource("notes").is_empty() { Ok(()) } else { Err(format!("{asked:?}")) }
    })
    .await;
}
