//! How the samples fare, as the operator's own `tree` sees it.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{document::Document, lifeline::Lifeline};
use crate::ui::Ui;

/// From look to look while something happens, and while nothing does.
const BUSY: Duration = Duration::from_millis(200);
const QUIET: Duration = Duration::from_secs(1);

/// How long after a change more of them are expected.
const AFTERMATH: Duration = Duration::from_secs(5);

/// What the condition is called among the parts of a tree: it is said after them.
const AVAILABLE: &str = "~";

/// The samples as they were seen last: a drawing that changes on a terminal, lines elsewhere.
#[derive(Debug)]
pub(super) struct Live {
    ui: Ui,
    samples: Vec<Document>,
    seen: BTreeMap<String, Value>,
    drawing: Option<ProgressBar>,
    due: Instant,
    changed: Instant,
}

impl Live {
    pub(super) fn new(ui: Ui) -> Self {
        let drawing = ui.draws().then(|| {
            let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        });
        let now = Instant::now();
        Self { ui, samples: Vec::new(), seen: BTreeMap::new(), drawing, due: now, changed: now }
    }

    /// Looks at these from now on, and at once.
    pub(super) fn follow(&mut self, samples: Vec<Document>) {
        self.samples = samples;
        self.changed = Instant::now();
        self.due = self.changed;
    }

    /// When it is time to look again.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Prints something else; the drawing makes way for it.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.drawing {
            Some(drawing) => drawing.suspend(print),
            None => print(),
        }
    }

    /// Takes the drawing away while somebody else prints.
    pub(super) fn hide(&self) {
        if let Some(drawing) = &self.drawing {
            drawing.set_message("");
        }
    }

    /// Asks the operator's binary how each sample fares, and shows what is new.
    pub(super) async fn look(&mut self, program: &Path, kubeconfig: Option<&Path>, lifeline: &Lifeline) {
        let mut texts = String::new();
        for sample in self.samples.clone() {
            let form = if self.drawing.is_some() { "text" } else { "json" };
            let Some(found) = tree(program, &sample, form, kubeconfig, lifeline).await else { continue };
            let found = if form == "json" { serde_json::from_str(&found).unwrap_or_default() } else { json!(found) };
            _ = write!(texts, "{}", found.as_str().unwrap_or_default());
            if self.seen.get(&sample.title()) != Some(&found) {
                let before = self.seen.insert(sample.title(), found.clone()).unwrap_or_default();
                self.changed = Instant::now();
                self.show(&sample, &before, &found);
            }
        }
        if let Some(drawing) = &self.drawing {
            // What is drawn again flickers.
            let text = texts.trim_end();
            if drawing.message() != text {
                drawing.set_message(text.to_owned());
            }
        }
        let pause = if self.changed.elapsed() < AFTERMATH { BUSY } else { QUIET };
        self.due = Instant::now() + pause;
    }

    fn show(&self, sample: &Document, before: &Value, now: &Value) {
        if self.drawing.is_some() {
            return;
        }
        self.ui.json(&json!({"sample": {"kind": sample.kind(), "name": sample.name()}, "tree": now}));
        for line in news(before, now) {
            self.ui.data(&format!("{}: {line}", sample.title()));
        }
    }
}

/// What the operator's `tree` prints of an object: nothing where there is none, or the operator has nothing to do with it.
/// `None` where it can't be asked.
async fn tree(
    program: &Path,
    sample: &Document,
    form: &str,
    kubeconfig: Option<&Path>,
    lifeline: &Lifeline,
) -> Option<String> {
    let mut command = lifeline.command(program);
    command.arg("tree").arg(format!("{}.{}/{}", sample.kind(), sample.group(), sample.name())).args(["--output", form]);
    if let Some(namespace) = sample.namespace() {
        command.args(["--namespace", namespace]);
    }
    if let Some(kubeconfig) = kubeconfig {
        command.env("KUBECONFIG", kubeconfig);
    }
    let output = command.output().await.ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A line for each thing that is other than before: the condition `Available`, and each object of the tree.
fn news(before: &Value, now: &Value) -> Vec<String> {
    if now.is_null() {
        return if before.is_null() { Vec::new() } else { vec!["gone".to_owned()] };
    }
    let (earlier, later) = (facts(before), facts(now));
    let mut lines: Vec<_> =
        later.iter().filter(|(what, how)| earlier.get(*what) != Some(how)).map(|(_, how)| how.clone()).collect();
    lines.extend(
        earlier
            .keys()
            .filter(|what| *what != AVAILABLE && !later.contains_key(*what))
            .map(|what| format!("{what} is gone")),
    );
    lines
}

/// How each part of a tree fares, by what it is called.
fn facts(tree: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut facts = BTreeMap::new();
    objects(&tree["tree"], &mut facts);
    for condition in tree["conditions"].as_array().into_iter().flatten().filter(|it| it["type"] == "Available") {
        let (status, reason, message) =
            (text(&condition["status"]), text(&condition["reason"]), text(&condition["message"]));
        let why = if message.is_empty() { reason } else { format!("{reason}: {message}") };
        facts.insert(AVAILABLE.to_owned(), format!("Available={status}  {why}"));
    }
    facts
}

fn objects(node: &Value, facts: &mut BTreeMap<String, String>) {
    for object in node["objects"].as_array().into_iter().flatten() {
        let word = |key: &str| object[key].as_str().unwrap_or_default();
        let what = format!("{} {}", word("kind"), word("name"));
        let why = if word("message").is_empty() { String::new() } else { format!(" ({})", word("message")) };
        facts.insert(what.clone(), format!("{what} {}{why}", word("state")));
    }
    for child in node["children"].as_array().into_iter().flatten() {
        objects(&child["node"], facts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(state: &str, available: &str) -> Value {
        let object = json!({"kind": "ConfigMap", "name": "a", "state": state, "message": ""});
        let condition = json!({"type": "Available", "status": available, "reason": "R", "message": "m"});
        json!({"conditions": [condition], "tree": {"objects": [], "children": [{"node": {"objects": [object]}}]}})
    }

    #[test]
    fn only_what_is_new_is_news() {
        let all = ["ConfigMap a ready", "Available=True  R: m"];
        assert_eq!(news(&Value::Null, &tree("ready", "True")), all);
        assert_eq!(news(&tree("notReady", "True"), &tree("ready", "True")), all[..1]);
        assert_eq!(news(&tree("ready", "True"), &tree("ready", "True")), [""; 0]);
        assert_eq!(news(&tree("ready", "True"), &json!({"tree": {}})), ["ConfigMap a is gone"]);
        assert_eq!(news(&tree("ready", "True"), &Value::Null), ["gone"]);
    }
}
