//! Counts what everybody writes, the program and the sandbox's own controllers, with the last answer of the server.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use opgen_sandbox::Record;
use tokio::sync::watch;

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
}

impl Write {
    /// Whether the server refused what was asked, and refuses it however often it is asked: not a conflict, not a right that
    /// is missing, and nothing that may be made meanwhile.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.code, 400 | 405 | 413 | 415 | 422)
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, user, count, code, message } = self;
        write!(f, "{user} repeated {call} {count} times; the server answered {code}")?;
        if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
    }
}

/// All writes of a run. Clones are of the same one.
#[derive(Clone)]
pub(crate) struct Writes {
    phase: Arc<Mutex<BTreeMap<String, Write>>>,
    endless: Arc<watch::Sender<Option<Write>>>,
}

impl Writes {
    pub(crate) fn new() -> Self {
        Self { phase: Arc::default(), endless: Arc::new(watch::channel(None).0) }
    }

    /// Takes note of a request that was answered.
    pub(crate) fn record(&self, record: &Record) {
        let Some(method) = method_of(record.verb) else { return };
        if UNCOUNTED.contains(&record.resource.as_str()) {
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
        });
        write.count += 1;
        (write.code, write.user) = (record.code, record.user.clone());
        write.message.clone_from(&record.message);
        if write.count > MOST_WRITES {
            let write = write.clone();
            self.endless.send_if_modified(|endless| endless.is_none() && endless.replace(write).is_none());
        }
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
            uri: format!("/api/v1/namespaces/a/{resource}?dryRun=All"),
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
    fn a_phase_counts_from_zero() {
        let writes = Writes::new();
        writes.record(&record("create", "pods", 422));
        assert!(writes.of_phase()[0].is_refused());
        writes.begin_phase();
        assert_eq!(writes.of_phase(), []);
    }
}
