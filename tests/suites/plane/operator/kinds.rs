//! The kinds that the suites' own operators control.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::{For, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::{sync::Semaphore, time::Instant};

/// What no status may show, and the words of each panic that is meant to be.
pub(crate) const SECRET_DETAIL: &str = "the secret detail";

/// A text, kept in a ConfigMap.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Note", namespaced, status = "Status")]
pub(crate) struct NoteSpec {
    #[serde(default)]
    pub(crate) pause: bool,
    pub(crate) text: String,
}

/// As a note, of a kind that comes and goes.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Comet", namespaced, status = "Status")]
pub(crate) struct CometSpec {
    pub(crate) text: String,
}

/// What a comet is in: made of an object of a kind that comes and goes.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Sky", plural = "skies", namespaced, status = "Status")]
pub(crate) struct SkySpec {
    pub(crate) text: String,
}

/// As a note, of a kind whose definition in the cluster lets anything pass.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Letter", namespaced, status = "Status")]
pub(crate) struct LetterSpec {
    pub(crate) pages: i32,
}

/// Work whose outcomes are as its spec orders.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Errand", namespaced, status = "ErrandStatus")]
pub(crate) struct ErrandSpec {
    #[serde(default)]
    pub(crate) first: Outcome,
    #[serde(default)]
    pub(crate) second: Outcome,
    /// Of the first on the way down.
    #[serde(default)]
    pub(crate) undo: Outcome,
}

/// How a step of an errand ends.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    #[default]
    Done,
    Yield,
    Unexpected,
    Conflict,
    UserAction,
    Terminal,
    Panic,
    /// When the diary's gate lets it through, and then well.
    Gate,
}

/// A field of its own beside what every status has.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrandStatus {
    /// What the first step was told to do last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tried: Option<Outcome>,
    #[serde(flatten)]
    pub(crate) standard: Status,
}

/// What the steps of errands did, and a gate that some wait at.
#[derive(Clone, Debug)]
pub(crate) struct Diary {
    lines: Arc<Mutex<Vec<(Instant, String)>>>,
    pub(crate) gate: Arc<Semaphore>,
}

impl Default for Diary {
    fn default() -> Self {
        Self { lines: Arc::default(), gate: Arc::new(Semaphore::new(0)) }
    }
}

impl Diary {
    fn note(&self, line: String) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), line));
    }

    /// When each of the lines was written that are like this.
    pub(crate) fn times(&self, line: &str) -> Vec<Instant> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|(_, written)| written == line).map(|(time, _)| *time).collect()
    }

    async fn obey(&self, line: String, outcome: Outcome) -> Result<()> {
        self.note(line);
        match outcome {
            Outcome::Done => Ok(()),
            Outcome::Yield => yield_because("NotYet", "the errand takes its time"),
            Outcome::Unexpected => Err(std::io::Error::other(SECRET_DETAIL).into()),
            Outcome::Conflict => Err(Error::Conflict(Box::new(std::io::Error::other("somebody else wrote it")))),
            Outcome::UserAction => Err(Error::user_action("WrongAddress", "the address is wrong")),
            Outcome::Terminal => Err(Error::terminal("RoadClosed", "there is no way")),
            Outcome::Panic => panic!("{SECRET_DETAIL}"),
            Outcome::Gate => {
                self.gate.acquire().await.map(tokio::sync::SemaphorePermit::forget)?;
                Ok(())
            }
        }
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
pub(crate) struct NoteTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl NoteTree {
    fn config(note: &Note) -> ConfigMap {
        holding(&note.spec.text)
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Comet)]
pub(crate) struct CometTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl CometTree {
    fn config(comet: &Comet) -> ConfigMap {
        holding(&comet.spec.text)
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Sky)]
pub(crate) struct SkyTree {
    #[provisioner(resource)]
    comet: Comet,
}

impl SkyTree {
    fn comet(sky: &Sky) -> Comet {
        Comet::new("", CometSpec { text: sky.spec.text.clone() })
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Letter)]
pub(crate) struct LetterTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl LetterTree {
    fn config(letter: &Letter) -> ConfigMap {
        holding(&letter.spec.pages.to_string())
    }
}

/// A hand-written node can't be taken down without its object.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(crate) struct LetterByHand;

impl Provision<Letter> for LetterByHand {
    async fn provision(_: &Context<'_, Letter, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Letter, Self>) -> Result<()> {
        Ok(())
    }
}

/// Both steps at once.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = For<Errand, Diary>)]
pub(crate) struct ErrandTree {
    first: First,
    second: Second,
}

/// A ConfigMap, and then the first step.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = For<Errand, Diary>)]
pub(crate) struct RelayTree {
    #[provisioner(resource)]
    config: ConfigMap,
    first: First,
}

impl RelayTree {
    fn config(errand: &Errand) -> ConfigMap {
        holding(&format!("{:?}", errand.spec.second))
    }
}

/// A ConfigMap that has another text in every pass, and a node that has every pass write the status.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = For<Errand, Arc<AtomicU64>>)]
pub(crate) struct RestlessTree {
    turn: Turn,
    #[provisioner(resource)]
    config: ConfigMap,
}

/// From here on the counter of a [`RestlessTree`] counts no more.
const ENOUGH: u64 = 200;

impl RestlessTree {
    fn config(draft: &Draft<'_, For<Errand, Arc<AtomicU64>>>) -> ConfigMap {
        let counter = draft.options();
        let count = counter.load(Ordering::Relaxed);
        if count < ENOUGH {
            counter.store(count + 1, Ordering::Relaxed);
        }
        holding(&count.min(ENOUGH).to_string())
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(crate) struct Turn;

impl Provision<For<Errand, Arc<AtomicU64>>> for Turn {
    async fn provision(cx: &Context<'_, For<Errand, Arc<AtomicU64>>, Self>) -> Result<()> {
        let is_even = cx.options().load(Ordering::Relaxed).is_multiple_of(2);
        cx.status(|status| status.tried = Some(if is_even { Outcome::Done } else { Outcome::Yield }));
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, For<Errand, Arc<AtomicU64>>, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(crate) struct First;

impl Provision<For<Errand, Diary>> for First {
    async fn provision(cx: &Context<'_, For<Errand, Diary>, Self>) -> Result<()> {
        let errand = cx.object();
        cx.status(|status| status.tried = Some(errand.spec.first));
        cx.options().obey(format!("first {}", name(errand)), errand.spec.first).await
    }

    async fn deprovision(cx: &Teardown<'_, For<Errand, Diary>, Self>) -> Result<()> {
        let errand = cx.object();
        cx.options().obey(format!("undo {}", name(errand)), errand.spec.undo).await
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub(crate) struct Second;

impl Provision<For<Errand, Diary>> for Second {
    async fn provision(cx: &Context<'_, For<Errand, Diary>, Self>) -> Result<()> {
        let errand = cx.object();
        cx.options().obey(format!("second {}", name(errand)), errand.spec.second).await
    }

    async fn deprovision(_: &Teardown<'_, For<Errand, Diary>, Self>) -> Result<()> {
        Ok(())
    }
}

fn name(errand: &Errand) -> &str {
    errand.metadata.name.as_deref().unwrap_or_default()
}

fn holding(text: &str) -> ConfigMap {
    ConfigMap { data: Some(BTreeMap::from([("text".to_owned(), text.to_owned())])), ..ConfigMap::default() }
}

/// The text that a ConfigMap of these trees holds.
pub(crate) fn text(config: &ConfigMap) -> &str {
    config.data.as_ref().and_then(|data| data.get("text")).map_or("", String::as_str)
}

/// What `Available` says: truth, reason, and the sentence.
pub(crate) fn available(status: Option<&Status>) -> Option<(&str, &str, &str)> {
    let held = status?.conditions.iter().find(|held| held.type_ == "Available")?;
    Some((&held.status, &held.reason, &held.message))
}

/// Whether `Available` says that all nodes of a note are provisioned.
pub(crate) fn is_provisioned(note: &Note) -> bool {
    available(note.status.as_ref()).is_some_and(|(_, reason, _)| reason == "Provisioned")
}
