//! How fast the sandbox is and how much it holds, beside kube-apiserver in the same run.
//!
//! Over HTTPS both answer the same client, which runs on the same two cores and sends the same requests: config maps of half
//! a kilobyte, many requests at a time, with all that a write has to do on either side (managed fields, admission, RBAC for
//! an administrator). The real one is kube-apiserver with etcd and the controllers that the sandbox has, without an audit
//! log; its CPU time and memory are those of kube-apiserver and etcd together. Each round has fresh servers, each in a
//! process of its own. CPU time is what the kernel counts for the threads of a process, memory its resident set.
//!
//! `cargo bench -p opgen-tests --bench sandbox`; behind `--`, a number is the rounds, `alone` leaves the real one out, and
//! `inside PART` runs one part of the measurements in the process, for a profiler.

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]
#![allow(unreachable_pub, reason = "a program has no outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "sandbox/client.rs"]
mod client;
#[path = "sandbox/inside.rs"]
mod inside;
#[path = "sandbox/load.rs"]
mod load;
#[path = "sandbox/outside.rs"]
mod outside;
#[path = "sandbox/process.rs"]
mod process;
mod table;

use std::{env, io::Write as _, process::Command};

use tokio::runtime::{Builder, Runtime};

use outside::Round;
use table::Table;

const ROUNDS: usize = 5;

fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["serve"] => runtime().block_on(outside::serve()),
        ["inside", part] => println!("{}", runtime().block_on(inside::part(part)).join(" ")),
        _ => measure(words.iter().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS), words.contains(&"alone")),
    }
}

/// As large as the machine that the figures are for.
fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn measure(rounds: usize, alone: bool) {
    let runtime = runtime();
    let (mut within, mut served, mut real) = (Vec::new(), Vec::new(), Vec::new());
    let mut absent = alone.then(|| "it was not asked for".to_owned());
    for round in 0..rounds {
        eprint_round(round);
        within.push(inside::PARTS.map(|(part, _)| figures(part)));
        served.push(runtime.block_on(outside::sandbox()));
        if absent.is_none() {
            match runtime.block_on(outside::controlplane()) {
                Ok(round) => real.push(round),
                Err(missing) => absent = Some(missing),
            }
        }
    }
    print!("{}", inside_table(&within).text());
    println!();
    print!("{}", outside_table(&served, &real, absent).text());
}

/// The figures of one part, measured in a process of its own.
fn figures(part: &str) -> Vec<f64> {
    let output = Command::new(env::current_exe().unwrap()).args(["inside", part]).output().unwrap();
    assert!(output.status.success(), "{part}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(|figure| figure.parse().unwrap()).collect()
}

fn eprint_round(round: usize) {
    let _ = writeln!(std::io::stderr(), "round {}", round + 1);
}

fn inside_table(rounds: &[[Vec<f64>; inside::PARTS.len()]]) -> Table {
    let mut table = Table::new("The sandbox in the process", &["", "median (min – max)"]);
    for (at, (_, names)) in inside::PARTS.iter().enumerate() {
        for (figure, name) in names.iter().enumerate() {
            let runs: Vec<f64> = rounds.iter().map(|round| round[at][figure]).collect();
            table.row(name, &[&runs]);
        }
    }
    table
}

fn outside_table(served: &[Round], real: &[Round], absent: Option<String>) -> Table {
    let control = absent.map_or_else(|| "kube-apiserver and etcd".to_owned(), |why| format!("kube-apiserver: {why}"));
    let mut table = Table::new(
        "Over HTTPS, median (min – max)",
        &["", "sandbox", &control, "the second by the first, of each round"],
    );
    for (at, name) in outside::NAMES.iter().enumerate() {
        let of = |rounds: &[Round]| rounds.iter().map(|round| round[at]).collect::<Vec<f64>>();
        let (own, theirs) = (of(served), of(real));
        let ratios: Vec<f64> = own.iter().zip(&theirs).map(|(own, theirs)| theirs / own).collect();
        table.row(name, &[&own, &theirs, &ratios]);
    }
    table
}
