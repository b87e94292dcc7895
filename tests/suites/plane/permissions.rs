//! Roles that lack something: it is said plainly, and nobody has to restart anything when it is given.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use libtest_mimic::Trial;
use opgen::{Backoff, Operator, RunOptions};
use opgen_tests::{
    Plane, Port, case_served,
    wait::{self, PATIENCE, until_object},
};
use serde_json::json;

use crate::operator::{
    example::WEBAPP,
    kinds::{self, Note, NoteSpec, NoteTree, available},
    log,
    program::{Program, readiness},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("an_operator_that_may_not_list_a_child_kind_says_so_and_goes_on_once_it_may", async |plane| {
            unable_to_follow(plane, Lack::of_children("list")).await;
        }),
        case_served("an_operator_that_may_not_watch_a_child_kind_says_so_and_goes_on_once_it_may", async |plane| {
            unable_to_follow(plane, Lack::of_children("watch")).await;
        }),
        case_served("an_operator_that_may_not_list_its_own_kind_says_so_and_goes_on_once_it_may", async |plane| {
            unable_to_follow(plane, Lack::of_notes("notes", "list")).await;
        }),
        case_served("an_operator_that_may_not_watch_its_own_kind_says_so_and_goes_on_once_it_may", async |plane| {
            unable_to_follow(plane, Lack::of_notes("notes", "watch")).await;
        }),
        case_served(
            "an_operator_that_may_not_look_at_what_is_in_a_childs_way_says_so_and_goes_on_once_it_may",
            unable_to_look,
        ),
        case_served("an_operator_that_may_not_create_a_child_says_so_and_goes_on_once_it_may", async |plane| {
            unable_to_write(plane, Lack::of_children("create"), Said::InCondition).await;
        }),
        case_served("an_operator_that_may_not_patch_a_child_says_so_and_goes_on_once_it_may", unable_to_patch),
        case_served("an_operator_that_may_not_write_the_status_says_so_and_goes_on_once_it_may", async |plane| {
            unable_to_write(plane, Lack::of_notes("notes/status", "update"), Said::InLog).await;
        }),
        case_served("an_operator_that_may_not_patch_its_own_kind_says_so_and_goes_on_once_it_may", async |plane| {
            unable_to_write(plane, Lack::of_notes("notes", "patch"), Said::InLog).await;
        }),
        case_served("an_operator_that_may_not_delete_a_child_says_so_and_goes_on_once_it_may", unable_to_delete),
        case_served("a_missing_permission_on_all_namespaces_is_said_at_cluster_scope", at_cluster_scope),
    ]
}

/// A verb that the role doesn't have.
struct Lack {
    group: &'static str,
    resource: &'static str,
    verb: &'static str,
}

impl Lack {
    fn of_children(verb: &'static str) -> Self {
        Self { group: "", resource: "configmaps", verb }
    }

    fn of_notes(resource: &'static str, verb: &'static str) -> Self {
        Self { group: "live.example.com", resource, verb }
    }

    /// What the operator has to say of it.
    fn sentence(&self, site: &Site) -> String {
        let Self { group, resource, verb } = self;
        let group = if group.is_empty() { "the core group" } else { group };
        let namespace = &site.namespace;
        format!(
            "the operator may not {verb} {resource} of {group} in namespace {namespace}; its role lacks `{resource}: {verb}`"
        )
    }

    /// What the server says of it, which the log of a failed pass has.
    fn refusal(&self, site: &Site) -> String {
        let Self { group, resource, verb } = self;
        let namespace = &site.namespace;
        format!("cannot {verb} resource \"{resource}\" in API group \"{group}\" in the namespace \"{namespace}\"")
    }

    async fn begins(&self, site: &Site) {
        site.forbid(self.group, self.resource, self.verb).await;
    }

    async fn ends(&self, site: &Site, operator: &Operator) {
        site.grant(operator).await;
        site.may(self.group, self.resource, self.verb, true).await;
    }
}

/// Where the sentence can be read beside readiness.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    InCondition,
    InLog,
}

/// An operator that is soon back after an error.
fn notes(site: &Site) -> Operator {
    let after = Duration::from_millis(500);
    site.operator().controls_with::<Note, NoteTree>(|notes| notes.requeue_after(after).backoff(Backoff::Fixed(after)))
}

fn note(text: &str) -> Note {
    Note::new("one", NoteSpec { pause: false, text: text.to_owned() })
}

/// It lacks the verb when it starts: a watch that is open is not cut by a change of the role.
async fn unable_to_follow(plane: Arc<Plane>, lack: Lack) {
    let site = Site::new(&plane).await;
    let operator = notes(&site);
    site.install(&operator).await;
    lack.begins(&site).await;
    site.create(&note("a")).await;
    let port = Port::reserve();
    let probes = port.address();
    let _running = site.run(&operator, RunOptions::default().probes(probes)).await;
    let sentence = lack.sentence(&site);
    is_unready(probes, &sentence).await;
    is_logged(&sentence).await;
    if lack.resource == "configmaps" {
        says(&site, "Forbidden", &sentence).await;
        assert!(site.asked().await.resource("configmaps").writes().is_empty());
    }

    lack.ends(&site, &operator).await;
    says(&site, "Provisioned", "").await;
    is_ready(probes).await;
    site.patch::<Note>("one", &json!({"spec": {"text": "b"}})).await;
    until_object(&site.api::<ConfigMap>(), "one", "follows", |config| kinds::text(config) == "b").await;
    says(&site, "Provisioned", "").await;
}

/// It loses the verb while it runs.
async fn unable_to_write(plane: Arc<Plane>, lack: Lack, said: Said) {
    let site = Site::new(&plane).await;
    let operator = notes(&site);
    let _running = site.start(&operator).await;
    site.create(&Note::new("earlier", NoteSpec::default())).await;
    until_object(&site.api::<Note>(), "earlier", "is done", |note| note.status.is_some()).await;
    lack.begins(&site).await;
    site.create(&note("a")).await;
    is_logged(&lack.refusal(&site)).await;
    match said {
        Said::InCondition => says(&site, "Forbidden", &lack.sentence(&site)).await,
        Said::InLog => is_logged(&lack.sentence(&site)).await,
    }
    lack.ends(&site, &operator).await;
    says(&site, "Provisioned", "").await;
}

/// A child that exists is patched.
async fn unable_to_patch(plane: Arc<Plane>) {
    let (site, lack) = (Site::new(&plane).await, Lack::of_children("patch"));
    let operator = notes(&site);
    let _running = site.start(&operator).await;
    site.create(&note("a")).await;
    says(&site, "Provisioned", "").await;
    lack.begins(&site).await;
    site.patch::<Note>("one", &serde_json::json!({"spec": {"text": "b"}})).await;
    is_logged(&lack.refusal(&site)).await;
    says(&site, "Forbidden", &lack.sentence(&site)).await;
    lack.ends(&site, &operator).await;
    says(&site, "Provisioned", "").await;
}

/// A child is created without a look; only what is in its way is looked at.
async fn unable_to_look(plane: Arc<Plane>) {
    let (site, lack) = (Site::new(&plane).await, Lack::of_children("get"));
    let operator = notes(&site);
    let _running = site.start(&operator).await;
    lack.begins(&site).await;
    let metadata = ObjectMeta { name: Some("one".to_owned()), ..ObjectMeta::default() };
    site.create(&ConfigMap { metadata, ..ConfigMap::default() }).await;
    site.create(&note("a")).await;
    is_logged(&lack.refusal(&site)).await;
    says(&site, "Forbidden", &lack.sentence(&site)).await;
    lack.ends(&site, &operator).await;
    let sentence =
        "exists and belongs to another client; delete or rename it, choose another name, or let the node adopt it";
    says(&site, "NotOwned", &format!("ConfigMap {}/one {sentence}", site.namespace)).await;
    site.delete::<ConfigMap>("one").await;
    says(&site, "Provisioned", "").await;
}

async fn unable_to_delete(plane: Arc<Plane>) {
    let (site, lack) = (Site::new(&plane).await, Lack::of_children("delete"));
    let operator = notes(&site);
    let _running = site.start(&operator).await;
    site.create(&note("a")).await;
    says(&site, "Provisioned", "").await;
    lack.begins(&site).await;
    site.delete::<Note>("one").await;
    is_logged(&lack.refusal(&site)).await;
    says(&site, "Forbidden", &lack.sentence(&site)).await;
    lack.ends(&site, &operator).await;
    wait::until_gone(&site.api::<Note>(), "one").await;
    wait::until_gone(&site.api::<ConfigMap>(), "one").await;
}

/// The real program, with a ServiceAccount that may do nothing at all.
async fn at_cluster_scope(plane: Arc<Plane>) {
    WEBAPP.define(&plane).await;
    let namespace = plane.namespace("powerless").await;
    let access = plane.service_account(&namespace, "default").await;
    let program = Program::start(&WEBAPP, &plane, &access, &[]);
    let wanted = [
        "the operator may not list webapps of demo.example.com at cluster scope; its role lacks `webapps: list`",
        "the operator may not list deployments of apps at cluster scope; its role lacks `deployments: list`",
    ];
    for sentence in wanted {
        wait::until(format!("webapp says `{sentence}`"), PATIENCE, async || {
            let log = program.process.log();
            if log.contains(sentence) { Ok(()) } else { Err(program.process.log_tail(10)) }
        })
        .await;
        is_unready(program.probes, sentence).await;
    }
    program.stop().await;
}

async fn says(site: &Site, reason: &str, sentence: &str) {
    let fits = |note: &Note| {
        let status = note.status.as_ref();
        let observed = status.and_then(|status| status.observed_generation);
        let said = available(status).is_some_and(|(_, why, text)| why == reason && text == sentence);
        said && observed == note.metadata.generation
    };
    until_object(&site.api::<Note>(), "one", &format!("says `{sentence}`"), fits).await;
}

async fn is_logged(sentence: &str) {
    wait::until(format!("`{sentence}` is in the log"), PATIENCE, async || {
        if log::lines_with(&["ERROR", sentence]).is_empty() { Err("it is not".to_owned()) } else { Ok(()) }
    })
    .await;
}

async fn is_unready(probes: std::net::SocketAddr, sentence: &str) {
    wait::until(format!("readiness says `{sentence}`"), PATIENCE, async || match readiness(probes).await? {
        (503, text) if text.contains(sentence) => Ok(()),
        (code, text) => Err(format!("{code}: {text}")),
    })
    .await;
}

async fn is_ready(probes: std::net::SocketAddr) {
    wait::until("it is ready", PATIENCE, async || match readiness(probes).await? {
        (200, _) => Ok(()),
        (code, text) => Err(format!("{code}: {text}")),
    })
    .await;
}
