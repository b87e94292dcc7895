//! What came of a trial, in words.

use std::{collections::BTreeSet, fmt, time::Duration};

use opgen_sandbox::fault::{Happening, Timeline};
use serde::Serialize;

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Check {
    /// From the samples to rest, and after their deletion to nothing.
    Convergence,
    /// Nothing is asked or written when there is nothing to do, by a new process neither.
    Steadiness,
    /// A stop before and after each call changes nothing of the end.
    Stop,
    /// Nor do two stops.
    TwoStops,
    /// Nor does a process that begins with an old list, where it takes one.
    OldList,
    /// A deletion at any time leaves nothing, or all that was made if it is to orphan that; and nothing is known of what is
    /// created under its name later.
    Deletion,
    /// What others hold is waited for, and what is others' is left alone.
    Gate,
    /// What somebody deletes is made again, also if no watch has told of it.
    Repair,
    /// A second object beside a sample, and the end of either, changes nothing of the other.
    Beside,
    /// Edits lead where a new object would be, and back.
    Edit,
    /// Faults by a seed change nothing of the end.
    Chance,
    /// An older release before and after changes nothing of the end, and what both releases want is never replaced. It needs
    /// [`Trial::upgrades_from`](crate::Trial::upgrades_from).
    Upgrade,
    /// The role allows all that is asked, and nothing else.
    Role,
}

impl Check {
    /// All there are, in the order in which they run.
    pub const ALL: &'static [Self] = &[
        Self::Convergence,
        Self::Steadiness,
        Self::Stop,
        Self::TwoStops,
        Self::OldList,
        Self::Deletion,
        Self::Gate,
        Self::Repair,
        Self::Beside,
        Self::Edit,
        Self::Chance,
        Self::Upgrade,
        Self::Role,
    ];
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Convergence => "convergence",
            Self::Steadiness => "nothing to do, nothing done",
            Self::Stop => "stopped at every call",
            Self::TwoStops => "stopped twice",
            Self::OldList => "begun with an old list",
            Self::Deletion => "deleted, and created again, at every call",
            Self::Gate => "held by others",
            Self::Repair => "deleted by others",
            Self::Beside => "beside a second object",
            Self::Edit => "edited",
            Self::Chance => "faults by chance",
            Self::Upgrade => "upgraded and downgraded",
            Self::Role => "rights of the role",
        })
    }
}

/// What was done for a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Step {
    /// The check.
    pub check: Check,
    /// How many runs it took.
    pub runs: usize,
    /// How long, on the machine's clock.
    pub took: Duration,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// By which check.
    pub check: Check,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub hint: String,
    /// The course that shows it: the value of `OPGEN_REPLAY`, and of [`Trial::replay`](crate::Trial::replay).
    pub course: String,
    /// From the expected state to the one that was found, `-` and `+` in front.
    pub difference: Vec<String>,
    /// What was asked and told.
    pub timeline: Timeline,
}

/// What came of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// The name of the program.
    pub program: String,
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Whether all that was asked and told is shown.
    pub whole: bool,
    /// What was asked and told in the undisturbed course, or in the one that was replayed.
    pub timeline: Timeline,
}

/// A trial that has found something. Its text, also as `{:?}`, is the report.
#[derive(Clone, PartialEq)]
pub struct Failed(Box<Report>);

impl Failed {
    /// What the trial has found.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.0
    }
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for Failed {}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// For the end of a test.
    ///
    /// # Errors
    /// If something is wrong.
    pub fn verdict(self) -> Result<(), Failed> {
        if self.is_clean() { Ok(()) } else { Err(Failed(Box::new(self))) }
    }

    /// How many runs there were.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.steps.iter().map(|step| step.runs).sum()
    }
}

/// How many findings of a check are shown whole: most have one cause.
const SHOWN: usize = 2;

/// How many lines of what was asked are shown before the end, and how many of a difference.
const LAST: usize = 30;
const MOST: usize = 40;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the life of {}: {} runs, {} findings", self.program, self.runs(), self.findings.len())?;
        for Step { check, runs, took } in &self.steps {
            let wrong = self.findings.iter().filter(|finding| finding.check == *check).count();
            let verdict = if wrong == 0 { "ok".to_owned() } else { format!("{wrong} findings") };
            writeln!(f, "  {check:<28} {runs:>6} runs {:>8.2} s  {verdict}", took.as_secs_f64())?;
        }
        let mut shown = std::collections::BTreeMap::<Check, usize>::new();
        let mut others = BTreeSet::new();
        for finding in &self.findings {
            let count = shown.entry(finding.check).or_default();
            *count += 1;
            if *count > SHOWN {
                others.insert(finding.course.as_str());
                continue;
            }
            finding.write(f, self.whole)?;
        }
        if !others.is_empty() {
            let some: Vec<_> = others.iter().take(MOST).copied().collect();
            writeln!(f, "\nand {} more, which often have the same cause: {}", others.len(), some.join(", "))?;
        }
        Ok(())
    }
}

impl Finding {
    fn write(&self, f: &mut fmt::Formatter<'_>, whole: bool) -> fmt::Result {
        writeln!(f, "\nerror: {}: {}", self.check, self.problem)?;
        if !self.difference.is_empty() {
            writeln!(f, "  from what was expected (-) to what was found (+):")?;
            for line in self.difference.iter().take(MOST) {
                writeln!(f, "    {line}")?;
            }
            if self.difference.len() > MOST {
                writeln!(f, "    ... and {} lines more", self.difference.len() - MOST)?;
            }
        }
        let (lines, left_out) = self.told(whole);
        if !lines.is_empty() {
            writeln!(f, "  what was asked{}:", if left_out { ", around the fault and at the end" } else { "" })?;
            lines.iter().try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        writeln!(f, "  hint: {}", self.hint)?;
        if self.course.is_empty() { Ok(()) } else { writeln!(f, "  replay: OPGEN_REPLAY='{}' cargo test", self.course) }
    }

    /// The lines of the timeline that matter: all of them, or those around faults and at the end.
    fn told(&self, whole: bool) -> (Vec<String>, bool) {
        let moments = &self.timeline.moments;
        if whole {
            return (self.timeline.to_string().lines().map(str::to_owned).collect(), false);
        }
        let matters = |index: usize| match &moments[index].what {
            Happening::Stop | Happening::End | Happening::Note { .. } => true,
            Happening::Pass(_) => false,
            Happening::Call(call) => call.fault.is_some() || call.is_write(),
            Happening::Event(event) => event.fault.is_some(),
            _ => true,
        };
        let mut chosen: Vec<usize> = (0..moments.len()).filter(|index| matters(*index)).collect();
        let left_out = chosen.len() < moments.len();
        if chosen.len() > LAST {
            chosen.drain(..chosen.len() - LAST);
        }
        let mut some = Timeline::default();
        some.moments = chosen.into_iter().map(|index| moments[index].clone()).collect();
        (some.to_string().lines().map(str::to_owned).collect(), left_out)
    }
}
