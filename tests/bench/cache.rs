//! What 20,000 cached Pods cost, and what reading them costs, beside kube's reflector in the same run.
//!
//! Memory is what the system counts (resident set) in a process of its own for each figure; the Pods come in pages of
//! 500, parsed as kube's watcher parses them, managedFields dropped by both sides.

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod pods;
mod table;

use k8s_openapi::api::core::v1::Pod;
use kube::{
    ResourceExt,
    runtime::{
        reflector::{self, ObjectRef},
        watcher,
    },
};
use opgen::cache::{Codec, Contexts, Encoded, Header, Objects, Reader, Store};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    env, fs,
    hint::black_box,
    process::Command,
    sync::Arc,
    time::Instant,
};
use table::Table;

const PODS: usize = 20_000;
const PAGE: usize = 500;
const RUNS: usize = 5;

#[derive(Deserialize)]
struct List<T> {
    items: Vec<T>,
}

/// Body after body, each made when it is asked for and dropped when it is read.
fn pages() -> impl Iterator<Item = String> {
    (0..PODS).step_by(PAGE).map(|first| {
        let pods: Vec<_> = (first..first + PAGE).map(|number| pods::pod(number, PODS)).collect();
        format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{}},"items":[{}]}}"#, pods.join(","))
    })
}

fn items<T: for<'de> Deserialize<'de>>(page: String) -> Vec<T> {
    let list: List<T> = serde_json::from_str(&page).unwrap();
    list.items
}

fn load_objects(objects: &Objects) {
    objects.store().begin_replace();
    for page in pages() {
        for item in items::<Box<RawValue>>(page) {
            objects.apply(item.get().as_bytes()).unwrap();
        }
    }
    objects.store().finish_replace();
}

fn load_reflector() -> reflector::Store<Pod> {
    let (reader, mut writer) = reflector::store();
    writer.apply_watcher_event(&watcher::Event::Init);
    for page in pages() {
        for mut pod in items::<Pod>(page) {
            pod.managed_fields_mut().clear();
            writer.apply_watcher_event(&watcher::Event::InitApply(pod));
        }
    }
    writer.apply_watcher_event(&watcher::Event::InitDone);
    reader
}

/// What is kept of a child: enough to wait for it.
#[derive(Deserialize)]
struct Waited {
    status: Phase,
}

#[derive(Deserialize)]
struct Phase {
    phase: String,
}

fn load_projection() -> Store<String> {
    let store = Store::default();
    store.begin_replace();
    for page in pages() {
        for item in items::<Box<RawValue>>(page) {
            let json = item.get().as_bytes();
            let value = || serde_json::from_slice(json).map(|waited: Waited| waited.status.phase);
            store.try_apply(Header::parse(json).unwrap(), value).unwrap();
        }
    }
    store.finish_replace();
    store
}

/// Resident bytes now and at most, in KiB.
fn resident() -> (f64, f64) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Loads one kind of cache in this process and prints KiB settled, and peak.
fn child(what: &str) {
    let (before, _) = resident();
    let kept: Box<dyn std::any::Any> = match what {
        "reflector" => Box::new(load_reflector()),
        "objects" => {
            let objects = Objects::default();
            load_objects(&objects);
            Box::new(objects)
        }
        "relisted" => {
            let objects = Objects::default();
            load_objects(&objects);
            load_objects(&objects);
            Box::new(objects)
        }
        "projection" => Box::new(load_projection()),
        _ => panic!("no such cache: {what}"),
    };
    let (settled, peak) = resident();
    println!("{} {}", settled - before, peak - before);
    drop(kept);
}

fn measure(what: &str) -> (f64, f64) {
    let output = Command::new(env::current_exe().unwrap()).arg(what).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (settled, peak) = text.trim().split_once(' ').unwrap();
    (settled.parse().unwrap(), peak.parse().unwrap())
}

fn memory() {
    let kinds = ["reflector", "objects", "relisted", "projection"];
    let runs: Vec<_> = (0..RUNS).map(|_| kinds.map(measure)).collect();
    let mut table = Table::new(
        &format!("Memory, {PODS} Pods in pages of {PAGE}"),
        &["cache", "KiB per object", "part of the reflector's", "peak over settled"],
    );
    let names = ["kube reflector (decoded)", "opgen objects", "opgen objects, listed twice", "opgen projection"];
    for (kind, name) in names.iter().enumerate() {
        let per_object: Vec<_> = runs.iter().map(|run| run[kind].0 / PODS as f64).collect();
        let part: Vec<_> = runs.iter().map(|run| run[kind].0 / run[0].0).collect();
        let peak: Vec<_> = runs.iter().map(|run| run[kind].1 / run[kind].0).collect();
        table.row(name, &[&per_object, &part, &peak]);
    }
    println!("{}", table.text());
}

/// Nanoseconds for each of `count` calls.
fn time(count: usize, mut call: impl FnMut(usize)) -> f64 {
    let start = Instant::now();
    (0..count).for_each(&mut call);
    start.elapsed().as_nanos() as f64 / count as f64
}

struct Timed<'a> {
    name: &'a str,
    call: Box<dyn Fn() -> f64 + 'a>,
}

fn timings() {
    let objects = Objects::new(Codec::new(Arc::new(Contexts::default())));
    load_objects(&objects);
    let reflector = load_reflector();
    let mut keys = objects.store().keys();
    keys.sort();
    // A stride that is prime to the number of Pods visits them all, far from one after the other.
    let at = |number: usize| number * 7919 % PODS;
    let entry = |number: usize| objects.store().get(&keys[at(number)]).unwrap();
    let references: Vec<_> = keys.iter().map(|key| ObjectRef::new(key.name()).within(key.namespace().unwrap())).collect();
    let input: Vec<_> = (0..PAGE).map(|number| pods::pod(number, PODS)).collect();
    let plain: usize = (0..100).map(|number| entry(number).value.decode(objects.codec()).unwrap().len()).sum();
    let encoded: usize = (0..100).map(|number| entry(number).value.size()).sum();
    println!("A Pod: {} bytes listed, {} stripped, {} encoded.\n", input[0].len(), plain / 100, encoded / 100);

    let hot: Reader<Pod> = Reader::new(objects.codec().clone());
    let cold: Reader<Pod> = Reader::with_hot_bytes(objects.codec().clone(), 0);
    let some: Vec<_> = (0..50).map(entry).collect();
    some.iter().for_each(|entry| drop(hot.get(entry).unwrap()));
    let cases = [
        ("hot read, typed: get, then the decoded Pod", timed(PODS, |n| drop(black_box(hot.get(&objects.store().get(&some[n % 50].header.key).unwrap()).unwrap())))),
        ("get: header and encoded object", timed(PODS, |n| drop(black_box(entry(n))))),
        ("kube reflector: get", timed(PODS, |n| drop(black_box(reflector.get(&references[at(n)]).unwrap())))),
    ];
    let _ = (cases, cold, input);
}
fn timed<'a>(_: usize, _: impl FnMut(usize) + 'a) -> Timed<'a> { todo!() }

fn main() {
    match env::args().nth(1).as_deref() {
        Some(what) if !what.starts_with("--") => child(what),
        _ => {
            memory();
            timings();
        }
    }
}
