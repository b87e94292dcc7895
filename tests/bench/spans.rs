//! What the spans of passes, nodes and calls cost: the CPU time of a pass that changes nothing, and of an edit with its pass, two
//! writes and their events.
//!
//! Each run is a process of its own, since a process has one subscriber: the operator, an API server that answers at once, and the
//! exporter. It exports to a collector in this process, whose time does not count. *Off*: no endpoint. Then with a sampling ratio.
//!
//! `cargo bench -p opgen-tests --bench spans`

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod api;
mod table;
mod wide;

use std::{
    env, fs,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use api::Server;
use clap::Parser;
use opgen::{RunOptions, command::ManagerArgs, prelude::*};
use serde_json::Value;
use table::Table;
use tokio::{net::TcpListener, runtime::Builder, sync::oneshot};
use wide::{Single, Wide};

const RUNS: usize = 5;
const PASSES: usize = 1_000;
const EDITS: usize = 2_000;
/// Passes or edits before those that are measured.
const WARM_UP: usize = 50;
const OPERATOR: &str = "wide";
/// The sampling ratios; an empty one is no export.
const MODES: [&str; 4] = ["", "0", "0.01", "1"];

/// The variable that makes this program a run.
const RUN: &str = "OPGEN_BENCH_SPANS";

static ENDED: AtomicUsize = AtomicUsize::new(0);

/// The first node of the tree.
#[derive(Provisioner)]
#[provisioner(access())]
struct Begin;

impl Provision<Wide> for Begin {
    async fn provision(_: &Context<'_, Wide, Self>) -> Result<()> {
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, Wide, Self>) -> Result<()> {
        Ok(())
    }
}

/// The last node, which counts the passes.
#[derive(Provisioner)]
#[provisioner(access())]
struct End;

impl Provision<Wide> for End {
    async fn provision(_: &Context<'_, Wide, Self>) -> Result<()> {
        ENDED.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    async fn deprovision(_: &Teardown<'_, Wide, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    manager: ManagerArgs,
}

fn main() {
    if env::var_os(RUN).is_some() {
        return run();
    }
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    runtime.spawn(async move { axum::serve(listener, axum::Router::new().fallback(|| async {})).await });
    let mut figures = MODES.map(|_| [const { Vec::new() }; 2]);
    for _ in 0..RUNS {
        for (figures, ratio) in figures.iter_mut().zip(MODES) {
            let found = figures_of_run(&endpoint, ratio);
            figures.iter_mut().zip(found).for_each(|(figures, figure)| figures.push(figure));
        }
    }
    let columns = ["spans", "a pass that changes nothing, µs of CPU", "an edit, µs of CPU"];
    let mut table = Table::new(&format!("{PASSES} passes and {EDITS} edits a run"), &columns);
    for (figures, ratio) in figures.iter().zip(MODES) {
        let name = if ratio.is_empty() { "off".to_owned() } else { format!("ratio {ratio}") };
        table.row(&name, &figures.each_ref().map(Vec::as_slice));
    }
    println!("{}", table.text());
}

/// Runs this program again, and returns what it prints.
fn figures_of_run(endpoint: &str, ratio: &str) -> [f64; 2] {
    let mut command = Command::new(env::current_exe().unwrap());
    command.env(RUN, "1").env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
    if !ratio.is_empty() {
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).env("OTEL_TRACES_SAMPLER_ARG", ratio);
        command.env("OTEL_BSP_MAX_QUEUE_SIZE", "20000");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// One run: prints the microseconds of a pass and of an edit.
fn run() {
    let configuration = Cli::parse_from(["spans"]).manager.load().unwrap();
    let _log = configuration.start_log().unwrap();
    let server = Server::default();
    server.put("wides", object(1));
    let polled = |controller: opgen::Controller<Wide>| {
        controller.events(false).workers(1).resync_period(Duration::from_nanos(1))
    };
    let unpolled = |controller: opgen::Controller<Wide>| controller.events(false).workers(1);
    let passes = measure(&server, Operator::new(OPERATOR).controls_with::<Wide, Single>(polled), false);
    let edits = measure(&server, Operator::new(OPERATOR).controls_with::<Wide, Single>(unpolled), true);
    assert_eq!(server.count("configmaps"), 1);
    println!("{passes} {edits}");
}

/// The object in a generation, in which its image is another one.
fn object(generation: usize) -> Value {
    let mut object = serde_json::to_value(wide::object(OPERATOR)).unwrap();
    object["metadata"]["generation"] = generation.into();
    object["spec"]["image"] = format!("registry.example.com/shop:{generation}").into();
    object
}

/// Runs an operator, and returns the microseconds of CPU of a pass, or of an edit.
fn measure(server: &Server, operator: Operator, edits: bool) -> f64 {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (stop, stopped) = oneshot::channel::<()>();
        let running = operator.run_with(server.client(), RunOptions::default(), async { drop(stopped.await) });
        let measuring = async {
            if edits {
                edit(server, WARM_UP, 2).await
            } else {
                passes(WARM_UP).await
            };
            let before = cpu();
            let number = if edits { edit(server, EDITS, WARM_UP + 2).await } else { passes(PASSES).await };
            let spent = cpu() - before;
            drop(stop);
            spent.as_secs_f64() * 1e6 / number as f64
        };
        let (ended, figure) = tokio::join!(running, measuring);
        ended.unwrap();
        figure
    })
}

/// Waits until a number of passes has ended.
async fn passes(number: usize) -> usize {
    let before = ENDED.load(Ordering::Relaxed);
    until(Duration::from_millis(2), || ENDED.load(Ordering::Relaxed) >= before + number).await;
    ENDED.load(Ordering::Relaxed) - before
}

/// Edits the object a number of times, each time when the operator has written its child and its status.
async fn edit(server: &Server, number: usize, first: usize) -> usize {
    for generation in first..first + number {
        let writes = server.writes();
        server.put("wides", object(generation));
        until(Duration::from_micros(200), || server.writes() >= writes + 2).await;
    }
    number
}

/// Waits until something is done, which is looked at once in a period.
async fn until(period: Duration, is_done: impl Fn() -> bool) {
    let (deadline, mut tick) = (Instant::now() + Duration::from_secs(120), tokio::time::interval(period));
    while !is_done() {
        assert!(Instant::now() < deadline, "the operator does nothing any more");
        tick.tick().await;
    }
}

/// The CPU time of all threads of this process.
fn cpu() -> Duration {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let spent = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}
