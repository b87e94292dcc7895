//! Displays the state of the sample objects during `opgen dev`, as the operator's command `tree` reports it.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{document::Document, process_group::ProcessGroup};
use crate::ui::Ui;

/// The interval between refreshes during `ACTIVE_PERIOD`, and the interval at other times.
const ACTIVE_INTERVAL: Duration = Duration::from_millis(200);
const IDLE_INTERVAL: Duration = Duration::from_secs(1);

/// The time after a change of a tree in which the display refreshes more often.
const ACTIVE_PERIOD: Duration = Duration::from_secs(5);

/// The key of the condition `Available`, which sorts after those of the objects.
const CONDITION_KEY: &str = "~";

/// A display of the samples and their child objects: redrawn in place on a terminal, printed as changed lines elsewhere.
#[derive(Debug)]
pub(super) struct StatusDisplay {
    ui: Ui,
    samples: Vec<Document>,
    trees: BTreeMap<String, Value>,
    bar: Option<ProgressBar>,
    next_refresh: Instant,
    last_change: Instant,
}

impl StatusDisplay {
    /// Creates an empty display. On a terminal it is the message of a progress bar, which can be redrawn in place.
    pub(super) fn new(ui: Ui) -> Self {
        let bar = ui.is_interactive().then(|| {
            let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        });
        let now = Instant::now();
        Self { ui, samples: Vec::new(), trees: BTreeMap::new(), bar, next_refresh: now, last_change: now }
    }

    /// Sets the samples, and schedules a refresh.
    pub(super) fn set_samples(&mut self, samples: Vec<Document>) {
        self.samples = samples;
        self.last_change = Instant::now();
        self.next_refresh = self.last_change;
    }

    /// Returns the time of the next refresh.
    pub(super) fn next_refresh(&self) -> Instant {
        self.next_refresh
    }

    /// Hides the display while `print` runs.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Clears the display before other output.
    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message("");
        }
    }

    /// Runs the operator's `tree` for each sample, shows changes, and schedules the next refresh: sooner while the trees change.
    pub(super) async fn refresh(&mut self, program: &Path, kubeconfig: Option<&Path>, process_group: &ProcessGroup) {
        let mut texts = String::new();
        for sample in self.samples.clone() {
            // A terminal shows the text of the tree. Elsewhere the changed lines are computed from the JSON.
            let format = if self.bar.is_some() { "text" } else { "json" };
            let Some(output) = tree(program, &sample, format, kubeconfig, process_group).await else { continue };
            let output =
                if format == "json" { serde_json::from_str(&output).unwrap_or_default() } else { json!(output) };
            _ = write!(texts, "{}", output.as_str().unwrap_or_default());
            if self.trees.get(&sample.title()) != Some(&output) {
                let before = self.trees.insert(sample.title(), output.clone()).unwrap_or_default();
                self.last_change = Instant::now();
                self.print_changes(&sample, &before, &output);
            }
        }
        if let Some(bar) = &self.bar {
            // Drawing the same text again would flicker.
            let text = texts.trim_end();
            if bar.message() != text {
                bar.set_message(text.to_owned());
            }
        }
        let pause = if self.last_change.elapsed() < ACTIVE_PERIOD { ACTIVE_INTERVAL } else { IDLE_INTERVAL };
        self.next_refresh = Instant::now() + pause;
    }

    /// Prints the changed lines of a sample's tree, or with `--output json` the tree. Prints nothing on a terminal, where the display is
    /// redrawn instead.
    fn print_changes(&self, sample: &Document, before: &Value, now: &Value) {
        if self.bar.is_some() {
            return;
        }
        self.ui.json(&json!({"sample": {"kind": sample.kind(), "name": sample.name()}, "tree": now}));
        for line in changed_lines(before, now) {
            self.ui.data(&format!("{}: {line}", sample.title()));
        }
    }
}

/// Returns the output of the operator's `tree` for an object. The output is empty if the object doesn't exist or the operator doesn't
/// manage it; the result is `None` if the command can't be run.
async fn tree(
    program: &Path,
    sample: &Document,
    format: &str,
    kubeconfig: Option<&Path>,
    process_group: &ProcessGroup,
) -> Option<String> {
    let mut command = process_group.command(program);
    command
        .arg("tree")
        .arg(format!("{}.{}/{}", sample.kind(), sample.group(), sample.name()))
        .args(["--output", format]);
    if let Some(namespace) = sample.namespace() {
        command.args(["--namespace", namespace]);
    }
    if let Some(kubeconfig) = kubeconfig {
        command.env("KUBECONFIG", kubeconfig);
    }
    let output = command.output().await.ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns a line for each change between two trees: of the condition `Available`, and of each object. The tree of an object that doesn't
/// exist is null.
fn changed_lines(before: &Value, now: &Value) -> Vec<String> {
    if now.is_null() {
        return if before.is_null() { Vec::new() } else { vec!["gone".to_owned()] };
    }
    let (earlier, later) = (state_lines(before), state_lines(now));
    let mut lines: Vec<_> = later
        .iter()
        .filter(|(name, state)| earlier.get(*name) != Some(state))
        .map(|(_, state)| state.clone())
        .collect();
    lines.extend(
        earlier
            .keys()
            .filter(|name| *name != CONDITION_KEY && !later.contains_key(*name))
            .map(|name| format!("{name} is gone")),
    );
    lines
}

/// Returns a line with the state of each object of a tree, by the kind and name of the object, and a line with the condition `Available`,
/// by `CONDITION_KEY`.
fn state_lines(tree: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut states = BTreeMap::new();
    add_object_states(&tree["tree"], &mut states);
    let conditions = tree["conditions"].as_array().into_iter().flatten();
    for condition in conditions.filter(|condition| condition["type"] == "Available") {
        let (status, reason, message) =
            (text(&condition["status"]), text(&condition["reason"]), text(&condition["message"]));
        let cause = if message.is_empty() { reason } else { format!("{reason}: {message}") };
        states.insert(CONDITION_KEY.to_owned(), format!("Available={status}  {cause}"));
    }
    states
}

/// Adds a line with the state of each object of a node and of its descendants. A node is a part of the operator's tree of child objects.
fn add_object_states(node: &Value, states: &mut BTreeMap<String, String>) {
    for object in node["objects"].as_array().into_iter().flatten() {
        let field = |key: &str| object[key].as_str().unwrap_or_default();
        let name = format!("{} {}", field("kind"), field("name"));
        let cause = if field("message").is_empty() { String::new() } else { format!(" ({})", field("message")) };
        states.insert(name.clone(), format!("{name} {}{cause}", field("state")));
    }
    for child in node["children"].as_array().into_iter().flatten() {
        add_object_states(&child["node"], states);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the JSON tree of a sample with one ConfigMap in this state, and this status of the condition `Available`.
    fn tree(state: &str, available: &str) -> Value {
        let object = json!({"kind": "ConfigMap", "name": "a", "state": state, "message": ""});
        let condition = json!({"type": "Available", "status": available, "reason": "R", "message": "m"});
        json!({"conditions": [condition], "tree": {"objects": [], "children": [{"node": {"objects": [object]}}]}})
    }

    #[test]
    fn changed_lines_contain_only_new_states() {
        let lines = ["ConfigMap a ready", "Available=True  R: m"];
        assert_eq!(changed_lines(&Value::Null, &tree("ready", "True")), lines);
        assert_eq!(changed_lines(&tree("notReady", "True"), &tree("ready", "True")), lines[..1]);
        assert_eq!(changed_lines(&tree("ready", "True"), &tree("ready", "True")), [""; 0]);
        assert_eq!(changed_lines(&tree("ready", "True"), &json!({"tree": {}})), ["ConfigMap a is gone"]);
        assert_eq!(changed_lines(&tree("ready", "True"), &Value::Null), ["gone"]);
    }
}
