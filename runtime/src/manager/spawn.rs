//! Spawns the watches of all operators of a process, each kind once.

use super::{
    informers::Informers, observed::ObservedOperator, operator::Operator, storage_migration::StorageMigration,
    wiring::Wiring,
};
use crate::{
    cache::{Change, Encoded, ObjectKey},
    client::Client,
    controller::worker::RunningController,
    garbage::orphans::OrphanRequests,
    informer::{
        fan_out::FanOut, namespaces::Namespaces, primary::KubernetesSource, shared_watch::SharedWatches, source::Source,
    },
    tasks::{OnEnd, Tasks},
};
use futures::FutureExt;
use std::sync::Arc;

/// Spawns the tasks of all watches, and of the channels by which user code enqueues primaries. Primaries without a selector share their
/// watch with the references, mapped objects and listers of the same kind.
pub(super) fn spawn_informers(
    informers: &Informers,
    wirings: &[Wiring],
    client: &Client,
    namespaces: &Namespaces,
    tasks: &mut Tasks,
) {
    let mut shared_watches = SharedWatches::default();
    for wiring in wirings {
        wiring.spawn_channels(tasks);
        wiring.add_to(&mut shared_watches);
    }
    for source in informers.caches() {
        // A source with a selector has a watch of its own.
        let other_sinks =
            if source.has_selector() { FanOut::default() } else { shared_watches.take_sinks(source.kind()) };
        spawn_primary_informer(&source, Arc::new(other_sinks), wirings, tasks);
    }
    wirings.iter().for_each(|wiring| wiring.spawn_child_informers(tasks));
    for (kind, shared_watch) in shared_watches.into_watches() {
        let (health, shared_watch) = (informers.healths.of_version(&kind), Arc::new(shared_watch));
        let (client, namespaces, task_health) = (client.clone(), namespaces.clone(), health.clone());
        tasks.spawn(format!("informer of {kind}"), Some(health), OnEnd::Restart, move || {
            let (shared_watch, client, kind) = (shared_watch.clone(), client.clone(), kind.clone());
            let (namespaces, health) = (namespaces.clone(), task_health.clone());
            async move { shared_watch.run(client, kind, namespaces, health).await }.boxed()
        });
    }
}

/// Spawns the tasks of a cache of primaries: the informer, and the collection of orphans after a recovery. The events of the informer
/// reach `other_sinks` first, then the orphan collectors and the controllers of the cache.
fn spawn_primary_informer(
    source: &Arc<KubernetesSource>,
    other_sinks: Arc<FanOut<'static>>,
    wirings: &[Wiring],
    tasks: &mut Tasks,
) {
    let uses_cache =
        |controller: &&Arc<RunningController>| source.shares_cache(controller.control_loop.source.objects());
    let has_user = |wiring: &&Wiring| wiring.controllers.iter().any(|controller| uses_cache(&controller));
    let users: Vec<_> = wirings.iter().filter(has_user).collect();
    users.iter().for_each(|wiring| wiring.collect_orphans_on_recovery(source.health(), tasks));
    let controllers = users.iter().flat_map(|wiring| wiring.controllers.iter().filter(uses_cache).cloned());
    let controllers: Arc<[_]> = controllers.collect();
    let orphan_requests: Arc<[OrphanRequests]> = users.iter().map(|wiring| wiring.orphan_requests.clone()).collect();
    let sharded_watch = source.sharded_watch(!other_sinks.is_empty());
    let (name, health, source) = (format!("informer of {}", source.kind()), source.health().clone(), source.clone());
    tasks.spawn(name, Some(health), OnEnd::Restart, move || {
        let (source, orphan_requests) = (source.clone(), orphan_requests.clone());
        let (controllers, other_sinks) = (controllers.clone(), other_sinks.clone());
        let sharded_watch = sharded_watch.clone();
        let run = async move {
            let on_change = |change: &Change<Encoded>, from_list| {
                orphan_requests.iter().for_each(|requests| requests.on_primary_change(change));
                controllers.iter().for_each(|controller| controller.on_primary_change(change, from_list));
            };
            let on_dropped =
                |key: &ObjectKey| controllers.iter().for_each(|controller| controller.on_primary_dropped(key));
            source.run(&on_change, &on_dropped, &other_sinks, sharded_watch.as_ref()).await;
        };
        run.boxed()
    });
}

/// Returns the queues, caches and watches of the operators, which the metrics read at each scrape.
pub(super) fn observed(informers: &Informers, wirings: &[Wiring]) -> ObservedOperator {
    let mut observed = ObservedOperator { sources: informers.caches(), ..ObservedOperator::default() };
    wirings.iter().for_each(|wiring| wiring.add_to_observed(&mut observed));
    observed
}

/// Spawns a task for each kind with several API versions, which rewrites its objects in the stored version. The tasks write, so call this
/// only when the replica leads.
pub(super) fn spawn_migrations(operator: &Operator, client: &Client, tasks: &mut Tasks) {
    for (kind, stored) in operator.migrated_kinds() {
        let name = format!("migration of stored {kind}");
        let migration = StorageMigration { client: client.clone(), operator: operator.name.clone(), kind, stored };
        tasks.spawn(&name, None, OnEnd::Restart, move || {
            let migration = migration.clone();
            async move { migration.run().await }.boxed()
        });
    }
}
