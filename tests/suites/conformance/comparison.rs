//! A script on both servers, and what is not the same.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
};

use opgen_sandbox::Sandbox;
use opgen_tests::difference::{Difference, differences};
use serde_json::Value;

use super::{allowed::Allowed, normal::Names, open::Open, script::Case, side::Server, transcript::play};

/// A difference that nothing allows.
#[derive(Clone, Debug)]
struct Finding {
    room: String,
    case: String,
    step: String,
    difference: Difference,
}

/// What a run found so far.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) allowed: Allowed,
    pub(crate) open: Open,
    findings: Mutex<Vec<Finding>>,
}

impl Comparison {
    pub(crate) fn new(allowed: Allowed, open: Open) -> Self {
        Self { allowed, open, findings: Mutex::default() }
    }

    /// Plays a case on both; an error tells where they part.
    pub(crate) async fn of(&self, real: Server, case: &Case, namespace: &str) -> Result<(), String> {
        let sandbox = Server::Sandbox(Sandbox::new());
        let (real, sandbox) = tokio::join!(play(&real, case, namespace), play(&sandbox, case, namespace));
        if std::env::var_os("OPGEN_CONFORMANCE_SHOW").is_some() {
            show(case, &real);
        }
        let lines: Vec<_> = case.steps.iter().map(|step| step.line.as_str()).collect();
        self.judge(&case.room, &case.name, &lines, &real, &sandbox)
    }

    /// Compares what two servers said to the same lines.
    pub(crate) fn judge(
        &self,
        room: &str,
        case: &str,
        lines: &[&str],
        real: &[Value],
        sandbox: &[Value],
    ) -> Result<(), String> {
        let (mut real_names, mut sandbox_names) = (Names::default(), Names::default());
        let mut told = String::new();
        for (at, (real, sandbox)) in real.iter().zip(sandbox).enumerate() {
            let found = differences(&real_names.normal(real), &sandbox_names.normal(sandbox));
            let is_news = |part: &Difference| !self.allowed.has(case, [real, sandbox], part);
            let found: Vec<_> = found.into_iter().filter(is_news).collect();
            if found.is_empty() {
                continue;
            }
            let step = format!("step {}: {}", at + 1, lines[at]);
            let _ = writeln!(told, "  {step}");
            for difference in &found {
                let _ = writeln!(told, "    {difference}");
            }
            let finding =
                |difference| Finding { room: room.to_owned(), case: case.to_owned(), step: step.clone(), difference };
            let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
            findings.extend(found.into_iter().map(finding));
        }
        self.open.verdict(case, &told)
    }

    /// Writes what was found into a folder, one file a room.
    pub(crate) fn write(&self, folder: &Path, rooms: &[String]) {
        let findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut texts: BTreeMap<&str, String> = rooms.iter().map(|room| (room.as_str(), String::new())).collect();
        let mut last = (String::new(), String::new());
        let mut ordered: Vec<_> = findings.iter().collect();
        ordered.sort_by_key(|finding| finding.case.clone());
        for finding in ordered {
            let text = texts.entry(&finding.room).or_default();
            if last.0 != finding.case {
                let _ = writeln!(text, "\n{}", finding.case);
            }
            if last != (finding.case.clone(), finding.step.clone()) {
                let _ = writeln!(text, "  {}", finding.step);
            }
            let _ = writeln!(text, "    {}", finding.difference);
            last = (finding.case.clone(), finding.step.clone());
        }
        for (room, text) in texts {
            let path = folder.join(format!("differences-{room}.txt"));
            fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

/// What the real server said, for whoever writes cases.
#[allow(clippy::print_stdout)]
fn show(case: &Case, answers: &[Value]) {
    let mut text = format!("{}\n", case.name);
    for (step, answer) in case.steps.iter().zip(answers) {
        let mut shown = answer.clone();
        if let Some(metadata) = shown.pointer_mut("/body/metadata").and_then(Value::as_object_mut)
            && step.body.pointer("/metadata").is_some()
        {
            metadata.remove("managedFields");
        }
        let shown: String = shown.to_string().chars().take(700).collect();
        let _ = writeln!(text, "  {}\n    {shown}", step.line);
    }
    println!("{text}");
}
