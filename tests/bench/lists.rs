//! What a list costs that shows nothing new, and what a selector costs: beside the way it was done before.
//!
//! `cargo bench -p opgen-tests --bench lists`

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod pods;
mod table;

use std::{convert::Infallible, hint::black_box, time::Instant};

use opgen::cache::{Header, PrimaryCache, Store};
use serde::Deserialize;
use serde_json::Value;
use table::Table;

const PODS: usize = 5_000;
const RUNS: usize = 5;

/// What is read of a Pod to know whether it is ready.
#[derive(Deserialize)]
struct Projected {
    #[serde(default)]
    spec: Value,
    #[serde(default)]
    status: Value,
}

/// As large as what is kept of a child: some flags.
fn project(json: &[u8]) -> usize {
    let object: Projected = serde_json::from_slice(json).unwrap();
    usize::from(object.spec.is_object()) + usize::from(object.status["phase"] == "Running")
}

fn header(json: &[u8]) -> Header {
    Header::parse(json).unwrap()
}

/// Microseconds for each of the Pods.
fn time(call: impl FnOnce()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_secs_f64() * 1e6 / PODS as f64
}

fn main() {
    let pods: Vec<_> = (0..PODS).map(|number| pods::pod(number, PODS)).collect();
    let (store, objects) = (Store::default(), PrimaryCache::default());
    for pod in &pods {
        store.apply(header(pod.as_bytes()), || project(pod.as_bytes()));
        objects.apply(pod.as_bytes()).unwrap();
    }
    let labels = header(pods[0].as_bytes()).labels;
    let app = labels.get("app.kubernetes.io/name").unwrap();
    let is_meant = |header: &Header| header.labels.get("app.kubernetes.io/name") == Some(app);
    let entries = objects.store().entries();
    let decode = |number: usize| {
        let json = entries[number].value.decode(objects.codec()).unwrap();
        black_box(serde_json::from_slice::<Value>(&json).unwrap())
    };
    let mut runs = [const { Vec::new() }; 6];
    for _ in 0..RUNS {
        runs[0].push(time(|| {
            for pod in &pods {
                let (header, value) = (header(pod.as_bytes()), project(pod.as_bytes()));
                black_box(store.apply(header, || value));
            }
        }));
        runs[1].push(time(|| {
            for pod in &pods {
                let value = |_: &Header| Ok::<_, Infallible>(project(pod.as_bytes()));
                let Ok(change) = store.try_project(header(pod.as_bytes()), value);
                black_box(change);
            }
        }));
        let whole = || store.entries().into_iter().filter(|entry| is_meant(&entry.header)).count();
        runs[2].push(time(|| {
            black_box(whole());
        }));
        runs[3].push(time(|| {
            black_box(store.entries_where(|entry| is_meant(&entry.header)).len());
        }));
        runs[4].push(time(|| (1..PODS).for_each(|number| drop((decode(number - 1), decode(number))))));
        runs[5].push(time(|| (1..PODS).for_each(|number| drop(decode(number)))));
    }
    let mut table = Table::new(&format!("{PODS} Pods, µs for each"), &["", "before", "now"]);
    table.row(
        "listed again as it was, projected before the store is asked, and only if it is news",
        &[&runs[0], &runs[1]],
    );
    table.row("a selector that means one in 400, over a sorted copy, and over the store", &[&runs[2], &runs[3]]);
    table.row("a change of an object of a foreign kind: both states decoded, and the new one", &[&runs[4], &runs[5]]);
    println!("{}", table.text());
}
