//! Reports why a run failed: the program never settles, loops, exits, panics or changes foreign objects.

use std::collections::BTreeMap;

use opgen_sandbox::fault::{EventFault, Fault, Timeline, TimelineEvent};

use super::{case::Case, hint};
use crate::{check::Check, report::Finding, schedule::Schedule, simulation::Failure};

/// Returns a finding about the failure that ended a run early, with a hint for each type of failure; `None` if the run got to its end.
pub(crate) fn run_failure(case: &Case<'_>) -> Option<Finding> {
    let (name, timeline) = (&case.target.name, &case.outcome.timeline);
    let (problem, hint, lines) = match case.outcome.failure.clone()? {
        Failure::Setup(problem) => (problem, "fix the manifests or the sample; no other check was run", Vec::new()),
        Failure::Exited(error) => (
            format!("the process of {name} exited unexpectedly: {error}"),
            "handle panics and errors of a pass; an exit of the process affects all objects",
            Vec::new(),
        ),
        Failure::NotAtRest(phase) => {
            let (behavior, hint) = match silent_connection(timeline) {
                Some(answer) => (format!("it waits for {answer} on a silent connection"), hint::OF_SILENCE),
                None => {
                    let call = most_frequent_call(timeline);
                    (format!("it repeats the same request: {call}"), hint::of_no_rest(phase))
                }
            };
            (format!("no steady state after {phase}: {behavior}"), hint, Vec::new())
        }
        Failure::Overtime(limit) => (
            format!("a run used {} s of real time: its work is queued without end", limit.as_secs_f64()),
            "look for a task, a watch or a queue that wakes itself at once: the clock of a run advances only while all tasks wait",
            Vec::new(),
        ),
        Failure::BusyAtRest(calls) => (
            format!("it sends {} requests although nothing has changed", calls.len()),
            "compare with the current state before a write, and read from the cache",
            calls,
        ),
        Failure::HotLoop(phase, write) => {
            (format!("hot loop: after {phase}, {write}"), hint::of_hot_loop(phase, &write, name), Vec::new())
        }
        Failure::HotPolling(reads) => (
            format!("it repeats {} reads more than once a second although nothing has changed", reads.len()),
            "watch instead of polling, or poll less often",
            reads,
        ),
        Failure::ChangedForeignObject(problem) => (
            problem,
            "change and delete only objects of the program, selected by their owner reference, and never all objects of a namespace",
            Vec::new(),
        ),
        Failure::LostFinalizer(sample) => (
            format!("{sample} lost a finalizer of another client"),
            "add and remove only the program's own finalizer: never write the whole list, and check the resourceVersion",
            Vec::new(),
        ),
        Failure::EarlyRelease(problem) => {
            (problem, "remove the finalizer only after a live read confirms that the children are gone", Vec::new())
        }
    };
    Some(case.finding(problem, hint, lines))
}

/// Describes what the program waits for if a fault silenced the connection of the last call or watch event in the timeline: its response,
/// or the next events. `None` if that connection is not silent, or if there is no call or event.
fn silent_connection(timeline: &Timeline) -> Option<String> {
    // `find_map` ends at the last call or event, which gives `Some(None)` if it has another fault or none.
    timeline.entries.iter().rev().find_map(|entry| match &entry.event {
        TimelineEvent::Call(call) => Some(matches!(call.fault, Some(Fault::Silence { .. })).then(|| {
            let path = call.path();
            format!("the response to {} {path}", call.method)
        })),
        TimelineEvent::Event(event) => {
            Some((event.fault == Some(EventFault::Silence)).then(|| format!("the next events of {}", event.kind)))
        }
        _ => None,
    })?
}

/// Returns the method and path of the most frequent call that is not a watch, with its count, for a message.
fn most_frequent_call(timeline: &Timeline) -> String {
    let mut counts = BTreeMap::<String, usize>::new();
    for call in timeline.calls().filter(|call| !call.is_watch()) {
        let path = call.path();
        *counts.entry(format!("{} {path}", call.method)).or_default() += 1;
    }
    let most_frequent = counts.into_iter().max_by_key(|(_, count)| *count);
    most_frequent.map_or_else(|| "nothing".to_owned(), |(call, count)| format!("{call}, {count} times"))
}

/// Returns a finding about the first panic of the program in a run, even if the program caught it; `None` if it never panicked.
pub(crate) fn program_panic(case: &Case<'_>) -> Option<Finding> {
    let panics = &case.outcome.panics;
    let panic = panics.first()?;
    let times = panics.iter().filter(|other| *other == panic).count();
    let times = if times > 1 { format!(" {times} times") } else { String::new() };
    let object = match &panic.node {
        Some((object, node)) => format!("{object} (node `{node}`)"),
        None => case.edited_samples(),
    };
    let problem = format!("it panicked at {}{times} over {object}: {}", panic.location, panic.message);
    let hint = "return an error instead of a panic: a valid object must not cause a panic, and the operator repeats a pass that panics";
    Some(case.finding(problem, hint, Vec::new()))
}

/// Returns a finding about a panic of the test code itself, and not of the program under test, while it ran a schedule.
pub(crate) fn runner_panicked(check: Check, schedule: &Schedule, message: &str) -> Finding {
    Finding {
        check,
        problem: format!("the trial panicked: {message}"),
        hint: "this is a bug of the trial, not of the program: please report it with the schedule".to_owned(),
        schedule: schedule.to_string(),
        difference: Vec::new(),
        timeline: Timeline::default(),
    }
}
