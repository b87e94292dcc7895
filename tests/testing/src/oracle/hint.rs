//! Provides the hints of findings: how to fix what a check found.

use crate::{check::Check, scenario::EDIT_UNDONE, schedule::Schedule, simulation::RepeatedWrite};

/// The hint about a silent connection.
pub(super) const OF_SILENCE: &str = "give every call a deadline, and every watch a longest time without an event or a bookmark: a connection whose other end is gone may stay open for ever";

/// Returns the hint about a program that does not come to rest, by phase.
pub(super) fn of_no_rest(after: &str) -> &'static str {
    if after == EDIT_UNDONE {
        "begin each pass with what the spec says now: an error, a deletion or a wait that an earlier value led to must end with it"
    } else {
        "compare with what is there before you write; let what you write follow from the object alone, not from clocks, dice or counters; and wait for a change instead of asking"
    }
}

/// Returns the hint about a hot loop, by the client that writes.
pub(super) fn of_hot_loop(after: &str, write: &RepeatedWrite, program: &str) -> &'static str {
    let is_own = write.user.rsplit(':').next() == Some(program);
    if is_own && !write.is_invalid() {
        return of_no_rest(after);
    }
    "look at what the server answers and stop to repeat it; and ask for no more than a cluster can hold"
}

/// Returns the hint about a difference, by the check and by superfluous (`+`) or missing (`-`) objects.
pub(super) fn of_mismatch(check: Check, schedule: &Schedule, lines: &[String]) -> &'static str {
    let (is_superfluous, is_missing) = (
        lines.iter().any(|line| line.starts_with("+ ") && !line.starts_with("+   ")),
        lines.iter().any(|line| line.starts_with("- ") && !line.starts_with("-   ")),
    );
    match check {
        Check::Edit if schedule.change.is_some() => {
            "a pass over the older spec was taken for one over the newer: write observedGeneration from the object that the pass worked on, never from a newer read"
        }
        Check::Edit if is_superfluous => {
            "remove what is not wanted any more: what a condition switches off stays otherwise"
        }
        Check::Edit => {
            "build the whole of what is wanted from the spec in each pass, and compare it with what is there"
        }
        Check::Upgrade if is_superfluous => {
            "name what an earlier release has made and this one does not, `retired(...)` on its group: else nobody removes it"
        }
        Check::Upgrade => {
            "keep the names of objects and fields from release to release, or take two releases to change one"
        }
        Check::Isolation => {
            "give what is made of an object a name that only that object has, and delete by owner, not by a name or a label that others may have"
        }
        Check::Repair if schedule.hides_events => {
            "take a new list for news: what happened before it is told by no event, so compare all of it with what is wanted"
        }
        Check::Repair => "watch what you make, so that its deletion leads to a pass",
        Check::Deletion if schedule.recreate_at.is_some() => {
            "keep what you remember of an object by its uid: a name that is deleted and created again is another object"
        }
        _ if is_superfluous => {
            "something was made twice: give it a name that follows from its owner, or look for it before you make it"
        }
        Check::RandomFaults => {
            "retry what fails, 409 above all; look at the cluster and not at memory; and never write from an older read than your own last write"
        }
        _ if is_missing => {
            "a step was skipped after the restart: decide by what is in the cluster, not by what was done before it"
        }
        _ => "write the whole of what is wanted in each pass, from a fresh read",
    }
}
