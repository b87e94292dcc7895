//! Runs the sandbox (an API server in the test process) in the tokio runtime of a test, without a TCP port and with the paused clock of the
//! runtime.
//!
//! The clock stands still while a task works, and jumps to the next timer while all tasks wait.

use std::sync::{Arc, Mutex, PoisonError};

use opgen_sandbox::{Record, Sandbox, User};

use super::{house, options::Options};
use crate::{Access, Entries, Entry, credentials::ADMIN};

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) sandbox: Sandbox,
    entries: Arc<Mutex<Vec<Arc<Entry>>>>,
}

impl Inner {
    /// Starts the sandbox, which adds an entry for each request to a list. Its start time and its random numbers are the same in every run.
    pub(super) fn start(options: &Options) -> Self {
        let entries = Arc::<Mutex<Vec<_>>>::default();
        let log = entries.clone();
        let builder = house::builder(options).seed(1).audit(move |record: &Record| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(entry(record)));
        });
        Self { sandbox: builder.start(), entries }
    }

    pub(super) fn admin(&self) -> Access {
        Access::inner(self.sandbox.clone(), User::admin(ADMIN))
    }

    pub(super) fn service_account(&self, namespace: &str, name: &str) -> Access {
        Access::inner(self.sandbox.clone(), User::service_account(namespace, name, ""))
    }

    pub(super) fn audit(&self) -> Entries {
        Entries::of(self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

/// Converts the sandbox's record of a request to an entry of the audit log. The record has no times and no body, so the entry has no times
/// and no holder of a Lease.
fn entry(record: &Record) -> Entry {
    let Record { verb, user, user_agent, group, resource, subresource, namespace, name, code, message, uri } =
        record.clone();
    let (verb, received, answered) = (verb.to_owned(), String::new(), String::new());
    let holder = None;
    Entry {
        verb,
        user,
        user_agent,
        group,
        resource,
        subresource,
        namespace,
        name,
        code,
        message,
        uri,
        received,
        answered,
        holder,
    }
}
