//! An operator whose objects are in a bucket of a real NATS server, and the loop that one would write by hand with a client of NATS: a
//! watch, a cache, workers, and a status for each entry. Both are processes of their own, and neither has child objects.
//!
//! - *first statuses*: from the start of the process until all entries have a status; the first of them, and the rate of the others.
//! - *restart*: from the start of a process until it has written the status of an entry that was put while none ran.
//! - *memory*: the resident set at rest, minus that with an empty bucket, for each entry.
//! - *wake*: from the acknowledgement of a new entry until its status is seen.
//!
//! `cargo bench -p opgen-tests --bench buckets`; `OPGEN_BENCH_OBJECTS=10000` measures another number. It needs Go, or
//! nats-server at the path in `NATS_SERVER`.
#![allow(unreachable_pub, reason = "a program has no outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "buckets/by_hand.rs"]
mod by_hand;
#[path = "buckets/operator.rs"]
mod operator;
#[path = "buckets/statuses.rs"]
mod statuses;
mod table;

use std::{
    env,
    process::{Command, ExitCode},
    time::Duration,
};

use async_nats::jetstream::{
    self,
    kv::{Config, Store},
    stream::StorageType,
};
use futures::{StreamExt, stream};
use opgen_tests::{NatsServer, NatsServerOptions, Process, usage, wait};
use serde_json::json;
use tokio::time::Instant;

use statuses::Statuses;
use table::Table;

const RUNS: usize = 3;
const WAKES: usize = 200;
/// The number of passes at a time, in both programs.
pub(crate) const WORKERS: usize = 16;
/// The bytes of the text in a spec.
const TEXT: usize = 1000;
/// How long the resident set has to stay the same.
const REST: Duration = Duration::from_secs(3);
const DEADLINE: Duration = Duration::from_secs(900);

/// A program that writes the statuses of the entries in its bucket.
#[derive(Clone, Copy)]
struct Program {
    name: &'static str,
    bucket: &'static str,
}

const PROGRAMS: [Program; 2] =
    [Program { name: "operator", bucket: operator::BUCKET }, Program { name: "by-hand", bucket: by_hand::BUCKET }];

/// What is measured of a program in one run.
struct Figures {
    first_status: f64,
    rate: f64,
    restart: f64,
    memory: f64,
    wake_middle: f64,
    wake_late: f64,
}

/// A row of the table, and its figure.
type Row = (&'static str, fn(&Figures) -> f64);

const ROWS: [Row; 6] = [
    ("first statuses: the first one, s", |figures| figures.first_status),
    ("first statuses: a second", |figures| figures.rate),
    ("restart, s", |figures| figures.restart),
    ("memory of an entry, KiB", |figures| figures.memory),
    ("wake p50, ms", |figures| figures.wake_middle),
    ("wake p99, ms", |figures| figures.wake_late),
];

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let arguments: Vec<_> = env::args().collect();
    match arguments.iter().find_map(|argument| PROGRAMS.iter().find(|program| program.name == argument)) {
        Some(program) if program.bucket == operator::BUCKET => runtime.block_on(operator::run()),
        Some(_) => runtime.block_on(by_hand::run()),
        None => print!("{}", runtime.block_on(measure())),
    }
    ExitCode::SUCCESS
}

async fn measure() -> String {
    let entries = env::var("OPGEN_BENCH_OBJECTS").map_or(100_000, |number| number.parse().unwrap());
    let server = NatsServer::start(&NatsServerOptions::default()).await;
    let context = jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let mut figures = PROGRAMS.map(|_| Vec::new());
    for _ in 0..RUNS {
        for (figures, program) in figures.iter_mut().zip(PROGRAMS) {
            figures.push(of_program(&server, &context, program, entries).await);
        }
    }
    let title = format!("{entries} entries of 1 KiB in a bucket");
    let mut table = Table::new(&title, &["", "opgen", "by hand", "opgen / by hand"]);
    for (name, figure) in ROWS {
        let [opgen, by_hand] = figures.each_ref().map(|runs| runs.iter().map(figure).collect::<Vec<_>>());
        let ratios: Vec<_> = opgen.iter().zip(&by_hand).map(|(opgen, by_hand)| opgen / by_hand).collect();
        table.row(name, &[&opgen, &by_hand, &ratios]);
    }
    table.text().to_owned()
}

async fn of_program(server: &NatsServer, context: &jetstream::Context, program: Program, entries: usize) -> Figures {
    let store = empty_bucket(context, program.bucket).await;
    let process = start(server, program);
    let empty = memory(&process).await;
    drop(process);

    stream::iter(0..entries)
        .for_each_concurrent(256, async |number| {
            put(&store, &key(number)).await;
        })
        .await;
    let statuses = Statuses::follow(&store).await;
    let begun = Instant::now();
    let process = start(server, program);
    let (first, last) = statuses.of_all(entries, DEADLINE).await;
    drop(process);

    let begun_again = put(&store, "default.restart").await;
    let process = start(server, program);
    let restarted = statuses.of("default.restart", DEADLINE).await;
    let full = memory(&process).await;

    let mut wakes = Vec::new();
    for number in 0..WAKES {
        let key = format!("default.wake-{number}");
        let acknowledged = put(&store, &key).await;
        let seen = statuses.of(&key, wait::PATIENCE).await;
        wakes.push(seen.saturating_duration_since(acknowledged).as_secs_f64() * 1000.0);
    }
    drop(process);
    wakes.sort_by(f64::total_cmp);
    Figures {
        first_status: (first - begun).as_secs_f64(),
        rate: entries as f64 / (last - first).as_secs_f64(),
        restart: (restarted - begun_again).as_secs_f64(),
        memory: (full - empty) / entries as f64,
        wake_middle: wakes[wakes.len() / 2],
        wake_late: wakes[wakes.len() * 99 / 100],
    }
}

fn start(server: &NatsServer, program: Program) -> Process {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(program.name).env("NATS_URL", server.url()).env("PROBE_ADDRESS", "0");
    Process::spawn(program.name, command, &server.folder().join(format!("{}.log", program.name)))
}

fn key(number: usize) -> String {
    format!("default.unit-{number:06}")
}

/// Puts an entry as users do, and returns the time of the acknowledgement.
async fn put(store: &Store, key: &str) -> Instant {
    let value = json!({"spec": {"text": "x".repeat(TEXT)}});
    store.put(key, value.to_string().into()).await.unwrap();
    Instant::now()
}

/// Creates a bucket, in place of an earlier one of the name.
async fn empty_bucket(context: &jetstream::Context, name: &str) -> Store {
    drop(context.delete_key_value(name).await);
    let config = Config { bucket: name.to_owned(), history: 1, storage: StorageType::Memory, ..Config::default() };
    context.create_key_value(config).await.unwrap()
}

/// Waits until the resident set stays the same, and returns it in KiB.
async fn memory(process: &Process) -> f64 {
    usage::memory_at_rest(&[process.id()], REST).await[0] as f64
}
