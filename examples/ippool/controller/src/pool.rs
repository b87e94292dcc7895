//! The controller of pools: frees the addresses of deleted Pods and writes the status.

mod owed;
mod status;
mod survey;

use std::collections::BTreeMap;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use ippool_api::{IPPool, IPPoolSpec, OverlappingRangeIPReservation};
use k8s_openapi::api::core::v1::Pod;
use opgen::{context::Calls, prelude::*};
use serde_json::{Value, json};

use crate::{
    World,
    allocation::{Use, is_name, pod_of},
    pod::facts,
    range::Range,
};
use status::Counts;
use survey::{Holding, Survey};

pub(crate) use owed::Owed;

/// The maximum number of concurrent reads of Pods.
const AT_ONCE: usize = 8;

/// Frees the orphaned allocations of a pool.
#[derive(Debug, Provisioner)]
#[provisioner(access(IPPool: patch; Pod: get; OverlappingRangeIPReservation: get, delete))]
pub struct PoolKeeper;

type Cx<'a> = Context<'a, For<IPPool, World>, PoolKeeper>;

impl Provision<For<IPPool, World>> for PoolKeeper {
    async fn provision(cx: &Cx<'_>) -> Result<()> {
        let (pool, world) = (cx.object(), cx.options());
        let (namespace, name) = place(pool);
        world.metrics.passed();
        world.holders.note(pool);
        let range = Range::parse(&pool.spec.range).ok();
        let seen = world.pods.read(|pods| Survey::of(pool, range.as_ref(), pods, &world.options))?;
        let orphans = confirmed(cx, seen.suspects).await?;
        let patched = free(cx, pool, &orphans).await?;
        let pool = patched.as_ref().unwrap_or(pool);
        let left = if patched.is_some() { survey::holdings(pool, range.as_ref()) } else { seen.holdings };
        let reserved = world.reservations.read(|all| survey::reserved(&left, namespace, all))?;
        world.metrics.allocations(namespace, name, left.len());
        status::set(cx, &left, range.as_ref(), &Counts { orphaned: orphans.len(), pending: seen.pending, reserved });
        world.owed.add(pool, &orphans);
        clean_up(cx, pool, world).await?;
        if seen.pending > 0 {
            return yield_because("Reconciling", "waiting for pending pods to be scheduled");
        }
        match (orphans.len(), left.len()) {
            (0, 0) => cx.report("Reconciled", "no allocations to reconcile"),
            (0, _) => cx.report("Reconciled", "all allocations verified"),
            (count, _) => cx.report("OrphansCleaned", format!("cleaned {count} orphaned allocation(s)")),
        }
        Ok(())
    }

    async fn deprovision(cx: &Teardown<'_, For<IPPool, World>, Self>) -> Result<()> {
        let (pool, world) = (cx.object(), cx.options());
        world.owed.add(pool, &survey::holdings(pool, Range::parse(&pool.spec.range).ok().as_ref()));
        clean_up(cx, pool, world).await?;
        let (namespace, name) = place(pool);
        world.holders.forget(pool);
        world.metrics.drop_pool(namespace, name);
        Ok(())
    }
}

/// Returns the orphans that a live read confirms. The lister may be older than the allocation, so a Pod that it does not
/// contain yet may exist.
async fn confirmed<'p>(cx: &Cx<'_>, suspects: Vec<Holding<'p>>) -> Result<Vec<Holding<'p>>> {
    let asked: Vec<_> = suspects.into_iter().map(|suspect| is_orphan(cx, suspect)).collect();
    let answers: Vec<_> = stream::iter(asked).buffered(AT_ONCE).try_collect().await?;
    Ok(answers.into_iter().flatten().collect())
}

async fn is_orphan<'p>(cx: &Cx<'_>, suspect: Holding<'p>) -> Result<Option<Holding<'p>>> {
    let pod = pod_of(&suspect.allocation.podref).filter(|(_, name)| is_name(name));
    let Some((namespace, name)) = pod else { return Ok(Some(suspect)) };
    let pod = cx.in_namespace(namespace).find::<Pod>(name).await?.as_ref().map(facts);
    let is_orphan = suspect.judge(pod.as_ref(), &cx.options().options) == Use::Orphaned;
    Ok(is_orphan.then_some(suspect))
}

/// Removes unchanged orphans from a pool, and returns the pool after that. Allocations of other clients in the meantime are
/// kept.
async fn free(cx: &Cx<'_>, pool: &IPPool, orphans: &[Holding<'_>]) -> Result<Option<IPPool>> {
    if orphans.is_empty() {
        return Ok(None);
    }
    let (namespace, name) = place(pool);
    let patched = cx.patch_json::<IPPool>(name, removal(orphans)).await?;
    cx.options().metrics.orphans_cleaned(namespace, name, orphans.len());
    let message = format!("freed {} orphaned allocation(s)", orphans.len());
    cx.event(EventType::Normal, "OrphanedAllocationsCleaned", &message);
    Ok(Some(patched))
}

/// A JSON patch with a test and a removal for each allocation.
fn removal(orphans: &[Holding<'_>]) -> Value {
    let operations = orphans.iter().flat_map(|orphan| {
        let path = format!("/spec/allocations/{}", orphan.key.replace('~', "~0").replace('/', "~1"));
        let held = orphan.allocation;
        let fields = [("id", &held.id), ("podref", &held.podref), ("ifname", &held.ifname)];
        // A test of a missing field fails, so an empty interface is not tested.
        let said = fields.into_iter().filter(|(field, value)| *field != "ifname" || !value.is_empty());
        let tests = said.map(|(field, value)| json!({"op": "test", "path": format!("{path}/{field}"), "value": value}));
        tests.chain([json!({"op": "remove", "path": path})]).collect::<Vec<_>>()
    });
    Value::Array(operations.collect())
}

/// Deletes the remaining reservations of freed allocations.
async fn clean_up(calls: &Calls<'_, PoolKeeper>, pool: &IPPool, world: &World) -> Result<()> {
    match world.owed.settle(calls, pool, &world.reservations).await {
        Err(Error::Unexpected(error)) => {
            tracing::warn!(pool = place(pool).1, %error, "failed to delete a reservation");
            let reason = "OverlappingReservationCleanupFailed";
            calls.event(EventType::Warning, reason, "failed to delete a reservation; retrying");
            yield_because(reason, "reservations of freed addresses remain")
        }
        other => other,
    }
}

fn place(pool: &IPPool) -> (&str, &str) {
    let metadata = &pool.metadata;
    (metadata.namespace.as_deref().unwrap_or_default(), metadata.name.as_deref().unwrap_or_default())
}

/// The sample of a pool.
pub(crate) fn sample() -> IPPool {
    IPPool::new("10.0.0.0-24", IPPoolSpec { range: "10.0.0.0/24".to_owned(), allocations: BTreeMap::new() })
}

#[cfg(test)]
mod tests;
