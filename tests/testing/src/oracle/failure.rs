//! Reports why a run failed: the program never settles, loops, exits, panics or changes foreign objects.

use std::collections::BTreeMap;

use opgen_sandbox::fault::{EventFault, Fault, Timeline, TimelineEvent};

use super::{case::Case, hint};
use crate::{check::Check, report::Finding, schedule::Schedule, simulation::Failure};

/// Returns a finding about the failure that ended a run; `None` if the run got to its end.
pub(crate) fn failed(case: &Case<'_>) -> Option<Finding> {
    let (name, timeline) = (&case.target.name, &case.outcome.timeline);
    let (problem, hint, lines) = match case.outcome.failure.clone()? {
        Failure::Setup(problem) => (problem, "fix the manifests or the sample; nothing more was tried", Vec::new()),
        Failure::Exited(error) => (
            format!("the process of {name} ended by itself: {error}"),
            "contain panics and errors of a pass; a process that ends takes all objects with it",
            Vec::new(),
        ),
        Failure::NotAtRest(after) => {
            let (behavior, hint) = match silent_connection(timeline) {
                Some(answer) => (format!("it waits for {answer} over a silent connection"), hint::OF_SILENCE),
                None => {
                    let call = most_frequent_call(timeline);
                    (format!("it asks for the same again and again: {call}"), hint::of_no_rest(after))
                }
            };
            (format!("it never comes to rest after {after}; {behavior}"), hint, Vec::new())
        }
        Failure::BusyAtRest(calls) => (
            format!("it makes {} calls although there is nothing to do", calls.len()),
            "compare with what is there before you write, and read from the cache",
            calls,
        ),
        Failure::HotLoop(after, write) => (
            format!("it never comes to rest: after {after}, {write}"),
            hint::of_hot_loop(after, &write, name),
            Vec::new(),
        ),
        Failure::HotPolling(reads) => (
            format!("it repeats {} reads more than once a second although there is nothing to do", reads.len()),
            "watch in place of reading, or read less often",
            reads,
        ),
        Failure::ChangedForeignObject(problem) => (
            problem,
            "change and delete only what you have made: by its owner reference, by a label of yours and its owner, never all of a namespace",
            Vec::new(),
        ),
        Failure::LostFinalizer(sample) => (
            format!("{sample} lost a finalizer of somebody else"),
            "add and remove your own finalizer only: never write the whole list, and check the resourceVersion",
            Vec::new(),
        ),
        Failure::EarlyRelease(problem) => {
            (problem, "remove the finalizer only when a live read says that what was made is really gone", Vec::new())
        }
    };
    Some(case.finding(problem, hint, lines))
}

/// Describes the last call or watch if its connection is silent; otherwise `None`.
fn silent_connection(timeline: &Timeline) -> Option<String> {
    timeline.moments.iter().rev().find_map(|moment| match &moment.what {
        TimelineEvent::Call(call) => Some(matches!(call.fault, Some(Fault::Silence { .. })).then(|| {
            let path = call.path();
            format!("the answer of {} {path}", call.method)
        })),
        TimelineEvent::Event(event) => {
            Some((event.fault == Some(EventFault::Silence)).then(|| format!("the next events of {}", event.kind)))
        }
        _ => None,
    })?
}

/// Returns the most frequent call, with its count.
fn most_frequent_call(timeline: &Timeline) -> String {
    let mut counts = BTreeMap::<String, usize>::new();
    for call in timeline.calls().filter(|call| !call.is_watch()) {
        let path = call.path();
        *counts.entry(format!("{} {path}", call.method)).or_default() += 1;
    }
    let most_frequent = counts.into_iter().max_by_key(|(_, count)| *count);
    most_frequent.map_or_else(|| "nothing".to_owned(), |(call, count)| format!("{call}, {count} times"))
}

/// Returns a finding about the first panic of a run, even if the program caught it.
pub(crate) fn panicked(case: &Case<'_>) -> Option<Finding> {
    let panics = &case.outcome.panics;
    let panic = panics.first()?;
    let times = panics.iter().filter(|other| *other == panic).count();
    let times = if times > 1 { format!(" {times} times") } else { String::new() };
    let object = match &panic.node {
        Some((object, node)) => format!("{object} (node `{node}`)"),
        None => case.edited_samples(),
    };
    let problem = format!("it panicked at {}{times} over {object}: {}", panic.location, panic.message);
    let hint = "return an error in place of a panic: a value that the schema admits is no reason for one, and a pass that panics is repeated for ever";
    Some(case.finding(problem, hint, Vec::new()))
}

/// Returns a finding about a panic of the trial itself.
pub(crate) fn runner_panicked(check: Check, schedule: &Schedule, message: &str) -> Finding {
    Finding {
        check,
        problem: format!("the run itself panicked: {message}"),
        hint: "this is a defect of the trial, not of the program: please report it with the schedule".to_owned(),
        schedule: schedule.to_string(),
        difference: Vec::new(),
        timeline: Timeline::default(),
    }
}
