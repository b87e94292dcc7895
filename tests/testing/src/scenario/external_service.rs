//! Changes or deletes what a simulated external service stores, or exhausts its quota, and waits until the operator has recovered.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::{
    object::is_waiting,
    service_event::ServiceEvent,
    simulation::{Cluster, Failure, Outcome},
};

const DISTURBED: &str = "another client disturbed the things of the external service";
const QUOTA_EXHAUSTED: &str = "the samples were created while the quota of the external service was exhausted";

/// How long a program may take to notice what another client did: it observes things from time to time.
const MAX_REPAIR_TIME: Duration = Duration::from_secs(3600);

/// How often the trial looks for the repair.
const INTERVAL: Duration = Duration::from_secs(5);

/// How long the quota is exhausted at most.
const QUOTA_TIME: Duration = Duration::from_secs(600);

/// The number of creations that a program may try meanwhile.
const MAX_REFUSED_CREATIONS: usize = 600;

/// Changes or deletes, as another client, all things that the external service stores, and waits until the program has repaired them and is
/// at rest, that is, idle. Stores the snapshot then in the outcome, except after a foreign change, which the program must keep, so that the
/// state differs from the one before.
pub(super) async fn run(cluster: &mut Cluster<'_>, event: ServiceEvent, outcome: &mut Outcome) -> Result<(), Failure> {
    let Some(service) = cluster.service.clone() else { return Ok(()) };
    service.disturb(event);
    await_repair(cluster).await?;
    if event != ServiceEvent::ForeignChange {
        outcome.after_recovery = Some(cluster.snapshot());
    }
    Ok(())
}

/// Waits until the program has repaired the things that another client changed or deleted, for [`MAX_REPAIR_TIME`] at most, and then until
/// it is at rest, that is, idle.
pub(super) async fn await_repair(cluster: &mut Cluster<'_>) -> Result<(), Failure> {
    let Some(service) = cluster.service.clone() else { return Ok(()) };
    let deadline = Instant::now() + MAX_REPAIR_TIME;
    while service.unrepaired() > 0 && Instant::now() < deadline {
        sleep(INTERVAL).await;
    }
    cluster.rest(DISTURBED).await
}

/// Runs the program for a while with an exhausted quota of the external service, and then restores the quota. Adds a problem to the outcome
/// if no condition of a sample reports that it waits although a creation was rejected, or if the program tried to create things too often.
pub(super) async fn outlast_quota(cluster: &mut Cluster<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let Some(service) = cluster.service.clone() else { return Ok(()) };
    let begun = Instant::now();
    cluster.rests_within(QUOTA_TIME, QUOTA_EXHAUSTED).await?;
    let elapsed = begun.elapsed();
    let (refused, now) = (service.refused_creations(), cluster.snapshot());
    let samples = &cluster.target.manifests.samples;
    let is_reported = samples.iter().filter_map(|sample| now.find(sample)).any(is_waiting);
    if refused > 0 && !is_reported {
        let problem = "no condition of a sample reports that its thing can't be created while the quota is exhausted";
        outcome.service_problems.push(problem.to_owned());
    }
    if refused > MAX_REFUSED_CREATIONS {
        let seconds = elapsed.as_secs();
        let problem =
            format!("it repeated the creation of a thing {refused} times in {seconds} s over an exhausted quota");
        outcome.service_problems.push(problem);
    }
    service.restore_quota();
    Ok(())
}
