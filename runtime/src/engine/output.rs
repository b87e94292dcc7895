//! Outputs of the nodes of one pass: objects written, and values of hand-written nodes.

use crate::cache::ObjectKey;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// What all nodes of a pass have made so far.
#[derive(Default)]
pub(crate) struct Blackboard {
    given: Mutex<HashMap<String, Arc<dyn Any + Send + Sync>>>,
    /// Objects written in this pass, by node and name: the cache may not have them yet.
    written: Mutex<HashMap<Arc<str>, Vec<OutputObject>>>,
}

/// An object as the server answered a write.
#[derive(Clone)]
pub(crate) struct OutputObject {
    pub(crate) key: ObjectKey,
    pub(crate) uid: String,
    pub(crate) version: String,
    pub(crate) json: Arc<[u8]>,
}

impl Blackboard {
    pub(crate) fn give(&self, node: &str, value: Arc<dyn Any + Send + Sync>) {
        self.given.lock().insert(node.to_owned(), value);
    }

    pub(crate) fn write(&self, node: &Arc<str>, object: OutputObject) {
        self.written.lock().entry(node.clone()).or_default().push(object);
    }

    pub(crate) fn written(&self, node: &str) -> Vec<OutputObject> {
        self.written.lock().get(node).cloned().unwrap_or_default()
    }

    pub(crate) fn given(&self, node: &str) -> Option<Arc<dyn Any + Send + Sync>> {
        self.given.lock().get(node).cloned()
    }
}
