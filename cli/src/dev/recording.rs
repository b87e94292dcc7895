//! What the operator asks of the sandbox and is told by it, and its passes, for the page at the end.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use opgen_sandbox::{
    Record,
    fault::{CallSeen, EventSeen, Happening, Moment, PassPart, PassSeen, Timeline},
    page,
};
use serde::Deserialize;

use crate::error::{Error, Explain as _, Result};

/// How many moments are kept at most, and how many of the oldest go when there are more: a day is longer than a page.
const MOST: usize = 5_000;
const DROPPED: usize = 1_000;

/// What is recorded; clones are of the same.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    path: PathBuf,
    began: Instant,
    so_far: Arc<Mutex<SoFar>>,
}

#[derive(Debug, Default)]
struct SoFar {
    timeline: Timeline,
    /// Of operators, one after the other.
    life: u32,
    calls: u64,
    events: u64,
    /// The call that began each watch of this life.
    watches: HashMap<String, u64>,
    passes: u64,
    /// The passes of this life that go on, by the operator's numbers.
    begun: HashMap<u64, PassSeen>,
    dropped: usize,
}

/// What an operator says of its passes, a line each.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", tag = "pass")]
enum PassTold {
    Begins { number: u64, resource: String, namespace: String, name: String },
    Ends { number: u64, outcome: String },
}

impl Recording {
    /// For a page at a path.
    pub(super) fn new(path: &Path) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A device or a pipe would be replaced by a file.
        if !folder.is_dir() || path.metadata().is_ok_and(|there| !there.is_file()) {
            let error = Error::usage(format!("the report can't be written to `{}`", path.display()));
            return Err(error.hint("name a file in a folder that exists, such as `report.html`"));
        }
        Ok(Self { path: path.to_owned(), began: Instant::now(), so_far: Arc::default() })
    }

    /// Takes a call, if it is the operator's.
    pub(super) fn hear(&self, record: &Record) {
        if !is_operator(&record.user) {
            return;
        }
        let mut so_far = self.so_far();
        so_far.calls += 1;
        if record.verb == "watch" {
            let number = so_far.calls;
            so_far.watches.insert(record.uri.clone(), number);
        }
        let call = CallSeen {
            number: so_far.calls,
            method: method(record.verb).to_owned(),
            uri: record.uri.clone(),
            code: Some(record.code),
            fault: None,
        };
        self.add(&mut so_far, Happening::Call(call));
    }

    /// Takes what a watch told, if it told the operator.
    pub(super) fn overhear(&self, watch: &Record, event: EventSeen) {
        if !is_operator(&watch.user) {
            return;
        }
        let mut so_far = self.so_far();
        so_far.events += 1;
        let began = so_far.watches.get(&watch.uri).copied().unwrap_or_default();
        let event = EventSeen { number: so_far.events, watch: began, ..event };
        self.add(&mut so_far, Happening::Event(event));
    }

    /// Takes a line of the operator's, if it tells of a pass.
    pub(super) fn take_pass(&self, line: &str) -> bool {
        let Ok(told) = serde_json::from_str(line) else { return false };
        let mut so_far = self.so_far();
        let pass = match told {
            PassTold::Begins { number: its, resource, namespace, name } => {
                so_far.passes += 1;
                let number = so_far.passes;
                let pass = PassSeen { number, resource, namespace, name, part: PassPart::Beginning };
                so_far.begun.insert(its, pass.clone());
                Some(pass)
            }
            PassTold::Ends { number, outcome } => {
                so_far.begun.remove(&number).map(|pass| PassSeen { part: PassPart::End { outcome }, ..pass })
            }
        };
        if let Some(pass) = pass {
            self.add(&mut so_far, Happening::Pass(pass));
        }
        true
    }

    /// An operator begins.
    pub(super) fn begin(&self, what: &str) {
        let mut so_far = self.so_far();
        so_far.life += 1;
        so_far.watches.clear();
        so_far.begun.clear();
        self.add(&mut so_far, Happening::Note { text: what.to_owned() });
    }

    /// The operator ended.
    pub(super) fn end(&self) {
        self.add(&mut self.so_far(), Happening::End);
    }

    pub(super) fn note(&self, text: String) {
        self.add(&mut self.so_far(), Happening::Note { text });
    }

    /// Writes the page in one step, and gives its path.
    pub(super) fn write(&self, name: &str) -> Result<&Path> {
        let so_far = self.so_far();
        let mut words = format!("What {name} asked of the sandbox of `opgen dev` and was told by it, pass by pass.");
        if so_far.dropped > 0 {
            words.push_str(&format!(" The first {} moments are left out.", so_far.dropped));
        }
        let page = page::alone(&format!("{name} under development"), &words, &so_far.timeline);
        drop(so_far);
        let beside = self.path.with_extension(format!("{}.new", std::process::id()));
        let written = fs_err::write(&beside, page).and_then(|()| fs_err::rename(&beside, &self.path));
        if written.is_err() {
            // The first error says it all.
            let _ = fs_err::remove_file(&beside);
        }
        written.or_failed(|| "the report can't be written".to_owned())?;
        Ok(&self.path)
    }

    fn add(&self, so_far: &mut SoFar, what: Happening) {
        if so_far.timeline.moments.len() >= MOST {
            so_far.timeline.moments.drain(..DROPPED);
            so_far.dropped += DROPPED;
        }
        let at = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let life = so_far.life;
        so_far.timeline.moments.push(Moment { at, life, what });
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// No account but the operator's calls from outside.
fn is_operator(user: &str) -> bool {
    user.starts_with("system:serviceaccount:") && !user.starts_with("system:serviceaccount:kube-system:")
}

/// The method behind a verb of RBAC.
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
    fn the_page_has_what_the_operator_asked_and_was_told_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Recording::new(&folder.path().join("nowhere/report.html")).is_err());
        assert!(Recording::new(folder.path()).is_err());
        let recording = Recording::new(&folder.path().join("report.html")).unwrap();
        recording.begin("started");
        recording.hear(&record("system:serviceaccount:shop:shop", "mine"));
        recording.hear(&record("system:serviceaccount:kube-system:collector", "theirs"));
        recording.hear(&record("kubernetes-admin", "person"));
        let watch =
            |user: &str| Record { verb: "watch", uri: "/api/v1/configmaps?watch=true".to_owned(), ..record(user, "") };
        let event = |name: &str| EventSeen {
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
        recording.hear(&watch("system:serviceaccount:shop:shop"));
        recording.overhear(&watch("system:serviceaccount:shop:shop"), event("told"));
        recording.overhear(&watch("kubernetes-admin"), event("secretly"));
        let last = recording.so_far().timeline.moments.last().map(|moment| moment.what.clone());
        assert_eq!(last, Some(Happening::Event(EventSeen { number: 1, watch: 2, ..event("told") })));
        let begins = |name: &str| {
            format!(
                r#"{{"pass":"begins","number":1,"resource":"shops.example.com","namespace":"default","name":"{name}"}}"#
            )
        };
        assert!(recording.take_pass(&begins("passed")));
        assert!(recording.take_pass(r#"{"pass":"ends","number":1,"outcome":"done"}"#));
        assert!(!recording.take_pass(r#"{"level":"info"}"#) && !recording.take_pass("said"));
        recording.begin("restarted");
        assert!(recording.take_pass(&begins("passed")));
        recording.end();
        let passes = recording
            .so_far()
            .timeline
            .moments
            .iter()
            .filter_map(|moment| match &moment.what {
                Happening::Pass(pass) => Some((pass.number, pass.part.clone())),
                _ => None,
            })
            .collect::<Vec<_>>();
        let ended = PassPart::End { outcome: "done".to_owned() };
        assert_eq!(passes, [(1, PassPart::Beginning), (1, ended), (2, PassPart::Beginning)]);
        let page = std::fs::read_to_string(recording.write("shop").unwrap()).unwrap();
        assert!(page.contains("default/mine") && page.contains("started"), "{page}");
        assert!(page.contains("default/told"), "{page}");
        assert!(page.contains("default/passed") && page.contains("pass 1: done"), "{page}");
        assert!(page.contains("pass 2 was cut short"), "{page}");
        assert!(!page.contains("theirs") && !page.contains("person") && !page.contains("secretly"), "{page}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_long_day_forgets_its_morning() {
        let recording = Recording::new(Path::new("report.html")).unwrap();
        (0..MOST + 3).for_each(|_| recording.note("a".to_owned()));
        let so_far = recording.so_far();
        assert_eq!((so_far.timeline.moments.len(), so_far.dropped), (MOST - DROPPED + 3, DROPPED));
    }
}
