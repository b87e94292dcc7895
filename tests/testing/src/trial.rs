//! What is tried, how thoroughly, and in which order.

use std::{collections::BTreeSet, ops::Range, sync::Arc, thread::available_parallelism};

use opgen::Operator;
use opgen_sandbox::fault::Timeline;
use serde::Serialize;
use serde_json::Value;

use crate::{
    course::{Course, NoCourse},
    page,
    prepared::Prepared,
    program::{OfOpgen, Program},
    report::{Check, Finding, Report},
    step,
};

/// A trial of an operator. Its function makes a fresh one for each process.
///
/// # Examples
/// ```no_run
/// # fn operator() -> opgen::Operator { opgen::Operator::new("webapp") }
/// let report = opgen_testing::trial(operator).seeds(0..1000).run();
/// assert!(report.is_clean(), "{report}");
/// ```
pub fn trial(operator: impl Fn() -> Operator + Clone + Send + Sync + 'static) -> Trial {
    let with_policy = operator.clone();
    let mut trial = trial_of(OfOpgen::new(operator, false));
    trial.with_policy = Some(Arc::new(OfOpgen::new(with_policy, true)));
    trial
}

/// A trial of a program that is not written with opgen.
pub fn trial_of(program: impl Program + 'static) -> Trial {
    Trial {
        program: Arc::new(program),
        with_policy: None,
        older: None,
        samples: Vec::new(),
        checks: Check::ALL.iter().copied().collect(),
        seeds: 0..SEEDS,
        pairs: PAIRS,
        threads: available_parallelism().map_or(1, usize::from),
    }
}

/// How many seeds are tried, and how many pairs of stops, without a word about it.
const SEEDS: u64 = 33;
const PAIRS: usize = 30;

/// How a program is tried.
pub struct Trial {
    pub(crate) program: Arc<dyn Program>,
    with_policy: Option<Arc<dyn Program>>,
    older: Option<Arc<dyn Program>>,
    samples: Vec<Value>,
    checks: BTreeSet<Check>,
    seeds: Range<u64>,
    pairs: usize,
    threads: usize,
}

impl Trial {
    /// An object to work on, instead of the generated samples. Several may be given; the first is made first.
    ///
    /// An object that is no JSON is reported when the trial runs.
    #[must_use]
    pub fn sample(mut self, object: &impl Serialize) -> Self {
        self.samples.push(serde_json::to_value(object).unwrap_or_default());
        self
    }

    /// Installs the generated policy that puts the finalizer on new objects.
    #[must_use]
    pub fn finalizer_policy(mut self) -> Self {
        self.program = self.with_policy.take().unwrap_or(self.program);
        self
    }

    /// Upgrades from an older release of the operator, for [`Check::Upgrade`]: that works on the samples until it is at rest,
    /// then the operator takes over, and then the older release once more. The operator is also stopped after each call that it
    /// makes until it is at rest, and disturbed by faults of every third seed.
    ///
    /// What both releases want must stay: an object of the same kind, namespace and name keeps its uid, is not being deleted,
    /// and the values that are generated for a Secret are the same. The end must be the same as if the operator were new.
    /// Default: no older release, and nothing is checked.
    ///
    /// ```no_run
    /// # mod v1 { pub fn operator() -> opgen::Operator { opgen::Operator::new("webapp") } }
    /// # mod v2 { pub fn operator() -> opgen::Operator { opgen::Operator::new("webapp") } }
    /// #[test]
    /// fn it_takes_over_from_the_last_release() -> Result<(), opgen_testing::Failed> {
    ///     opgen_testing::trial(v2::operator).upgrades_from(v1::operator).run().verdict()
    /// }
    /// ```
    ///
    /// The older release is usually a dev-dependency on the published crate, under another name:
    /// `webapp-v1 = { package = "webapp-controller", version = "1" }`; or a module with the tree as it was.
    #[must_use]
    pub fn upgrades_from(self, operator: impl Fn() -> Operator + Send + Sync + 'static) -> Self {
        self.upgrades_from_program(OfOpgen::new(operator, false))
    }

    /// As [`Trial::upgrades_from`], from a program that is not written with opgen.
    #[must_use]
    pub fn upgrades_from_program(mut self, program: impl Program + 'static) -> Self {
        self.older = Some(Arc::new(program));
        self
    }

    /// Only these checks. Default: all.
    #[must_use]
    pub fn only(mut self, checks: impl IntoIterator<Item = Check>) -> Self {
        self.checks = checks.into_iter().collect();
        self
    }

    /// The seeds of [`Check::Chance`]. Default: 33, in which each class comes alone at least once.
    #[must_use]
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        self.seeds = seeds;
        self
    }

    /// How many pairs of stops are tried at most; they are spread over all there are. Default: 30.
    #[must_use]
    pub fn pairs(mut self, most: usize) -> Self {
        self.pairs = most;
        self
    }

    /// How many runs go on at a time. Default: as many as the machine has cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Runs all. If the environment has `OPGEN_REPLAY`, only [that](Self::replay). If it has `OPGEN_REPORT`, the report is
    /// also written there as a [page](Report::page): to that file if it ends in `.html`, else into that folder.
    #[must_use]
    pub fn run(&self) -> Report {
        page::if_asked_for(self.tried())
    }

    fn tried(&self) -> Report {
        if let Some(course) = std::env::var("OPGEN_REPLAY").ok().filter(|course| !course.is_empty()) {
            return self
                .replay(&course)
                .unwrap_or_else(|wrong| self.refused("the course can't be read", &wrong.to_string()));
        }
        match self.prepared() {
            Ok((prepared, older)) => {
                let bounds = step::Bounds { seeds: self.seeds.clone(), pairs: self.pairs, threads: self.threads };
                step::all(&prepared, older.as_ref(), &self.checks, &bounds)
            }
            Err(why) => self.refused("the program can't be installed", &why),
        }
    }

    /// Runs one course, such as `after:17`, and shows all that was asked and told.
    ///
    /// # Errors
    /// If the text is no course.
    pub fn replay(&self, course: &str) -> Result<Report, NoCourse> {
        let course: Course = course.parse()?;
        Ok(match self.prepared() {
            Ok((prepared, older)) => step::replay(&prepared, older.as_ref(), &course),
            Err(why) => self.refused("the program can't be installed", &why),
        })
    }

    /// What is asked and told in a course, such as `chance:3`.
    ///
    /// # Errors
    /// If the text is no course, or the program can't be installed.
    pub fn timeline(&self, course: &str) -> Result<Timeline, Box<dyn std::error::Error + Send + Sync>> {
        let course: Course = course.parse()?;
        let (prepared, older) = self.prepared()?;
        Ok(step::one(&prepared, older.as_ref(), &course).timeline)
    }

    fn prepared(&self) -> Result<(Prepared, Option<Prepared>), String> {
        let prepared = Prepared::new(self.program.clone(), &self.samples)?;
        let older = self.older.clone().map(|older| Prepared::new(older, &self.samples)).transpose()?;
        Ok((prepared, older))
    }

    fn refused(&self, what: &str, why: &str) -> Report {
        let finding = Finding {
            check: Check::Convergence,
            problem: format!("{what}: {why}"),
            hint: "mend that first; nothing was tried".to_owned(),
            course: String::new(),
            difference: Vec::new(),
            timeline: Default::default(),
        };
        Report { program: self.program.name(), findings: vec![finding], ..Report::default() }
    }
}

impl std::fmt::Debug for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trial")
            .field("program", &self.program.name())
            .field("checks", &self.checks)
            .finish_non_exhaustive()
    }
}
