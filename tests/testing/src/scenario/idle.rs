//! Checks that an idle program makes no writes, and polls at most once a second.

use std::collections::BTreeMap;

use opgen_sandbox::fault::{ObservedCall, TimelineEvent};
use tokio::time::{Instant, sleep};

use crate::simulation::{Cluster, Failure};

/// How often a program may read one path at rest.
const READS_PER_SECOND: u64 = 1;

/// Leaves an idle program alone for some time, then replaces its process and waits until the new one is idle.
///
/// # Errors
/// If the program writes meanwhile, reads without a reconcile pass, or reads a path more than once a second; or if the new process writes.
pub(super) async fn run(cluster: &mut Cluster<'_>) -> Result<(), Failure> {
    let (before, started) = (cluster.faults.calls(), Instant::now());
    sleep(cluster.target.pause * 3).await;
    let writes = calls_since(cluster, before, ObservedCall::is_write);
    if !writes.is_empty() {
        return Err(Failure::BusyAtRest(writes));
    }
    // An operator reads the kubeconfig of a cluster again from time to time, since it may not watch Secrets.
    let reads = calls_since(cluster, before, |call| !call.is_watch() && !cluster.remote_clusters.has_secret(&call.uri));
    // In a program that reports its passes and had none, reads are no polling by a pass.
    if !reads.is_empty() && reports_passes(cluster) && !had_passes_since(cluster, before) {
        return Err(Failure::BusyAtRest(reads));
    }
    let hot = hot_reads(cluster, before, started.elapsed().as_secs() + 1);
    if !hot.is_empty() {
        return Err(Failure::HotPolling(hot));
    }
    cluster.stop().await;
    cluster.rest("a new process started").await?;
    let writes = calls_since(cluster, before, ObservedCall::is_write);
    if writes.is_empty() { Ok(()) } else { Err(Failure::BusyAtRest(writes)) }
}

/// Returns the calls with a number above `number` that the filter accepts, as text.
fn calls_since(cluster: &Cluster<'_>, number: u64, filter: impl Fn(&ObservedCall) -> bool) -> Vec<String> {
    let timeline = cluster.faults.timeline();
    timeline.calls().filter(|call| call.number > number && filter(call)).map(ToString::to_string).collect()
}

/// Returns whether the program reports its reconcile passes.
fn reports_passes(cluster: &Cluster<'_>) -> bool {
    cluster.faults.timeline().entries.iter().any(|entry| matches!(entry.event, TimelineEvent::Pass(_)))
}

/// Returns whether a pass began or ended after the call with a number.
fn had_passes_since(cluster: &Cluster<'_>, number: u64) -> bool {
    let timeline = cluster.faults.timeline();
    let latest_first = timeline.entries.iter().rev();
    let mut since =
        latest_first.take_while(|entry| !matches!(&entry.event, TimelineEvent::Call(call) if call.number <= number));
    since.any(|entry| matches!(entry.event, TimelineEvent::Pass(_)))
}

/// Returns the calls other than watches, after call `number`, that were made more often than [`READS_PER_SECOND`] in a period of
/// `seconds`, with their counts.
fn hot_reads(cluster: &Cluster<'_>, number: u64, seconds: u64) -> Vec<String> {
    let mut counts = BTreeMap::<String, u64>::new();
    for call in cluster.faults.timeline().calls().filter(|call| call.number > number && !call.is_watch()) {
        *counts.entry(format!("{} {}", call.method, call.uri)).or_default() += 1;
    }
    let limit = seconds.max(1) * READS_PER_SECOND;
    let hot = counts.into_iter().filter(|(_, count)| *count > limit);
    hot.map(|(call, count)| format!("{call}, {count} times in {seconds} s")).collect()
}
