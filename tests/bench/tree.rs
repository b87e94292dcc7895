//! What a pass over a tree of 300 objects costs that finds everything as it left it: the loop, the cache and the tree, and an
//! API server in the process that is asked nothing any more.
//!
//! Passes come from a resync period of nothing. The time of the tree is taken by its first and its last node, the rest of the
//! pass is seen in the CPU time of the thread, on which all runs. Allocations are counted by an allocator that itself costs
//! a little.
//!
//! `cargo bench -p opgen-tests --bench tree`

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod api;
mod table;
mod wide;

use std::{
    alloc::System,
    fs,
    sync::Mutex,
    time::{Duration, Instant},
};

use api::Server;
use opgen::{RunOptions, prelude::*};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use table::Table;
use tokio::{runtime::Builder, sync::oneshot};
use wide::{Single, Tree, Wide};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const RUNS: usize = 5;
/// Passes of one run, half of which tell whether the other half costs the same.
const PASSES: usize = 2_000;
const OPERATOR: &str = "wide";
const KINDS: [&str; 3] = ["configmaps", "services", "deployments"];

/// A pass, by its first and its last node.
#[derive(Clone, Copy)]
struct Seen {
    time: Duration,
    allocations: usize,
}

static BEGUN: Mutex<Option<(Instant, usize)>> = Mutex::new(None);
static SEEN: Mutex<Vec<Seen>> = Mutex::new(Vec::new());

/// The first node of a tree.
#[derive(Provisioner)]
#[provisioner(access())]
struct Begin;

impl Provision<Wide> for Begin {
    async fn provision(_: &Context<'_, Wide, Self>) -> Result<()> {
        *BEGUN.lock().unwrap() = Some((Instant::now(), ALLOCATOR.stats().allocations));
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, Wide, Self>) -> Result<()> {
        Ok(())
    }
}

/// The last.
#[derive(Provisioner)]
#[provisioner(access())]
struct End;

impl Provision<Wide> for End {
    async fn provision(_: &Context<'_, Wide, Self>) -> Result<()> {
        let (allocations, now) = (ALLOCATOR.stats().allocations, Instant::now());
        let (began, before) = BEGUN.lock().unwrap().take().unwrap();
        SEEN.lock().unwrap().push(Seen { time: now - began, allocations: allocations - before });
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, Wide, Self>) -> Result<()> {
        Ok(())
    }
}

/// One run: microseconds and allocations.
struct Figures {
    tree: f64,
    pass: f64,
    allocations: f64,
    /// Allocations of a whole pass in the first half of the run, and in the second.
    whole: [f64; 2],
    /// Bytes that the second half has left behind.
    grown: f64,
}

fn main() {
    let mut tables = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        tables[0].push(run(1, |operator| operator.controls_with::<Wide, Single>(polled)));
        tables[1].push(run(300, |operator| operator.controls_with::<Wide, Tree>(polled)));
    }
    let columns = [
        "objects",
        "the tree, µs",
        "the whole pass, µs of CPU",
        "allocations of the tree",
        "of the pass",
        "of a later pass",
        "bytes kept",
    ];
    let mut table = Table::new(&format!("A pass that changes nothing, {PASSES} a run"), &columns);
    for (runs, objects) in tables.iter().zip(["1", "300"]) {
        let of = |figure: fn(&Figures) -> f64| runs.iter().map(figure).collect::<Vec<f64>>();
        table.row(
            objects,
            &[
                &of(|run| run.tree),
                &of(|run| run.pass),
                &of(|run| run.allocations),
                &of(|run| run.whole[0]),
                &of(|run| run.whole[1]),
                &of(|run| run.grown),
            ],
        );
    }
    println!("{}", table.text());
}

fn polled(controller: opgen::Controller<Wide>) -> opgen::Controller<Wide> {
    controller.events(false).workers(1).resync_period(Duration::from_nanos(1))
}

/// An operator over a server of its own, until it has made so many objects and then so many passes.
fn run(objects: usize, controls: impl FnOnce(Operator) -> Operator) -> Figures {
    let server = Server::default();
    server.put("wides", serde_json::to_value(wide::object(OPERATOR)).unwrap());
    let operator = controls(Operator::new(OPERATOR));
    SEEN.lock().unwrap().clear();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let figures = runtime.block_on(async {
        let (stop, stopped) = oneshot::channel::<()>();
        let running = operator.run_with(server.client(), RunOptions::default(), async { drop(stopped.await) });
        let measuring = async {
            settled(&server, objects).await;
            let figures = measure().await;
            drop(stop);
            figures
        };
        let (ended, figures) = tokio::join!(running, measuring);
        ended.unwrap();
        figures
    });
    assert_eq!(KINDS.iter().map(|kind| server.count(kind)).sum::<usize>(), objects);
    figures
}

/// Waits for passes that write nothing.
async fn settled(server: &Server, objects: usize) {
    loop {
        let writes = server.writes();
        passes(50).await;
        // All objects, and the status.
        if server.writes() == writes && writes > objects {
            return;
        }
    }
}

/// Waits until a number of passes has ended.
async fn passes(number: usize) {
    let before = SEEN.lock().unwrap().len();
    let mut tick = tokio::time::interval(Duration::from_millis(1));
    let deadline = Instant::now() + Duration::from_secs(120);
    while SEEN.lock().unwrap().len() < before + number {
        assert!(Instant::now() < deadline, "no passes any more");
        tick.tick().await;
    }
}

async fn measure() -> Figures {
    // Room for all, so that the record itself allocates nothing.
    *SEEN.lock().unwrap() = Vec::with_capacity(4 * PASSES);
    let (cpu, first) = (cpu(), ALLOCATOR.stats());
    passes(PASSES / 2).await;
    let (middle, half) = (ALLOCATOR.stats(), SEEN.lock().unwrap().len());
    passes(PASSES / 2).await;
    let last = ALLOCATOR.stats();
    let mut seen = SEEN.lock().unwrap().clone();
    let number = seen.len();
    let spent = cpu_since(cpu);
    seen.sort_by_key(|pass| pass.time);
    let median = seen[number / 2];
    let held = |stats: &stats_alloc::Stats| stats.bytes_allocated as f64 - stats.bytes_deallocated as f64;
    Figures {
        tree: median.time.as_secs_f64() * 1e6,
        pass: spent.as_secs_f64() * 1e6 / number as f64,
        allocations: seen.iter().map(|pass| pass.allocations).sum::<usize>() as f64 / number as f64,
        whole: [
            (middle.allocations - first.allocations) as f64 / half as f64,
            (last.allocations - middle.allocations) as f64 / (number - half) as f64,
        ],
        grown: held(&last) - held(&middle),
    }
}

/// The CPU time of this thread.
fn cpu() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().and_then(|spent| spent.parse().ok()).unwrap())
}

fn cpu_since(before: Duration) -> Duration {
    cpu() - before
}
