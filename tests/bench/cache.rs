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
use opgen::cache::{Encoded, Entry, Header, ObjectKey, PrimaryCache, Reader, Store};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{env, fs, hint::black_box, process::Command, sync::Arc, time::Instant};
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
        let mut page = r#"{"kind":"PodList","apiVersion":"v1","metadata":{},"items":["#.to_owned();
        for number in first..first + PAGE {
            page.push_str(if number == first { "" } else { "," });
            page.push_str(&pods::pod(number, PODS));
        }
        page + "]}"
    })
}

fn items<T: for<'de> Deserialize<'de>>(page: String) -> Vec<T> {
    let list: List<T> = serde_json::from_str(&page).unwrap();
    list.items
}

fn load_objects(objects: &PrimaryCache) {
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
            let objects = PrimaryCache::default();
            load_objects(&objects);
            Box::new(objects)
        }
        "relisted" => {
            let objects = PrimaryCache::default();
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

/// The caches that are read, and the order they are read in.
struct Loaded {
    objects: PrimaryCache,
    reflector: reflector::Store<Pod>,
    keys: Vec<ObjectKey>,
    references: Vec<ObjectRef<Pod>>,
    listed: Vec<String>,
}

impl Loaded {
    fn new() -> Self {
        let objects = PrimaryCache::default();
        load_objects(&objects);
        let mut keys = objects.store().keys();
        keys.sort();
        // A stride that is prime to the number of Pods visits them all, none near the one before.
        let keys: Vec<_> = (0..PODS).map(|number| keys[number * 7919 % PODS].clone()).collect();
        let reference = |key: &ObjectKey| ObjectRef::new(key.name()).within(key.namespace().unwrap());
        let references = keys.iter().map(reference).collect();
        let listed = (0..PAGE).map(|number| pods::pod(number, PODS)).collect();
        Self { objects, reflector: load_reflector(), keys, references, listed }
    }

    fn entry(&self, number: usize) -> Arc<Entry<Encoded>> {
        self.objects.store().get(&self.keys[number % PODS]).unwrap()
    }

    fn sizes(&self) -> String {
        let entries: Vec<_> = (0..1000).map(|number| self.entry(number)).collect();
        let plain: usize = entries.iter().map(|entry| entry.value.decode(self.objects.codec()).unwrap().len()).sum();
        let encoded: usize = entries.iter().map(|entry| entry.value.size()).sum();
        let (listed, dictionary) = (self.listed[0].len(), self.objects.codec().dictionary_bytes() / 1024);
        format!(
            "A Pod: {listed} bytes listed, {} stripped, {} encoded; dictionary {dictionary} KiB.\n",
            plain / 1000,
            encoded / 1000
        )
    }
}

type Case<'a> = (&'a str, Box<dyn FnMut() -> f64 + 'a>);

fn read_cases(loaded: &Loaded) -> Vec<Case<'_>> {
    let codec = loaded.objects.codec();
    let (hot, cold) = (Reader::<Pod>::new(codec.clone()), Reader::<Pod>::with_hot_bytes(codec.clone(), 0));
    let projected = Reader::<Waited>::with_hot_bytes(codec.clone(), 0);
    let mut buffer = Vec::new();
    vec![
        (
            "hot read: key to decoded Pod",
            Box::new(move || time(PODS, |n| drop(black_box(hot.get(&loaded.entry(n % 50)).unwrap())))),
        ),
        (
            "cold read: key to bytes",
            Box::new(move || time(PODS, |n| loaded.entry(n).value.decode_into(codec, &mut buffer).unwrap())),
        ),
        (
            "cold read: key to a projection",
            Box::new(move || time(PODS, |n| drop(black_box(projected.get(&loaded.entry(n)).unwrap())))),
        ),
        (
            "cold read: key to decoded Pod",
            Box::new(move || time(PODS, |n| drop(black_box(cold.get(&loaded.entry(n)).unwrap())))),
        ),
        ("header: key to metadata", Box::new(|| time(PODS, |n| drop(black_box(loaded.entry(n)))))),
        (
            "kube reflector: key to decoded Pod",
            Box::new(|| time(PODS, |n| drop(black_box(loaded.reflector.get(&loaded.references[n]).unwrap())))),
        ),
    ]
}

fn write_cases(loaded: &Loaded) -> Vec<Case<'_>> {
    let bytes = |n: usize| loaded.listed[n % PAGE].as_bytes();
    vec![
        ("parse a header", Box::new(move || time(PODS, |n| drop(black_box(Header::parse(bytes(n)).unwrap()))))),
        (
            "encode an object",
            Box::new(move || time(PODS, |n| drop(black_box(loaded.objects.codec().encode(bytes(n)).unwrap())))),
        ),
        (
            "take in an object that did not change",
            Box::new(move || time(PODS, |n| drop(black_box(loaded.objects.apply(bytes(n)).unwrap())))),
        ),
        (
            "decode a listed Pod, as the reflector's watch does",
            Box::new(move || time(PODS, |n| drop(black_box(serde_json::from_slice::<Pod>(bytes(n)).unwrap())))),
        ),
    ]
}

fn timings(title: &str, mut cases: Vec<Case<'_>>) {
    let mut figures = vec![Vec::new(); cases.len()];
    for _ in 0..RUNS {
        for (figures, (_, case)) in figures.iter_mut().zip(&mut cases) {
            figures.push(case() / 1000.0);
        }
    }
    let mut table = Table::new(title, &["what", "µs"]);
    for ((name, _), figures) in cases.iter().zip(&figures) {
        table.row(name, &[figures]);
    }
    println!("{}", table.text());
}

fn main() {
    if let Some(what) = env::args().nth(1).filter(|argument| !argument.starts_with('-')) {
        return child(&what);
    }
    memory();
    let loaded = Loaded::new();
    println!("{}", loaded.sizes());
    timings("Reads", read_cases(&loaded));
    timings("Intake", write_cases(&loaded));
}
