//! Provides the hints of findings: how to fix what a check found.

use crate::{check::Check, scenario::EDIT_UNDONE, schedule::Schedule, simulation::RepeatedWrite};

/// The hint about a silent connection.
pub(super) const OF_SILENCE: &str = "set a timeout for every request, and a maximum idle time for every watch: a connection may stay open after its peer is gone";

/// Returns the hint about a program that does not become idle in a phase of a run.
pub(super) fn of_no_rest(phase: &str) -> &'static str {
    if phase == EDIT_UNDONE {
        "start each pass from the current spec: an error, a deletion or a wait that an earlier spec caused must end"
    } else {
        "compare with the current state before a write; derive each write from the object alone, not from clocks, random values or counters; and watch instead of polling"
    }
}

/// Returns the hint about a hot loop: a write that one client repeats without end. The hint is that of [`of_no_rest`] if the program itself
/// repeats a write that the server does not reject as invalid.
pub(super) fn of_hot_loop(phase: &str, write: &RepeatedWrite, program: &str) -> &'static str {
    // The user is `system:serviceaccount:NAMESPACE:NAME`, and the ServiceAccount has the name of the program.
    let is_by_program = write.user.rsplit(':').next() == Some(program);
    if is_by_program && !write.is_invalid() {
        return of_no_rest(phase);
    }
    "check the response of the server before a retry, and do not create more objects than a cluster can hold"
}

/// Returns the hint about a difference between the expected and the actual state, by the check, and by whether its lines have superfluous
/// (`+`) or missing (`-`) objects.
pub(super) fn of_mismatch(check: Check, schedule: &Schedule, lines: &[String]) -> &'static str {
    // A sign and one space begin the line of a whole object; a sign and three spaces begin the line of a field.
    let (is_superfluous, is_missing) = (
        lines.iter().any(|line| line.starts_with("+ ") && !line.starts_with("+   ")),
        lines.iter().any(|line| line.starts_with("- ") && !line.starts_with("-   ")),
    );
    match check {
        Check::Edit if schedule.change.is_some() => {
            "the status of a pass over the older spec counts for the newer one: write observedGeneration from the object that the pass reconciled, never from a newer read"
        }
        Check::Edit if is_superfluous => {
            "delete objects that the spec no longer needs, such as those of a disabled option"
        }
        Check::Edit => {
            "build the whole desired state from the spec in each pass, and compare it with the current state"
        }
        Check::Upgrade if is_superfluous => {
            "declare the objects that only an earlier release creates with `retired(...)` on their group; otherwise they stay"
        }
        Check::Upgrade => "keep the names of objects and fields across releases, or change a name in two releases",
        Check::Isolation => {
            "give each child a name that is unique to its owner, and delete by owner, not by a name or a label that other objects share"
        }
        Check::Repair if schedule.hides_events => {
            "reconcile all objects after a list: no event reports the changes before it"
        }
        Check::Repair => "watch the children, so that a deletion triggers a pass",
        Check::Deletion if schedule.recreate_at.is_some() => {
            "store state of an object by its uid: an object that is created again under the same name is a different object"
        }
        Check::Buckets => {
            "write an entry only on the condition of the revision that was read, list all entries again after each error of a watch, and keep what identifies an object when a client puts its spec alone"
        }
        Check::Webhooks if !is_superfluous => {
            "retry a write that fails because the API server can't call a webhook (500), or because a webhook denies it: the webhook may respond, or allow it, the next time"
        }
        Check::ExternalService if is_superfluous && !is_missing => {
            "a thing was created twice: find it by the token of its creation before another creation, and let nothing but the given token identify it"
        }
        Check::ExternalService => {
            "observe things from time to time, and compare all that the program manages and that an observation shows"
        }
        _ if is_superfluous => {
            "an object was created twice: derive its name from its owner, or look it up before the create"
        }
        Check::RandomFaults => {
            "retry failed requests, above all after 409; decide by the cluster, not by memory; and never write from a read that is older than the last own write"
        }
        _ if is_missing => {
            "a step was skipped after the restart: decide by the state of the cluster, not by remembered steps"
        }
        _ => "write the whole desired state in each pass, from a fresh read",
    }
}
