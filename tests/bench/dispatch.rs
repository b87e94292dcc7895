//! How many keys a second go through queue and workers when there is nothing to do for them.
//!
//! 200,000 distinct keys, two threads. *Loaded*: all keys are in the queue before the workers start. *Live*: they are
//! added while the workers run, half of them a second time at a higher priority. *Measured*: as loaded, with the durations that the
//! metrics of an operator show. kube's own dispatch (its applier and
//! scheduler behind a `Controller`) runs beside it on the same keys.

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]
#![allow(clippy::unwrap_used)]

mod table;

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::{
    controller::{Action, Config, ReconcileRequest, applier},
    reflector::{self, ObjectRef},
    watcher,
};
use opgen::{
    cache::ObjectKey,
    queue::{Priority, Queue, Timings},
};
use std::{
    convert::Infallible,
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use table::Table;
use tokio::{runtime::Builder, task::JoinSet, time::Instant};

const KEYS: usize = 200_000;
const RUNS: usize = 5;
const WORKERS: [usize; 4] = [1, 4, 16, 100];

fn keys() -> Vec<ObjectKey> {
    (0..KEYS)
        .map(|number| ObjectKey::namespaced(&format!("team-{:02}", number % 40), &format!("object-{number:06}")))
        .collect()
}

/// Workers that give every key back at once, until the queue is shut down. With timings, they measure each key.
fn workers(
    queue: &Arc<Queue<ObjectKey>>,
    count: usize,
    left: &Arc<AtomicUsize>,
    timings: Option<&Arc<Timings>>,
) -> JoinSet<()> {
    (0..count)
        .map(|_| {
            let (queue, left, timings) = (queue.clone(), left.clone(), timings.cloned());
            async move {
                let worker = timings.as_ref().map(|timings| timings.worker());
                let mut next = queue.take().await;
                while let Some(item) = next {
                    let start = worker.as_ref().map(|worker| worker.begin(&item));
                    let now = Instant::now();
                    if let (Some(worker), Some(start)) = (&worker, start) {
                        worker.end(start, now);
                    }
                    if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                        queue.shutdown();
                    }
                    next = queue.done_and_take(&item.key, now).await;
                }
            }
        })
        .collect()
}

async fn loaded(keys: &[ObjectKey], count: usize, timings: Option<Arc<Timings>>) -> f64 {
    let queue = Arc::new(Queue::new());
    keys.iter().for_each(|key| queue.add(key.clone(), Priority::Low));
    let start = Instant::now();
    workers(&queue, count, &Arc::new(AtomicUsize::new(keys.len())), timings.as_ref()).join_all().await;
    KEYS as f64 / start.elapsed().as_secs_f64()
}

/// Dispatches a second, with those of keys that were added again.
async fn live(keys: &[ObjectKey], count: usize) -> f64 {
    let (queue, left) = (Arc::new(Queue::new()), Arc::new(AtomicUsize::new(usize::MAX)));
    let start = Instant::now();
    let workers = workers(&queue, count, &left, None);
    for (number, key) in keys.iter().enumerate() {
        queue.add(key.clone(), Priority::Low);
        if number % 2 == 0 {
            queue.add(key.clone(), Priority::High);
        }
        if number % 64 == 0 {
            tokio::task::yield_now().await;
        }
    }
    while queue.stats().ready() > 0 {
        tokio::task::yield_now().await;
    }
    queue.shutdown();
    queue.drained().await;
    workers.join_all().await;
    queue.stats().taken as f64 / start.elapsed().as_secs_f64()
}

/// kube's dispatch of the same keys, from a store that holds them.
async fn kube(store: &reflector::Store<ConfigMap>, count: usize) -> f64 {
    let requests: Vec<_> =
        store.state().iter().map(|object| ReconcileRequest::from(ObjectRef::from_obj(&**object))).collect();
    let queue = stream::iter(requests.into_iter().map(Ok::<_, Infallible>)).chain(stream::pending());
    let start = Instant::now();
    let config = Config::default().concurrency(u16::try_from(count).unwrap());
    applier(
        |_: Arc<ConfigMap>, _: Arc<()>| ready(Ok::<_, Infallible>(Action::await_change())),
        |_: Arc<ConfigMap>, _: &Infallible, _: Arc<()>| Action::await_change(),
        Arc::new(()),
        store.clone(),
        queue,
        config,
    )
    .take(KEYS)
    .for_each(|_| async {})
    .await;
    KEYS as f64 / start.elapsed().as_secs_f64()
}

fn kube_store(keys: &[ObjectKey]) -> (reflector::Store<ConfigMap>, reflector::store::Writer<ConfigMap>) {
    let (reader, mut writer) = reflector::store();
    writer.apply_watcher_event(&watcher::Event::Init);
    for key in keys {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(key.name().to_owned());
        object.metadata.namespace = key.namespace().map(str::to_owned);
        writer.apply_watcher_event(&watcher::Event::InitApply(object));
    }
    writer.apply_watcher_event(&watcher::Event::InitDone);
    (reader, writer)
}

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let keys = Arc::new(keys());
    let (store, _writer) = kube_store(&keys);
    let mut figures = WORKERS.map(|_| [const { Vec::new() }; 4]);
    for _ in 0..RUNS {
        for (figures, count) in figures.iter_mut().zip(WORKERS) {
            let (keys, store) = (keys.clone(), store.clone());
            // In tasks, so that nothing runs on the thread that only waits.
            let runs = async move {
                let measured = loaded(&keys, count, Some(Arc::new(Timings::new(count)))).await;
                [loaded(&keys, count, None).await, measured, live(&keys, count).await, kube(&store, count).await]
            };
            let runs = runtime.block_on(runtime.spawn(runs)).unwrap();
            figures.iter_mut().zip(runs).for_each(|(figures, figure)| figures.push(figure));
        }
    }
    let columns = ["workers", "opgen, loaded", "opgen, measured", "opgen, live", "kube"];
    let mut table = Table::new(&format!("No-op dispatches a second, {KEYS} keys, two threads"), &columns);
    for (figures, count) in figures.iter().zip(WORKERS) {
        table.row(&count.to_string(), &figures.each_ref().map(Vec::as_slice));
    }
    println!("{}", table.text());
}
