//! `World`: stands in for the cluster in tests of trees, and records the calls of nodes.

use crate::{
    cache::ObjectKey,
    engine::output::OutputObject,
    error::{Error, Result},
    shape::key_below,
};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// What happened to a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Call {
    /// The node's path, with keys: `pools[blue]/service`.
    pub node: String,
    /// What was asked of it.
    pub asked: NodeAction,
    /// What it answered.
    pub answer: Answer,
}

/// What is asked of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NodeAction {
    /// To bring the wanted state nearer.
    Provision,
    /// To remove what it made, since the owner goes, it is not wanted, or its key is gone.
    Deprovision,
}

/// What a node answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// Done.
    #[default]
    Ok,
    /// Not yet.
    Yield,
    /// An unexpected error.
    Fail,
    /// Only a change of the spec helps.
    UserAction,
    /// Nothing helps.
    Terminal,
    /// A panic.
    Panic,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = match self.asked {
            NodeAction::Provision => "provision",
            NodeAction::Deprovision => "deprovision",
        };
        write!(f, "{asked} {}", self.node)?;
        let answer = match self.answer {
            Answer::Ok => return Ok(()),
            Answer::Yield => "yield",
            Answer::Fail => "fail",
            Answer::UserAction => "user action",
            Answer::Terminal => "terminal",
            Answer::Panic => "panic",
        };
        write!(f, ": {answer}")
    }
}

/// What stands in for the cluster.
#[derive(Debug, Default)]
pub(crate) struct World {
    answers: Mutex<BTreeMap<String, Answer>>,
    calls: Mutex<Vec<Call>>,
    /// What each node has made and not removed.
    there: Mutex<BTreeMap<String, Vec<Arc<[u8]>>>>,
}

impl World {
    pub(crate) fn answer(&self, node: &str, answer: Answer) {
        self.answers.lock().insert(node.to_owned(), answer);
    }

    pub(crate) fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock())
    }

    /// The nodes that have made something and not removed it.
    pub(crate) fn left(&self) -> BTreeSet<String> {
        self.there.lock().keys().cloned().collect()
    }

    /// A resource node: all wanted objects, or none.
    pub(crate) fn converge(&self, node: &str, wanted: &[Value]) -> Result<()> {
        if wanted.is_empty() {
            return self.removed(node);
        }
        let objects = wanted.iter().map(|object| Ok(serde_json::to_vec(object)?.into())).collect::<Result<_>>()?;
        self.made(node, objects)
    }

    pub(crate) fn keys_of(&self, node: &str) -> BTreeSet<String> {
        self.there.lock().keys().filter_map(|path| key_below(node, path)).collect()
    }

    pub(crate) fn objects_of(&self, node: &str) -> Vec<OutputObject> {
        let objects = self.there.lock().get(node).cloned().unwrap_or_default();
        let named = |(at, json): (usize, Arc<[u8]>)| OutputObject {
            key: ObjectKey::cluster(&at.to_string()),
            uid: at.to_string(),
            version: String::new(),
            json,
        };
        objects.into_iter().enumerate().map(named).collect()
    }

    /// Even a call that doesn't succeed may have made something.
    pub(crate) fn made(&self, node: &str, objects: Vec<Arc<[u8]>>) -> Result<()> {
        self.there.lock().insert(node.to_owned(), objects);
        self.called(node, NodeAction::Provision)
    }

    pub(crate) fn removed(&self, node: &str) -> Result<()> {
        self.called(node, NodeAction::Deprovision)?;
        self.there.lock().remove(node);
        Ok(())
    }

    fn called(&self, node: &str, asked: NodeAction) -> Result<()> {
        let answer = self.answers.lock().get(node).copied().unwrap_or_default();
        self.calls.lock().push(Call { node: node.to_owned(), asked, answer });
        match answer {
            Answer::Ok => Ok(()),
            Answer::Yield => Err(Error::yielding("Told", format!("{node} waits"))),
            Answer::Fail => Err(Error::unexpected(format!("{node} fails"))),
            Answer::UserAction => Err(Error::user_action("Told", format!("{node} wants another spec"))),
            Answer::Terminal => Err(Error::terminal("Told", format!("{node} gives up"))),
            Answer::Panic => std::panic::resume_unwind(Box::new(format!("{node} panics"))),
        }
    }
}
