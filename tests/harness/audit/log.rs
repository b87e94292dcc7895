//! Reads the audit log file incrementally while the API server writes it.

use std::{
    collections::HashMap,
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Deserialize;

use super::entry::{Entries, Entry};
use crate::credentials::AUDITOR;

/// An audit log file and the entries read from it.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    reader: Mutex<Reader>,
}

#[derive(Debug, Default)]
struct Reader {
    /// The number of bytes of the file that were read.
    read: u64,
    entries: Vec<Arc<Entry>>,
    /// The index of each entry by the id of its request.
    by_request: HashMap<String, usize>,
    /// The name of the object in the last request of the marker user.
    marker: Option<String>,
}

/// Returns the entries of an audit log file, as kube-apiserver writes it.
///
/// # Panics
/// If the file does not exist, or a line is no event.
pub fn read(path: &Path) -> Entries {
    assert!(path.is_file(), "there is no audit log at {}", path.display());
    Log::new(path).entries()
}

impl Log {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), reader: Mutex::default() }
    }

    /// Returns all entries that are in the file now, without the markers.
    pub(crate) fn entries(&self) -> Entries {
        Entries::of(self.read_new_entries().entries.clone())
    }

    /// Whether the request of the marker user for the object with this name is in the file. If so, the entries of all earlier
    /// requests are too, since the server writes the entry of a request before it ends the response.
    pub(crate) fn has_marker(&self, name: &str) -> bool {
        self.read_new_entries().marker.as_deref() == Some(name)
    }

    /// Reads the entries that were written since the last call, and returns the locked reader.
    fn read_new_entries(&self) -> MutexGuard<'_, Reader> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.read_new_entries(&self.path);
        reader
    }
}

impl Reader {
    /// Reads the part of the log file that was written since the last call, up to the last complete line, and adds its entries. The server
    /// may be writing the rest of a line, which the next call reads.
    ///
    /// # Panics
    /// If a line is no audit event.
    fn read_new_entries(&mut self, path: &Path) {
        let mut bytes = Vec::new();
        let result = File::open(path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_end(&mut bytes)
        });
        // The file doesn't exist before the first start of the server, so there are no entries yet.
        if result.is_err() {
            return;
        }
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.read += complete as u64;
        for line in bytes[..complete].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<Event>(line) {
                Ok(event) => self.add(event),
                Err(error) => panic!("{}: {error} in {}", path.display(), String::from_utf8_lossy(line)),
            }
        }
    }

    /// Adds an event. A watch has two events, at the start and at the end of its response: the second one replaces the entry of the first.
    /// A request of the marker user (`AUDITOR`) becomes no entry: the harness sends it to find out up to which request the log is written.
    fn add(&mut self, event: Event) {
        if event.user.username == AUDITOR {
            self.marker = Some(event.object_ref.name);
            return;
        }
        let known = self.by_request.get(&event.audit_id).copied();
        let id = event.audit_id.clone();
        let entry = Arc::new(Entry::from(event));
        match known {
            Some(index) => self.entries[index] = entry,
            None => {
                self.by_request.insert(id, self.entries.len());
                self.entries.push(entry);
            }
        }
    }
}

/// The used fields of an `audit.k8s.io/v1` event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "auditID")]
    audit_id: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user: User,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    object_ref: ObjectRef,
    #[serde(default)]
    response_status: ResponseStatus,
    #[serde(default)]
    request_received_timestamp: String,
    #[serde(default)]
    stage_timestamp: String,
    /// The body, which the audit policy keeps for Leases.
    #[serde(default)]
    request_object: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ObjectRef {
    resource: String,
    subresource: String,
    api_group: String,
    namespace: String,
    name: String,
}

#[derive(Default, Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
    #[serde(default)]
    message: String,
}

impl From<Event> for Entry {
    /// Converts an event of the audit log. The holder of a Lease is read from the body of a `create` or an `update`; a body without a
    /// holder is a release, whose holder is an empty text.
    fn from(event: Event) -> Self {
        let writes_lease = event.object_ref.resource == "leases" && matches!(event.verb.as_str(), "create" | "update");
        let body = event.request_object.filter(|_| writes_lease);
        Self {
            verb: event.verb,
            user: event.user.username,
            user_agent: event.user_agent,
            group: event.object_ref.api_group,
            resource: event.object_ref.resource,
            subresource: event.object_ref.subresource,
            namespace: event.object_ref.namespace,
            name: event.object_ref.name,
            code: event.response_status.code,
            message: event.response_status.message,
            uri: event.request_uri,
            received: event.request_received_timestamp,
            answered: event.stage_timestamp,
            holder: body.map(|body| body["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()),
        }
    }
}
