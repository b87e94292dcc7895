//! `FakeCluster`: replaces the cluster in unit tests of trees. It stores the objects of each node, and records each call of a node with its
//! answer.

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

/// A call of a node, with its answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Call {
    /// The node's path, with keys: `pools[blue]/service`.
    pub node: String,
    /// The action that the tree requested.
    pub action: NodeAction,
    /// The answer of the node.
    pub answer: Answer,
}

/// An action that the tree requests of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NodeAction {
    /// Create or update its objects.
    Provision,
    /// Remove its objects: the owner is being deleted, the node is not wanted, or its item is gone.
    Deprovision,
}

/// The answer of a node in a `TreeHarness`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// The node succeeds.
    #[default]
    Ok,
    /// The node yields: it is not done yet.
    Yield,
    /// The node fails with an unexpected error.
    Fail,
    /// The node fails until the spec changes.
    UserAction,
    /// The node fails for good.
    Terminal,
    /// The node panics.
    Panic,
}

impl fmt::Display for Call {
    /// Writes the action, the node, and the answer unless it is `Ok`: `provision pools[blue]/service: yield`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match self.action {
            NodeAction::Provision => "provision",
            NodeAction::Deprovision => "deprovision",
        };
        write!(f, "{action} {}", self.node)?;
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

/// The objects and answers of the nodes in a `TreeHarness`, in place of a cluster.
#[derive(Debug, Default)]
pub(crate) struct FakeCluster {
    answers: Mutex<BTreeMap<String, Answer>>,
    calls: Mutex<Vec<Call>>,
    /// The objects of each node, by its path; present once the node is provisioned, until it is deprovisioned.
    objects: Mutex<BTreeMap<String, Vec<Arc<[u8]>>>>,
}

impl FakeCluster {
    /// Sets the answer of a node.
    pub(crate) fn answer(&self, node: &str, answer: Answer) {
        self.answers.lock().insert(node.to_owned(), answer);
    }

    /// Returns the calls since the last call of this function, in order.
    pub(crate) fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock())
    }

    /// Returns the paths of the nodes that were provisioned and not deprovisioned.
    pub(crate) fn nodes_with_objects(&self) -> BTreeSet<String> {
        self.objects.lock().keys().cloned().collect()
    }

    /// Provisions a resource node with the wanted objects, or deprovisions it if there are none.
    pub(crate) fn converge(&self, node: &str, wanted: &[Value]) -> Result<()> {
        if wanted.is_empty() {
            return self.deprovision(node);
        }
        let objects = wanted.iter().map(|object| Ok(serde_json::to_vec(object)?.into())).collect::<Result<_>>()?;
        self.provision(node, objects)
    }

    /// Returns the item keys below an `each` node that were provisioned.
    pub(crate) fn existing_keys(&self, node: &str) -> BTreeSet<String> {
        self.objects.lock().keys().filter_map(|path| key_below(node, path)).collect()
    }

    /// Returns the objects of a node, in the form in which other nodes read them. Their position serves as name and uid.
    pub(crate) fn output_objects(&self, node: &str) -> Vec<OutputObject> {
        let objects = self.objects.lock().get(node).cloned().unwrap_or_default();
        let to_output = |(at, json): (usize, Arc<[u8]>)| OutputObject {
            key: ObjectKey::cluster(&at.to_string()),
            uid: at.to_string(),
            version: String::new(),
            json,
        };
        objects.into_iter().enumerate().map(to_output).collect()
    }

    /// Stores the objects of a node and returns its answer. The objects are stored even if the answer is an error.
    pub(crate) fn provision(&self, node: &str, objects: Vec<Arc<[u8]>>) -> Result<()> {
        self.objects.lock().insert(node.to_owned(), objects);
        self.record_call(node, NodeAction::Provision)
    }

    /// Returns the answer of a node, and removes its objects if the answer is `Ok`.
    pub(crate) fn deprovision(&self, node: &str) -> Result<()> {
        self.record_call(node, NodeAction::Deprovision)?;
        self.objects.lock().remove(node);
        Ok(())
    }

    /// Records a call and turns the answer of the node into a result.
    fn record_call(&self, node: &str, action: NodeAction) -> Result<()> {
        let answer = self.answers.lock().get(node).copied().unwrap_or_default();
        self.calls.lock().push(Call { node: node.to_owned(), action, answer });
        match answer {
            Answer::Ok => Ok(()),
            Answer::Yield => Err(Error::yielding("TestAnswer", format!("{node} waits"))),
            Answer::Fail => Err(Error::unexpected(format!("{node} fails"))),
            Answer::UserAction => Err(Error::user_action("TestAnswer", format!("{node} wants another spec"))),
            Answer::Terminal => Err(Error::terminal("TestAnswer", format!("{node} gives up"))),
            Answer::Panic => std::panic::resume_unwind(Box::new(format!("{node} panics"))),
        }
    }
}
