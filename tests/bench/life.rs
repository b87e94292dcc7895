//! How fast whole lives are lived: stops at every call, every pair of stops, edits, and seeds, of the examples' operators on as
//! many threads as there are cores. Whatever is found is a false alarm and ends the program with an error.
//!
//! `cargo bench -p opgen-tests --bench life`, or `-- 100` for so many seeds in place of 1,000

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]

mod table;

use std::{fs, process::ExitCode};

use mimalloc::MiMalloc;
use opgen_testing::{Check, Report, Trial, trial};
use table::Table;

/// A sandbox reads and writes JSON all the time; with the C library's allocator a life takes half as long again.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Of the figures that are rates; what runs for long is run once.
const ROUNDS: usize = 5;

/// How many seeds without a word about it.
const SEEDS: u64 = 1_000;

type MakeOperator = fn() -> opgen::Operator;

/// The operators of the examples, by name.
const OPERATORS: [(&str, MakeOperator); 2] =
    [("webapp", webapp_controller::operator), ("shop", shop_controller::operator)];

/// What one check took.
#[derive(Clone, Copy)]
struct Took {
    runs: usize,
    seconds: f64,
}

impl Took {
    fn of(report: &Report, check: Check) -> Self {
        let steps = report.steps.iter().filter(|step| step.check == check);
        let (runs, seconds) =
            steps.fold((0, 0.0), |(runs, seconds), step| (runs + step.runs, seconds + step.took.as_secs_f64()));
        Self { runs, seconds }
    }

    fn a_minute(self) -> f64 {
        self.runs as f64 * 60.0 / self.seconds.max(f64::EPSILON)
    }
}

/// What went wrong so far.
#[derive(Default)]
struct Findings(usize);

impl Findings {
    fn run(&mut self, trial: &Trial, check: Check) -> Took {
        let report = trial.run();
        if !report.is_clean() {
            println!("{report}");
        }
        self.0 += report.findings.len();
        Took::of(&report, check)
    }
}

fn main() -> ExitCode {
    // Cargo adds arguments of its own.
    let seeds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(SEEDS);
    let mut findings = Findings::default();
    println!("load average at the start: {}", load());
    rates(&mut findings);
    long(&mut findings, seeds);
    println!("load average at the end: {}\n{} findings", load(), findings.0);
    if findings.0 == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What is run again and again, in turn.
fn rates(findings: &mut Findings) {
    let checks =
        [(Check::Stop, "crash points"), (Check::Edit, "runs of spec transitions"), (Check::RandomFaults, "seeds")];
    let mut figures = vec![Vec::<Took>::new(); OPERATORS.len() * checks.len()];
    for _ in 0..ROUNDS {
        let all = OPERATORS.iter().flat_map(|operator| checks.iter().map(move |check| (operator, check)));
        for (((_, operator), (check, _)), figures) in all.zip(&mut figures) {
            let trial = trial(operator).only([*check]).seeds(0..100);
            figures.push(findings.run(&trial, *check));
        }
    }
    let mut table = Table::new("Lives", &["", "runs", "a minute"]);
    let all = OPERATORS.iter().flat_map(|operator| checks.iter().map(move |check| (operator, check)));
    for (((name, _), (_, what)), figures) in all.zip(&figures) {
        let runs: Vec<f64> = figures.iter().map(|took| took.runs as f64).collect();
        let rates: Vec<f64> = figures.iter().map(|took| took.a_minute()).collect();
        table.row(&format!("{name}: {what}"), &[&runs, &rates]);
    }
    println!("{}", table.text());
}

/// What takes long, once.
fn long(findings: &mut Findings, seeds: u64) {
    let mut table = Table::new("Long ones", &["", "runs", "seconds", "a minute"]);
    let mut row = |what: &str, took: Took| {
        table.row(what, &[&[took.runs as f64], &[took.seconds], &[took.a_minute()]]);
    };
    let pairs = trial(webapp_controller::operator).only([Check::TwoStops]).pairs(usize::MAX);
    row("webapp: every pair of crashes", findings.run(&pairs, Check::TwoStops));
    for (name, operator) in OPERATORS {
        let by_chance = trial(operator).only([Check::RandomFaults]).seeds(0..seeds);
        row(&format!("{name}: {seeds} seeds"), findings.run(&by_chance, Check::RandomFaults));
    }
    println!("{}", table.text());
}

/// What else the machine has to do; nobody guarantees quiet.
fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
