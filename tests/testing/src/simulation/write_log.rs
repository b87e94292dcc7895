//! `WriteLog`: counts the writes of all clients by path, with the last response of the server.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use opgen_sandbox::Record;
use tokio::sync::watch;

use crate::object::NODE;

/// More writes to one path in one phase are a hot loop. A rollout or a retry needs far fewer.
const MAX_WRITES: u64 = 500;

/// Resources that are not counted: they are written periodically, or once for each event.
const UNCOUNTED: [&str; 2] = ["leases", "events"];

/// The writes to one path with one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepeatedWrite {
    /// Such as `PATCH /api/v1/namespaces/default/configmaps/home`.
    pub(crate) call: String,
    pub(crate) user: String,
    pub(crate) count: u64,
    /// The status code of the last response.
    pub(crate) code: u16,
    /// The message of the last response, if the server rejected the write.
    pub(crate) message: String,
    /// The tree node in the annotation of the last body, if it had one.
    pub(crate) node: Option<String>,
}

/// From this count on, a rejected write counts as repeated.
const MIN_REPEATS: u64 = 5;

impl RepeatedWrite {
    /// Returns whether the server rejects the write as invalid, so that each repetition fails, too. A conflict, a missing permission and a
    /// missing object don't count.
    pub(crate) fn is_invalid(&self) -> bool {
        matches!(self.code, 400 | 405 | 413 | 415 | 422)
    }

    /// Returns whether the client repeats a write that is forbidden, or whose object already exists or does not exist. Only another client
    /// can make such a write succeed.
    pub(crate) fn is_futile(&self) -> bool {
        // `remove` is the deletion of an entry in a bucket.
        let is_deletion = self.call.starts_with("DELETE") || self.call.starts_with("remove");
        let is_rejected = match self.code {
            403 => true,
            404 => !is_deletion,
            409 => self.message.contains("already exists"),
            _ => false,
        };
        is_rejected && self.count >= MIN_REPEATS
    }
}

impl fmt::Display for RepeatedWrite {
    /// Writes the client, the call with its tree node and count, and the last response.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, user, count, code, message, node } = self;
        let node = node.as_ref().map(|node| format!(" (node `{node}`)")).unwrap_or_default();
        write!(f, "{user} repeated {call}{node} {count} times; the server answered {code}")?;
        if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
    }
}

/// The writes of a run. Clones share one log.
#[derive(Clone)]
pub(crate) struct WriteLog {
    phase: Arc<Mutex<BTreeMap<String, RepeatedWrite>>>,
    nodes: Arc<Mutex<BTreeMap<String, String>>>,
    hot_loop: Arc<watch::Sender<Option<RepeatedWrite>>>,
}

impl WriteLog {
    pub(crate) fn new() -> Self {
        Self { phase: Arc::default(), nodes: Arc::default(), hot_loop: Arc::new(watch::channel(None).0) }
    }

    /// Adds a call from the audit log of a sandbox if it is a write. Leaves out dry runs and the resources in [`UNCOUNTED`].
    pub(crate) fn record(&self, record: &Record) {
        let Some(method) = method_of(record.verb) else { return };
        // A dry run stores nothing.
        if UNCOUNTED.contains(&record.resource.as_str()) || record.uri.contains("dryRun=") {
            return;
        }
        let path = record.uri.split('?').next().unwrap_or_default();
        self.add(format!("{method} {path}"), path, &record.user, record.code, record.message.clone());
    }

    /// Adds a write to a bucket (a key-value store), such as `put units/shop.web`, with its result as an HTTP status code.
    pub(super) fn record_write(&self, call: String, user: &str, code: u16, message: String) {
        self.add(call, "", user, code, message);
    }

    /// Counts a write with its last response and the tree node of `path`. If the same write was repeated more than [`MAX_WRITES`] times in
    /// the phase, wakes [`Self::hot_loop`], unless a write has done so before.
    fn add(&self, call: String, path: &str, user: &str, code: u16, message: String) {
        let mut phase = self.phase();
        let write = phase.entry(call.clone()).or_insert_with(|| RepeatedWrite {
            call,
            user: String::new(),
            count: 0,
            code: 0,
            message: String::new(),
            node: None,
        });
        write.count += 1;
        write.node = self.node_of(path).or(write.node.take());
        (write.code, write.user) = (code, user.to_owned());
        write.message = message;
        if write.count > MAX_WRITES {
            let write = write.clone();
            self.hot_loop.send_if_modified(|hot_loop| hot_loop.is_none() && hot_loop.replace(write).is_none());
        }
    }

    /// Stores the tree node that the annotation in the body of a request names as the node of the object at a path. Does nothing without
    /// it.
    pub(crate) fn record_node(&self, path: &str, content: &[u8]) {
        // Most bodies lack the annotation: this search is cheaper than parsing them.
        if !content.windows(NODE.len()).any(|window| window == NODE.as_bytes()) {
            return;
        }
        let Ok(content) = serde_json::from_slice::<serde_json::Value>(content) else { return };
        if let Some(node) = content["metadata"]["annotations"][NODE].as_str() {
            self.nodes.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), node.to_owned());
        }
    }

    /// Returns the tree node that was last recorded for a path.
    fn node_of(&self, path: &str) -> Option<String> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// Starts a new phase, in which all counts are 0.
    pub(crate) fn begin_phase(&self) {
        self.phase().clear();
    }

    /// Returns the writes of the current phase.
    pub(crate) fn current_phase(&self) -> Vec<RepeatedWrite> {
        self.phase().values().cloned().collect()
    }

    /// Waits until a client repeats a write too often, which is a hot loop, and returns the write.
    pub(crate) async fn hot_loop(&self) -> RepeatedWrite {
        let mut hot_loop = self.hot_loop.subscribe();
        loop {
            if let Some(write) = hot_loop.borrow_and_update().clone() {
                return write;
            }
            // The sender is dropped with the log: then no hot loop can be reported.
            if hot_loop.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Locks the writes of the current phase, by call.
    fn phase(&self) -> MutexGuard<'_, BTreeMap<String, RepeatedWrite>> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the HTTP method of a verb that writes; `None` for other verbs.
fn method_of(verb: &str) -> Option<&'static str> {
    Some(match verb {
        "create" => "POST",
        "update" => "PUT",
        "patch" => "PATCH",
        "delete" | "deletecollection" => "DELETE",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// Returns an audit record of a call, with an error message if the status code is one of an error.
    fn record(verb: &'static str, resource: &str, code: u16) -> Record {
        Record {
            verb,
            user: "somebody".to_owned(),
            user_agent: String::new(),
            group: String::new(),
            resource: resource.to_owned(),
            subresource: String::new(),
            namespace: "a".to_owned(),
            name: String::new(),
            code,
            message: if code < 300 { String::new() } else { "it is too long".to_owned() },
            uri: format!("/api/v1/namespaces/a/{resource}?fieldManager=a"),
        }
    }

    #[tokio::test]
    async fn a_hot_loop_is_reported_with_its_path_and_the_last_response() {
        let log = WriteLog::new();
        for _ in 0..MAX_WRITES {
            log.record(&record("create", "pods", 201));
            log.record(&record("list", "pods", 200));
            log.record(&record("update", "leases", 200));
        }
        assert_eq!(log.hot_loop().now_or_never(), None);
        log.record(&record("create", "pods", 422));
        let text = log.hot_loop().now_or_never().map(|write| write.to_string());
        assert_eq!(
            text.as_deref(),
            Some("somebody repeated POST /api/v1/namespaces/a/pods 501 times; the server answered 422: it is too long")
        );
    }

    #[test]
    fn futile_repetitions_differ_from_reasonable_retries() {
        let repeated = |verb: &'static str, code: u16, message: &str, times: u64| {
            let log = WriteLog::new();
            for _ in 0..times {
                log.record(&Record { message: message.to_owned(), ..record(verb, "pods", code) });
            }
            log.current_phase()[0].is_futile()
        };
        assert!(repeated("create", 403, "pods is forbidden", MIN_REPEATS));
        assert!(
            !repeated("create", 403, "pods is forbidden", MIN_REPEATS - 1),
            "somebody may have allowed it meanwhile"
        );
        assert!(repeated("create", 409, "pods \"a\" already exists", MIN_REPEATS));
        assert!(
            !repeated("update", 409, "the object has been modified", MIN_REPEATS),
            "a conflict is to be tried again"
        );
        assert!(repeated("patch", 404, "pods \"a\" not found", MIN_REPEATS));
        assert!(!repeated("delete", 404, "pods \"a\" not found", MIN_REPEATS), "what is to be gone is gone");
    }

    #[test]
    fn the_node_of_a_path_is_the_annotation_of_its_body() {
        let log = WriteLog::new();
        let content = serde_json::json!({"metadata": {"annotations": {NODE: "tools/shed"}}}).to_string();
        log.record_node("/api/v1/namespaces/a/pods", content.as_bytes());
        log.record(&record("create", "pods", 422));
        let text = log.current_phase()[0].to_string();
        assert!(text.contains("repeated POST /api/v1/namespaces/a/pods (node `tools/shed`) 1 times"), "{text}");
    }

    #[test]
    fn a_phase_counts_from_zero() {
        let log = WriteLog::new();
        log.record(&record("create", "pods", 422));
        assert!(log.current_phase()[0].is_invalid());
        log.begin_phase();
        assert_eq!(log.current_phase(), []);
    }
}
