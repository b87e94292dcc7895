//! The example `ippool`: a pass over a full pool that changes nothing, and hundreds of pools while thousands of Pods come and
//! go, over an API server in the process.
//!
//! Passes come from a resync period of nothing. CPU and allocations are those of the thread on which the operator and its server
//! run; the server is asked nothing in a pass that changes nothing.
//!
//! `cargo bench -p opgen-tests --bench ippool`, with `-- pass` or `-- churn POOLS PODS` for one of the two. The second ends within
//! fifteen minutes, well or not.

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../suites/plane/ippool/churn.rs"]
#[allow(dead_code)]
mod churn;
#[path = "ippool/crowd.rs"]
mod crowd;
mod table;

use std::{
    alloc::System,
    fs,
    time::{Duration, Instant},
};

use churn::{Churn, Size};
use ippool_api::{IPPool, NodeSlicePool, OverlappingRangeIPReservation};
use ippool_controller::{Options, World, operator_for};
use kube::{Api, CustomResourceExt as _, api::PostParams};
use opgen::RunOptions;
use opgen_sandbox::{Record, Sandbox, User};
use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use table::Table;
use tokio::{runtime::Builder, sync::oneshot};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const RUNS: usize = 5;
const PASSES: u64 = 500;
/// The addresses of a pool of 256 that can be used.
const FULL: usize = 254;

fn main() {
    let asked: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_asked = |word: &str| asked.is_empty() || asked.iter().any(|asked| asked == word);
    if is_asked("pass") {
        let runs: Vec<_> = (0..RUNS).map(|_| on_one_thread(pass())).collect();
        let columns = ["allocations of the pool", "µs of CPU", "allocations"];
        let mut table = Table::new(&format!("A pass that changes nothing, {PASSES} a run"), &columns);
        let of = |figure: fn(&[f64; 2]) -> f64| runs.iter().map(figure).collect::<Vec<f64>>();
        table.row(&FULL.to_string(), &[&of(|run| run[0]), &of(|run| run[1])]);
        println!("{}", table.text());
    }
    if is_asked("churn") {
        let mut numbers = asked.iter().filter_map(|word| word.parse().ok());
        let (pools, pods) = (numbers.next().unwrap_or(200), numbers.next().unwrap_or(5_000));
        on_one_thread(crowd::watched(pools, pods));
    }
}

fn on_one_thread<T>(work: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// A sandbox with the kinds, that tells of the operator's requests.
async fn sandbox(told: impl Fn(&Record) + Send + Sync + 'static) -> Sandbox {
    let sandbox = Sandbox::builder().audit(move |record| {
        if record.user == "operator" {
            told(record);
        }
    });
    let sandbox = sandbox.start();
    let client = sandbox.client();
    let networks = serde_json::from_value(network_definition()).unwrap();
    let definitions = [IPPool::crd(), NodeSlicePool::crd(), OverlappingRangeIPReservation::crd(), networks];
    for definition in definitions {
        Api::all(client.clone()).create(&PostParams::default(), &definition).await.unwrap();
    }
    let account = json!({"metadata": {"name": "default"}});
    let accounts = Api::<k8s_openapi::api::core::v1::ServiceAccount>::namespaced(client, "default");
    // A cluster has one by itself, by and by.
    let _ = accounts.create(&PostParams::default(), &serde_json::from_value(account).unwrap()).await;
    sandbox
}

/// Runs an operator while something else happens.
async fn beside<T>(sandbox: &Sandbox, world: &World, work: impl Future<Output = T>) -> T {
    let (stop, stopped) = oneshot::channel::<()>();
    let client = sandbox.client_of(User::admin("operator"));
    let operator = operator_for(world);
    let running = operator.run_with(client, RunOptions::default(), async { drop(stopped.await) });
    let work = async {
        let done = work.await;
        drop(stop);
        done
    };
    let (ended, done) = tokio::join!(running, work);
    ended.unwrap();
    done
}

/// Microseconds of CPU and allocations of a pass.
async fn pass() -> [f64; 2] {
    let sandbox = sandbox(|_| ()).await;
    let world = World::new(Options { interval: Duration::from_nanos(1), ..Options::default() });
    let size = Size { pools: 1, settled: FULL, pods: 0, replaced: 0 };
    let mut churn = Churn::new(sandbox.client(), "default", size);
    churn.begin().await;
    beside(&sandbox, &world, async {
        // The first passes write the finalizer and the status.
        passes(&world, 50).await;
        let (cpu_before, allocated, before) = (cpu(), ALLOCATOR.stats().allocations, world.metrics.passes());
        passes(&world, PASSES).await;
        let number = (world.metrics.passes() - before) as f64;
        let allocations = (ALLOCATOR.stats().allocations - allocated) as f64 / number;
        [(cpu() - cpu_before).as_secs_f64() * 1e6 / number, allocations]
    })
    .await
}

/// Waits until a number of passes has ended.
async fn passes(world: &World, number: u64) {
    let before = world.metrics.passes();
    let mut tick = tokio::time::interval(Duration::from_millis(5));
    let deadline = Instant::now() + Duration::from_secs(120);
    while world.metrics.passes() < before + number {
        assert!(Instant::now() < deadline, "no passes any more");
        tick.tick().await;
    }
}

/// The CPU time of this thread.
fn cpu() -> Duration {
    cpu_of("thread-self")
}

/// The CPU time of a thread by its place below `/proc`.
fn cpu_of(thread: &str) -> Duration {
    let text = fs::read_to_string(format!("/proc/{thread}/schedstat")).unwrap();
    Duration::from_nanos(text.split(' ').next().and_then(|spent| spent.parse().ok()).unwrap())
}

fn network_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "network-attachment-definitions.k8s.cni.cncf.io"},
        "spec": {
            "group": "k8s.cni.cncf.io", "scope": "Namespaced",
            "names": {"plural": "network-attachment-definitions", "kind": "NetworkAttachmentDefinition"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}
