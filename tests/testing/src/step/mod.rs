//! The checks, one after the other.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::OnceLock,
    time::{Duration, Instant},
};

use opgen_sandbox::fault::{Class, Fault, Timeline};

use crate::{
    beside,
    course::{Course, Propagation},
    difference::Noise,
    life::{Lived, Trouble, live},
    pool,
    prepared::Prepared,
    report::{Check, Finding, Report, Step},
    rights::{self, Right},
    state::State,
    surroundings::Surroundings,
};

mod ends;
mod hint;
mod judge;
mod oracle;
mod orphan;
mod role;
mod upgrade;

/// How much is tried.
pub(crate) struct Bounds {
    pub(crate) seeds: Range<u64>,
    pub(crate) pairs: usize,
    pub(crate) threads: usize,
}

/// What all else is compared with.
pub(crate) struct Reference {
    pub(crate) made: State,
    /// What the older release makes.
    pub(crate) older: Option<State>,
    pub(crate) noise: Noise,
    /// What the variants lead to as new objects.
    fresh: Vec<OnceLock<Fresh>>,
    calls_to_make: u64,
    calls: u64,
    timeline: Timeline,
}

/// What a variant leads to as a new object.
#[derive(Debug, Default)]
struct Fresh {
    /// None if the server takes no such object, or if it never comes to rest.
    made: Option<State>,
    is_restless: bool,
}

impl Reference {
    /// What a variant leads to as a new object; it is tried once.
    fn fresh(&self, prepared: &Prepared, variant: usize) -> Option<&Fresh> {
        let fresh = self.fresh.get(variant)?;
        Some(fresh.get_or_init(|| {
            let lived = one(prepared, None, &Course::fresh(variant));
            Fresh { made: lived.made, is_restless: matches!(lived.trouble, Some(Trouble::Restless(_))) }
        }))
    }

    fn fresh_runs(&self) -> usize {
        self.fresh.iter().filter(|fresh| fresh.get().is_some()).count()
    }
}

/// The classes that a program may meet one by one; the other seeds meet all together.
const TOGETHER: u64 = 3;

struct Trials<'a> {
    prepared: &'a Prepared,
    older: Option<&'a Prepared>,
    bounds: &'a Bounds,
    report: Report,
    used: BTreeSet<Right>,
    lacking: BTreeSet<Right>,
    /// Of the first run that lacked a right.
    lacked: Option<(Course, Timeline)>,
}

/// Runs what is wanted, and says what is wrong.
pub(crate) fn all(prepared: &Prepared, older: Option<&Prepared>, checks: &BTreeSet<Check>, bounds: &Bounds) -> Report {
    let report = Report { program: prepared.name.clone(), ..Report::default() };
    let (used, lacking) = (BTreeSet::new(), BTreeSet::new());
    let mut trials = Trials { prepared, older, bounds, report, used, lacking, lacked: None };
    let began = Instant::now();
    // Without an end to compare with nothing else can be judged.
    let reference = match reference(prepared, older) {
        Ok(reference) => reference,
        Err(finding) => {
            // A role that is too small is a cause, and the rest its consequence.
            trials.note_rights(&Course::undisturbed(1), &finding.timeline);
            trials.report.findings.extend(role::lacking(&trials.lacking, trials.lacked.take()));
            trials.report.findings.push(*finding);
            return trials.report;
        }
    };
    trials.note_rights(&Course::undisturbed(1), &reference.timeline);
    trials.report.timeline = reference.timeline.clone();
    trials.report.findings.extend(judge::convergence(prepared, &reference));
    trials.report.steps.push(Step { check: Check::Convergence, runs: 3, took: began.elapsed() });
    for check in Check::ALL.iter().copied().filter(|check| checks.contains(check)) {
        let courses = trials.courses(check, &reference);
        if !courses.is_empty() {
            trials.run(check, &courses, &reference);
        }
    }
    if checks.contains(&Check::Role) {
        trials.role(checks);
    }
    trials.report
}

/// Runs one course and shows all of it.
pub(crate) fn replay(prepared: &Prepared, older: Option<&Prepared>, course: &Course) -> Report {
    let mut report = Report { program: prepared.name.clone(), whole: true, ..Report::default() };
    let began = Instant::now();
    match reference(prepared, older) {
        Ok(reference) => {
            let lived = one(prepared, older, course);
            let check = judge::check_of(course);
            report.findings = judge::judge(check, prepared, older, &reference, course, &lived);
            report.timeline = lived.timeline;
            report.steps.push(Step { check, runs: 1, took: began.elapsed() });
        }
        Err(finding) => report.findings.push(*finding),
    }
    report
}

/// Lives through a course on a runtime of its own.
pub(crate) fn one(prepared: &Prepared, older: Option<&Prepared>, course: &Course) -> Lived {
    [Some(prepared), older].into_iter().flatten().for_each(look_around);
    pool::alone(live(prepared, older, course)).unwrap_or_else(|why| {
        let trouble = Some(Trouble::Setup(why));
        Lived { trouble, ..Lived::default() }
    })
}

/// Finds out where a program makes objects, by a run that nothing is asked of but that.
fn look_around(prepared: &Prepared) {
    prepared.surroundings.get_or_init(|| {
        let lived = pool::alone(live(prepared, None, &Course::undisturbed(1)));
        let made = lived.ok().and_then(|lived| lived.made).unwrap_or_default();
        Surroundings::of(prepared, &made)
    });
}

/// Two undisturbed runs with other dice: where they differ, only chance speaks.
fn reference(prepared: &Prepared, older: Option<&Prepared>) -> Result<Reference, Box<Finding>> {
    let undisturbed = |prepared: &Prepared, dice: u64| -> Result<Lived, Box<Finding>> {
        let course = Course::undisturbed(dice);
        let lived = one(prepared, None, &course);
        let trouble = judge::trouble(Check::Convergence, prepared, &course, &lived);
        match trouble.or_else(|| oracle::panicked(Check::Convergence, prepared, &course, &lived)) {
            Some(finding) => Err(Box::new(finding)),
            None => Ok(lived),
        }
    };
    let (first, second) = (undisturbed(prepared, 1)?, undisturbed(prepared, 2)?);
    let older = older.map(|older| undisturbed(older, 1)).transpose()?.and_then(|lived| lived.made);
    let (made, other) = (first.made.unwrap_or_default(), second.made.unwrap_or_default());
    let leaked = first.left.unwrap_or_default();
    if let Some(finding) =
        judge::left(Check::Convergence, prepared, &Course::undisturbed(1), (&leaked, &first.timeline))
    {
        return Err(Box::new(finding));
    }
    Ok(Reference {
        noise: Noise::between(&made, &other),
        fresh: prepared.variants.iter().map(|_| OnceLock::new()).collect(),
        made,
        older,
        calls_to_make: first.calls_to_make,
        calls: first.calls,
        timeline: first.timeline,
    })
}

impl Trials<'_> {
    fn courses(&self, check: Check, reference: &Reference) -> Vec<Course> {
        let children = reference.made.children(&self.prepared.name, &self.prepared.manifests.samples).count();
        match check {
            Check::Convergence | Check::Role => Vec::new(),
            Check::Steadiness => vec![Course { idle: true, ..Course::default() }],
            Check::Stop => stops(reference.calls).map(|stop| Course::stopped([stop])).collect(),
            Check::TwoStops => pairs(reference.calls, self.bounds.pairs),
            Check::OldList if !takes_old_lists(&reference.timeline) => Vec::new(),
            Check::OldList => (1..=reference.calls).map(Course::begun_old).collect(),
            Check::Deletion => {
                let again = (0..=reference.calls_to_make).map(Course::created_again_at);
                let after = (0..self.prepared.variants.len()).map(Course::created_again_after);
                deletions(reference.calls_to_make).into_iter().chain(again).chain(after).collect()
            }
            // What has an owner is waited for by the server; the rest is held one by one, as what hides behind others is let go.
            Check::Gate => {
                let children = reference.made.children(&self.prepared.name, &self.prepared.manifests.samples);
                let alone = children.enumerate().filter(|(_, kept)| kept.is_unowned() && !kept.may_stay());
                let alone: Vec<_> = alone.map(|(index, _)| Course::held(index + 1)).collect();
                [vec![Course::held(0)], alone].concat()
            }
            Check::Repair => {
                (0..children).flat_map(|index| [false, true].map(|unseen| Course::lost(index, unseen))).collect()
            }
            Check::Beside => (0..beside::courses(&self.prepared.manifests.samples)).map(Course::beside).collect(),
            Check::Edit => edits(reference.calls_to_make, self.prepared.variants.len()),
            Check::Chance => {
                let variants = self.prepared.variants.len();
                self.bounds.seeds.clone().map(|seed| meanwhile(by_chance(seed), seed, (variants, children))).collect()
            }
            Check::Upgrade => self
                .older
                .map(|older| upgrade::courses(self.prepared, older, self.bounds.seeds.clone()))
                .unwrap_or_default(),
        }
    }

    fn run(&mut self, check: Check, courses: &[Course], reference: &Reference) {
        let began = Instant::now();
        let (prepared, older) = (self.prepared, self.older);
        let before = reference.fresh_runs();
        let results = pool::each(self.bounds.threads, courses, |course| {
            let lived = one(prepared, older, course);
            let findings = judge::judge(check, prepared, older, reference, course, &lived);
            let (used, lacking) = rights::used(&lived.timeline);
            let lacked = (!lacking.is_empty()).then_some(lived.timeline);
            (findings, used, lacking, lacked)
        });
        for (course, result) in courses.iter().zip(results) {
            let (findings, used, lacking, lacked) = match result {
                Ok(result) => result,
                Err(why) => {
                    self.report.findings.push(judge::broken(check, course, &why));
                    continue;
                }
            };
            self.report.findings.extend(findings);
            self.used.extend(used);
            self.lacking.extend(lacking);
            if let (None, Some(timeline)) = (&self.lacked, lacked) {
                self.lacked = Some((course.clone(), timeline));
            }
        }
        let runs = courses.len() + reference.fresh_runs() - before;
        self.report.steps.push(Step { check, runs, took: began.elapsed() });
    }

    fn note_rights(&mut self, course: &Course, timeline: &Timeline) {
        let (used, lacking) = rights::used(timeline);
        if !lacking.is_empty() {
            self.lacked = Some((course.clone(), timeline.clone()));
        }
        self.used.extend(used);
        self.lacking.extend(lacking);
    }

    fn role(&mut self, checks: &BTreeSet<Check>) {
        let granted = rights::granted(&self.prepared.manifests.install);
        let lacked = self.lacked.take();
        self.report.findings.extend(role::lacking(&self.lacking, lacked));
        // What was not tried may well be what a right is for.
        if checks.len() == Check::ALL.len() {
            let unused: Vec<_> = granted.difference(&self.used).collect();
            self.report.findings.extend(role::unused(&unused));
        }
        self.report.steps.push(Step { check: Check::Role, runs: 0, took: Duration::ZERO });
    }
}

/// Whether some list says that any version is good enough.
fn takes_old_lists(timeline: &Timeline) -> bool {
    timeline.calls().any(|call| !call.is_watch() && call.takes_older())
}

/// A stop before and after each call.
fn stops(calls: u64) -> impl Iterator<Item = (u64, Fault)> {
    (1..=calls).flat_map(|call| [(call, Fault::StopBefore), (call, Fault::StopAfter)])
}

/// Two stops each, all or as many as are wanted, spread over all there are.
fn pairs(calls: u64, most: usize) -> Vec<Course> {
    let all = calls * calls;
    let count = all.min(most as u64);
    let pair = |index: u64| {
        let at = index * all / count.max(1);
        let (first, second) = (at / calls + 1, at % calls + 1);
        let fault = if index.is_multiple_of(2) { Fault::StopAfter } else { Fault::StopBefore };
        Course::stopped([(first, Fault::StopAfter), (first + second, fault)])
    };
    (0..count).map(pair).collect()
}

/// One before each call and one at rest, with each propagation policy in turn.
fn deletions(calls: u64) -> Vec<Course> {
    let in_turn = Propagation::ALL.into_iter().cycle();
    let before_a_call = (1..=calls).map(Course::deleted_at).zip(in_turn);
    // At rest, all other checks delete in the background.
    let at_rest = [Propagation::Foreground, Propagation::Orphan].map(|policy| (Course::default(), policy));
    before_a_call.chain(at_rest).map(|(course, propagation)| course.propagated(propagation)).collect()
}

/// Every variant at rest, and one of them in the middle of each call.
fn edits(calls: u64, variants: usize) -> Vec<Course> {
    let at_rest = (0..variants).map(Course::edited);
    let in_the_middle = (1..=calls).filter(|_| variants > 0).map(|call| {
        let variant = usize::try_from(call).unwrap_or_default() % variants;
        Course::changed_at(call, variant)
    });
    at_rest.chain(in_the_middle).collect()
}

/// While things go wrong, somebody edits the samples or deletes what was made of them, or nobody does anything.
fn meanwhile(mut course: Course, seed: u64, (variants, children): (usize, usize)) -> Course {
    let nth = |count: usize| usize::try_from(seed / 4).unwrap_or_default() % count;
    match seed % 4 {
        1 if variants > 0 => course.edit = Some(nth(variants)),
        3 if children > 0 => course.lose = Some(nth(children)),
        _ => {}
    }
    course
}

/// Every class alone, and all together.
fn by_chance(seed: u64) -> Course {
    if seed.is_multiple_of(TOGETHER) {
        return Course::by_chance(seed, &Class::ALL);
    }
    let index = usize::try_from(seed - seed / TOGETHER).unwrap_or_default() % Class::ALL.len();
    Course::by_chance(seed, &[Class::ALL[index]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pairs_are_spread_over_all() {
        assert_eq!(pairs(3, 100).len(), 9);
        let some: Vec<_> = pairs(100, 4).iter().map(ToString::to_string).collect();
        assert_eq!(some, ["after:1 after:2", "after:26 before:27", "after:51 after:52", "after:76 before:77"]);
    }

    #[test]
    fn every_class_has_its_seeds() {
        let alone: BTreeSet<String> = (0..34)
            .map(by_chance)
            .filter(|c| c.to_string().contains('='))
            .map(|c| c.to_string().split('=').nth(1).unwrap_or_default().to_owned())
            .collect();
        assert_eq!(alone.len(), Class::ALL.len());
    }
}
