//! Records the requests, watch events and reconciles of an operator during `opgen dev`, and writes them as an HTML report.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use opgen_sandbox::{
    Record,
    fault::{ObservedCall, ObservedEvent, ObservedPass, PassPhase, Timeline, TimelineEntry, TimelineEvent},
    page,
};
use serde::Deserialize;

use crate::{
    error::{Result, ResultExt as _},
    report_file,
};

/// The maximum number of entries of the timeline, and the number of oldest entries that are dropped when it is full.
const MAX_ENTRIES: usize = 5_000;
const TRIM_COUNT: usize = 1_000;

/// A recording of an operator, for the report of `opgen dev --report`; clones share the same state.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    path: PathBuf,
    start: Instant,
    state: Arc<Mutex<RecordingState>>,
}

#[derive(Debug, Default)]
struct RecordingState {
    timeline: Timeline,
    /// The number of operators started so far.
    life: u32,
    calls: u64,
    events: u64,
    /// The number of the request that started each watch of the current operator.
    watches: HashMap<String, u64>,
    passes: u64,
    /// The running passes (reconciles) of the current operator process, by the numbers that this process gave them.
    running_passes: HashMap<u64, ObservedPass>,
    dropped: usize,
}

/// A line of the operator about a pass.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", tag = "pass")]
enum PassLine {
    Begins { number: u64, resource: String, namespace: String, name: String },
    Ends { number: u64, outcome: String },
}

impl Recording {
    /// Creates the recording of a report. Fails if the folder of `path` does not exist, or if `path` is no regular file.
    pub(super) fn new(path: &Path) -> Result<Self> {
        report_file::check(path)?;
        Ok(Self { path: path.to_owned(), start: Instant::now(), state: Arc::default() })
    }

    /// Numbers and records a request of the operator, and stores the number of a watch request for the events of this watch. Ignores the
    /// requests of other clients.
    pub(super) fn record_call(&self, record: &Record) {
        if !is_operator(&record.user) {
            return;
        }
        let mut state = self.lock();
        state.calls += 1;
        if record.verb == "watch" {
            let number = state.calls;
            state.watches.insert(record.uri.clone(), number);
        }
        let call = ObservedCall {
            number: state.calls,
            method: method(record.verb).to_owned(),
            uri: record.uri.clone(),
            code: Some(record.code),
            fault: None,
        };
        self.add(&mut state, TimelineEvent::Call(call));
    }

    /// Records a watch event that the operator received, with the number of the request that started the watch. Ignores the events of
    /// other clients.
    pub(super) fn record_event(&self, watch: &Record, event: ObservedEvent) {
        if !is_operator(&watch.user) {
            return;
        }
        let mut state = self.lock();
        state.events += 1;
        let request = state.watches.get(&watch.uri).copied().unwrap_or_default();
        let event = ObservedEvent { number: state.events, watch: request, ..event };
        self.add(&mut state, TimelineEvent::Event(event));
    }

    /// Records a JSON line of the operator about the begin or end of a pass (a reconcile). Returns false for other lines. Passes get new
    /// numbers, since the numbers of the operator start again with each process.
    pub(super) fn record_pass(&self, line: &str) -> bool {
        let Ok(pass_line) = serde_json::from_str(line) else { return false };
        let mut state = self.lock();
        let pass = match pass_line {
            PassLine::Begins { number: operator_number, resource, namespace, name } => {
                state.passes += 1;
                let number = state.passes;
                let pass = ObservedPass { number, resource, namespace, name, part: PassPhase::Beginning };
                state.running_passes.insert(operator_number, pass.clone());
                Some(pass)
            }
            // The end of a pass whose begin was not recorded is ignored.
            PassLine::Ends { number, outcome } => state
                .running_passes
                .remove(&number)
                .map(|pass| ObservedPass { part: PassPhase::End { outcome }, ..pass }),
        };
        if let Some(pass) = pass {
            self.add(&mut state, TimelineEvent::Pass(pass));
        }
        true
    }

    /// Records the start of an operator process with a note. Forgets the watches and passes of the process before.
    pub(super) fn record_start(&self, text: &str) {
        let mut state = self.lock();
        state.life += 1;
        state.watches.clear();
        state.running_passes.clear();
        self.add(&mut state, TimelineEvent::Note { text: text.to_owned() });
    }

    /// Records the exit of the operator.
    pub(super) fn record_exit(&self) {
        self.add(&mut self.lock(), TimelineEvent::End);
    }

    /// Records a note.
    pub(super) fn note(&self, text: String) {
        self.add(&mut self.lock(), TimelineEvent::Note { text });
    }

    /// Writes the report atomically, and returns its path.
    pub(super) fn write(&self, name: &str) -> Result<&Path> {
        let state = self.lock();
        let mut introduction =
            format!("The requests and watch events of {name} in the sandbox of `opgen dev`, pass by pass.");
        if state.dropped > 0 {
            introduction.push_str(&format!(" The first {} entries are left out.", state.dropped));
        }
        let page = page::alone(&format!("{name} under development"), &introduction, &state.timeline);
        drop(state);
        let temporary = self.path.with_extension(format!("{}.new", std::process::id()));
        let written = fs_err::write(&temporary, page).and_then(|()| fs_err::rename(&temporary, &self.path));
        if written.is_err() {
            // The user gets the error of the write, so an error of the removal is ignored.
            let _ = fs_err::remove_file(&temporary);
        }
        written.or_failed(|| "failed to write the report".to_owned())?;
        Ok(&self.path)
    }

    /// Adds an event to the timeline, with the time and the number of the current operator process. Drops the oldest entries if the
    /// timeline is full.
    fn add(&self, state: &mut RecordingState, event: TimelineEvent) {
        if state.timeline.entries.len() >= MAX_ENTRIES {
            state.timeline.entries.drain(..TRIM_COUNT);
            state.dropped += TRIM_COUNT;
        }
        let at = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let life = state.life;
        state.timeline.entries.push(TimelineEntry { at, life, event });
    }

    fn lock(&self) -> MutexGuard<'_, RecordingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a user of the sandbox is the operator, since no other ServiceAccount outside kube-system sends requests there.
fn is_operator(user: &str) -> bool {
    user.starts_with("system:serviceaccount:") && !user.starts_with("system:serviceaccount:kube-system:")
}

/// Returns the HTTP method of a verb of Kubernetes; GET for `get`, `list` and `watch`.
fn method(verb: &str) -> &'static str {
    match verb {
        "create" => "POST",
        "update" => "PUT",
        "patch" => "PATCH",
        "delete" | "deletecollection" => "DELETE",
        _ => "GET",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Returns the audit record of a successful patch of a ConfigMap.
    fn record(user: &str, name: &str) -> Record {
        Record {
            verb: "patch",
            user: user.to_owned(),
            user_agent: String::new(),
            group: String::new(),
            resource: "configmaps".to_owned(),
            subresource: String::new(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
            code: 200,
            message: String::new(),
            uri: format!("/api/v1/namespaces/default/configmaps/{name}"),
        }
    }

    #[test]
    fn the_report_contains_only_the_requests_and_events_of_the_operator() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Recording::new(&folder.path().join("nowhere/report.html")).is_err());
        assert!(Recording::new(folder.path()).is_err());
        let recording = Recording::new(&folder.path().join("report.html")).unwrap();
        recording.record_start("started");
        // Only the ServiceAccount of the operator is recorded, no controller of Kubernetes and no person.
        recording.record_call(&record("system:serviceaccount:shop:shop", "mine"));
        recording.record_call(&record("system:serviceaccount:kube-system:collector", "theirs"));
        recording.record_call(&record("kubernetes-admin", "person"));
        let watch =
            |user: &str| Record { verb: "watch", uri: "/api/v1/configmaps?watch=true".to_owned(), ..record(user, "") };
        let event = |name: &str| ObservedEvent {
            number: 0,
            watch: 0,
            type_: "ADDED".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
            version: "7".to_owned(),
            deleting: false,
            conditions: Vec::new(),
            fault: None,
        };
        recording.record_call(&watch("system:serviceaccount:shop:shop"));
        recording.record_event(&watch("system:serviceaccount:shop:shop"), event("told"));
        recording.record_event(&watch("kubernetes-admin"), event("secretly"));
        // The watch is the second recorded request.
        let last_event = recording.lock().timeline.entries.last().map(|entry| entry.event.clone());
        assert_eq!(last_event, Some(TimelineEvent::Event(ObservedEvent { number: 1, watch: 2, ..event("told") })));
        let begins = |name: &str| {
            format!(
                r#"{{"pass":"begins","number":1,"resource":"shops.example.com","namespace":"default","name":"{name}"}}"#
            )
        };
        assert!(recording.record_pass(&begins("passed")));
        assert!(recording.record_pass(r#"{"pass":"ends","number":1,"outcome":"done"}"#));
        assert!(!recording.record_pass(r#"{"level":"info"}"#) && !recording.record_pass("said"));
        // The second process numbers its passes from 1 again, and exits during its first pass.
        recording.record_start("restarted");
        assert!(recording.record_pass(&begins("passed")));
        recording.record_exit();
        let passes = recording
            .lock()
            .timeline
            .entries
            .iter()
            .filter_map(|entry| match &entry.event {
                TimelineEvent::Pass(pass) => Some((pass.number, pass.part.clone())),
                _ => None,
            })
            .collect::<Vec<_>>();
        let ended = PassPhase::End { outcome: "done".to_owned() };
        assert_eq!(passes, [(1, PassPhase::Beginning), (1, ended), (2, PassPhase::Beginning)]);
        let page = std::fs::read_to_string(recording.write("shop").unwrap()).unwrap();
        assert!(page.contains("default/mine") && page.contains("started"), "{page}");
        assert!(page.contains("default/told"), "{page}");
        assert!(page.contains("default/passed") && page.contains("pass 1: done"), "{page}");
        assert!(page.contains("pass 2 was cut short"), "{page}");
        assert!(!page.contains("theirs") && !page.contains("person") && !page.contains("secretly"), "{page}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_long_recording_drops_its_oldest_entries() {
        let recording = Recording::new(Path::new("report.html")).unwrap();
        (0..MAX_ENTRIES + 3).for_each(|_| recording.note("a".to_owned()));
        let state = recording.lock();
        assert_eq!((state.timeline.entries.len(), state.dropped), (MAX_ENTRIES - TRIM_COUNT + 3, TRIM_COUNT));
    }
}
