//! `NodeOutputs`: the objects and values that the nodes of a pass produce for later nodes.

use crate::cache::ObjectKey;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// The outputs that the nodes of a pass have produced so far, by the path of the node.
#[derive(Default)]
pub(crate) struct NodeOutputs {
    /// Values of hand-written nodes (`cx.set_output(...)`).
    values: Mutex<HashMap<String, Arc<dyn Any + Send + Sync>>>,
    /// Objects of resource nodes that this pass applied. The cache may not have their new state yet.
    objects: Mutex<HashMap<Arc<str>, Vec<OutputObject>>>,
}

/// An object as the API server returned it in the answer to an apply.
#[derive(Clone)]
pub(crate) struct OutputObject {
    pub(crate) key: ObjectKey,
    pub(crate) uid: String,
    pub(crate) version: String,
    pub(crate) json: Arc<[u8]>,
}

impl NodeOutputs {
    /// Stores the value of a hand-written node.
    pub(crate) fn set_value(&self, node: &str, value: Arc<dyn Any + Send + Sync>) {
        self.values.lock().insert(node.to_owned(), value);
    }

    /// Returns the value that a hand-written node has stored in this pass; `None` if there is none.
    pub(crate) fn value(&self, node: &str) -> Option<Arc<dyn Any + Send + Sync>> {
        self.values.lock().get(node).cloned()
    }

    /// Adds an object that a resource node has applied.
    pub(crate) fn add_object(&self, node: &Arc<str>, object: OutputObject) {
        self.objects.lock().entry(node.clone()).or_default().push(object);
    }

    /// Returns the objects that a resource node has applied in this pass.
    pub(crate) fn objects(&self, node: &str) -> Vec<OutputObject> {
        self.objects.lock().get(node).cloned().unwrap_or_default()
    }
}
