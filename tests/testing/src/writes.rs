//! Counts what everybody writes, the program and the sandbox's own controllers, with the last answer of the server.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use opgen_sandbox::Record;
use tokio::sync::watch;

use crate::remade::NODE;

/// More writes to one path in one phase are a loop without an end. A rollout or a retry stays far below.
pub(crate) const MOST_WRITES: u64 = 500;

/// Renewed by the clock, or told once for each thing that happens.
const UNCOUNTED: [&str; 2] = ["leases", "events"];

/// Writes to one path by one verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    /// Such as `PATCH /api/v1/namespaces/default/configmaps/home`.
    pub(crate) call: String,
    pub(crate) user: String,
    pub(crate) count: u64,
    /// Of the last answer.
    pub(crate) code: u16,
    /// The server's message, where it refused.
    pub(crate) message: String,
    /// The node of the tree that the last content was of, where it says so.
    pub(crate) node: Option<String>,
}

/// So often the same is asked for by whoever doesn't take the answer for one.
const REPEATED: u64 = 5;

impl Write {
    /// Whether the server refused what was asked, and refuses it however often it is asked: not a conflict, not a right that
    /// is missing, and nothing that may be made meanwhile.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.code, 400 | 405 | 413 | 415 | 422)
    }

    /// Whether the same is asked for again and again although the server says that it is forbidden, that it is there already,
    /// or that what is to be changed isn't there: somebody else may end that, and the program does not.
    pub(crate) fn is_in_vain(&self) -> bool {
        let is_deletion = self.call.starts_with("DELETE");
        let is_refused = match self.code {
            403 => true,
            404 => !is_deletion,
            409 => self.message.contains("already exists"),
            _ => false,
        };
        is_refused && self.count >= REPEATED
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, user, count, code, message, node } = self;
        let node = node.as_ref().map(|node| format!(" (node `{node}`)")).unwrap_or_default();
        write!(f, "{user} repeated {call}{node} {count} times; the server answered {code}")?;
        if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
    }
}

/// All writes of a run. Clones are of the same one.
#[derive(Clone)]
pub(crate) struct Writes {
    phase: Arc<Mutex<BTreeMap<String, Write>>>,
    nodes: Arc<Mutex<BTreeMap<String, String>>>,
    endless: Arc<watch::Sender<Option<Write>>>,
}

impl Writes {
    pub(crate) fn new() -> Self {
        Self { phase: Arc::default(), nodes: Arc::default(), endless: Arc::new(watch::channel(None).0) }
    }

    /// Takes note of a request that was answered.
    pub(crate) fn record(&self, record: &Record) {
        let Some(method) = method_of(record.verb) else { return };
        // A dry run changes nothing, so its answer says nothing of what was wanted.
        if UNCOUNTED.contains(&record.resource.as_str()) || record.uri.contains("dryRun=") {
            return;
        }
        let path = record.uri.split('?').next().unwrap_or_default();
        let call = format!("{method} {path}");
        let mut phase = self.phase();
        let write = phase.entry(call.clone()).or_insert_with(|| Write {
            call,
            user: String::new(),
            count: 0,
            code: 0,
            message: String::new(),
            node: None,
        });
        write.count += 1;
        write.node = self.node_of(path).or(write.node.take());
        (write.code, write.user) = (record.code, record.user.clone());
        write.message.clone_from(&record.message);
        if write.count > MOST_WRITES {
            let write = write.clone();
            self.endless.send_if_modified(|endless| endless.is_none() && endless.replace(write).is_none());
        }
    }

    /// Takes note of which node of a tree a path is written for, by the content that is sent there.
    pub(crate) fn note_node(&self, path: &str, content: &[u8]) {
        if !content.windows(NODE.len()).any(|window| window == NODE.as_bytes()) {
            return;
        }
        let Ok(content) = serde_json::from_slice::<serde_json::Value>(content) else { return };
        if let Some(node) = content["metadata"]["annotations"][NODE].as_str() {
            self.nodes.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), node.to_owned());
        }
    }

    fn node_of(&self, path: &str) -> Option<String> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// Counts from 0.
    pub(crate) fn begin_phase(&self) {
        self.phase().clear();
    }

    /// What was written since the phase began.
    pub(crate) fn of_phase(&self) -> Vec<Write> {
        self.phase().values().cloned().collect()
    }

    /// Waits until one path was written too often.
    pub(crate) async fn endless(&self) -> Write {
        let mut endless = self.endless.subscribe();
        loop {
            if let Some(write) = endless.borrow_and_update().clone() {
                return write;
            }
            if endless.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn phase(&self) -> MutexGuard<'_, BTreeMap<String, Write>> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The method of a verb that writes.
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
    async fn the_path_that_is_written_without_end_is_named_with_the_answer() {
        let writes = Writes::new();
        for _ in 0..MOST_WRITES {
            writes.record(&record("create", "pods", 201));
            writes.record(&record("list", "pods", 200));
            writes.record(&record("update", "leases", 200));
        }
        assert_eq!(writes.endless().now_or_never(), None);
        writes.record(&record("create", "pods", 422));
        let said = writes.endless().now_or_never().map(|write| write.to_string());
        assert_eq!(
            said.as_deref(),
            Some("somebody repeated POST /api/v1/namespaces/a/pods 501 times; the server answered 422: it is too long")
        );
    }

    #[test]
    fn what_is_repeated_in_vain_is_told_from_what_may_be_tried() {
        let repeated = |verb: &'static str, code: u16, message: &str, times: u64| {
            let writes = Writes::new();
            for _ in 0..times {
                writes.record(&Record { message: message.to_owned(), ..record(verb, "pods", code) });
            }
            writes.of_phase()[0].is_in_vain()
        };
        assert!(repeated("create", 403, "pods is forbidden", REPEATED));
        assert!(!repeated("create", 403, "pods is forbidden", REPEATED - 1), "somebody may have allowed it meanwhile");
        assert!(repeated("create", 409, "pods \"a\" already exists", REPEATED));
        assert!(!repeated("update", 409, "the object has been modified", REPEATED), "a conflict is to be tried again");
        assert!(repeated("patch", 404, "pods \"a\" not found", REPEATED));
        assert!(!repeated("delete", 404, "pods \"a\" not found", REPEATED), "what is to be gone is gone");
    }

    #[test]
    fn the_node_of_a_path_is_what_its_content_says() {
        let writes = Writes::new();
        let content = serde_json::json!({"metadata": {"annotations": {NODE: "tools/shed"}}}).to_string();
        writes.note_node("/api/v1/namespaces/a/pods", content.as_bytes());
        writes.record(&record("create", "pods", 422));
        let said = writes.of_phase()[0].to_string();
        assert!(said.contains("repeated POST /api/v1/namespaces/a/pods (node `tools/shed`) 1 times"), "{said}");
    }

    #[test]
    fn a_phase_counts_from_zero() {
        let writes = Writes::new();
        writes.record(&record("create", "pods", 422));
        assert!(writes.of_phase()[0].is_refused());
        writes.begin_phase();
        assert_eq!(writes.of_phase(), []);
    }
}
