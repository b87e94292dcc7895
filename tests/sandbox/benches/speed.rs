//! How fast the sandbox is, and how much memory it takes: a table.
//!
//! `cargo bench -p opgen-sandbox`
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use std::{
    fs,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::{StreamExt as _, future::join_all};
use http::Request;
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, ServeOptions, User};
use serde_json::json;

use self::https::Asker;

#[path = "../tests/https/mod.rs"]
mod https;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const OBJECTS: usize = 10_000;
const WATCHERS: usize = 20;
const CONNECTIONS: usize = 8;
/// How many requests of a connection are on their way at a time.
const AT_A_TIME: usize = 16;

/// What the process holds, in bytes.
fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok()).unwrap_or(0) * 1024
}

fn map(index: usize) -> Bytes {
    let data = json!({"key": "value", "text": "x".repeat(500), "index": index.to_string()});
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": format!("m{index:06}"), "labels": {"app": "bench"}}, "data": data})
        .to_string()
        .into()
}

async fn call(sandbox: &Sandbox, method: &str, path: &str, body: Bytes) -> (u16, Bytes) {
    let request =
        Request::builder().method(method).uri(path).header("content-type", "application/json").body(body).unwrap();
    let (head, body) = sandbox.call(User::admin("bench"), request).await.into_parts();
    (head.status.as_u16(), body.collect().await.unwrap().to_bytes())
}

async fn create(sandbox: &Sandbox, count: usize) -> Duration {
    let bodies: Vec<Bytes> = (0..count).map(map).collect();
    let began = Instant::now();
    for body in bodies {
        let (code, text) = call(sandbox, "POST", MAPS, body).await;
        assert_eq!(code, 201, "{text:?}");
    }
    began.elapsed()
}

fn row(what: &str, value: String) {
    println!("| {what:<52} | {value:>16} |");
}

fn rate(count: usize, took: Duration) -> String {
    format!("{:.0}/s", count as f64 / took.as_secs_f64())
}

async fn starts() {
    let began = Instant::now();
    drop(Sandbox::builder().seed(1).start());
    row("the first sandbox of a process", format!("{:.2} ms", began.elapsed().as_secs_f64() * 1e3));
    let began = Instant::now();
    for _ in 0..100 {
        drop(Sandbox::builder().seed(1).start());
        tokio::task::yield_now().await;
    }
    row("another sandbox", format!("{:.3} ms", began.elapsed().as_secs_f64() * 10.0));
    let began = Instant::now();
    let sandbox = Sandbox::new();
    let serving = sandbox.serve(ServeOptions::default()).await.unwrap();
    assert_eq!(Asker::of(&serving).await.get("/readyz").await.code, 200);
    row("a served sandbox, until it has answered", format!("{:.1} ms", began.elapsed().as_secs_f64() * 1e3));
}

async fn in_process() {
    let sandbox = Sandbox::new();
    let before = memory();
    let took = create(&sandbox, OBJECTS).await;
    let grown = memory().saturating_sub(before);
    row("creations in process", rate(OBJECTS, took));
    let (_, text) = call(&sandbox, "GET", MAPS, Bytes::new()).await;
    let json = text.len() / OBJECTS;
    row("memory of an object, with its history", format!("{} bytes", grown / OBJECTS));
    row("its JSON", format!("{json} bytes"));

    let patch = |index: usize| {
        let (path, body) = (format!("{MAPS}/m{:06}", index % OBJECTS), json!({"data": {"key": index.to_string()}}));
        Request::builder()
            .method("PATCH")
            .uri(path)
            .header("content-type", "application/merge-patch+json")
            .body(Bytes::from(body.to_string()))
            .unwrap()
    };
    let began = Instant::now();
    for index in 0..OBJECTS {
        assert_eq!(sandbox.call(User::admin("bench"), patch(index)).await.status().as_u16(), 200);
    }
    row("merge patches in process", rate(OBJECTS, began.elapsed()));
    let began = Instant::now();
    for index in 0..OBJECTS {
        assert_eq!(call(&sandbox, "GET", &format!("{MAPS}/m{index:06}"), Bytes::new()).await.0, 200);
    }
    row("reads in process", rate(OBJECTS, began.elapsed()));
    let began = Instant::now();
    for _ in 0..10 {
        assert_eq!(call(&sandbox, "GET", MAPS, Bytes::new()).await.0, 200);
    }
    row("a list of 10,000", format!("{:.1} ms", began.elapsed().as_secs_f64() * 100.0));
}

async fn watched() {
    let sandbox = Sandbox::builder().history(2 * OBJECTS).start();
    let watch = || async {
        let request = Request::get(format!("{MAPS}?watch=true")).body(Bytes::new()).unwrap();
        sandbox.call(User::admin("bench"), request).await.into_body()
    };
    let bodies = join_all((0..WATCHERS).map(|_| watch())).await;
    let began = Instant::now();
    let read = bodies.into_iter().map(|body| async move {
        let mut events = body.into_data_stream();
        for _ in 0..OBJECTS {
            events.next().await.unwrap().unwrap();
        }
    });
    let (_, took) = tokio::join!(join_all(read), create(&sandbox, OBJECTS));
    row("10,000 creations, until they are made", format!("{:.0} ms", took.as_secs_f64() * 1e3));
    row("... and 20 watches have told of all", format!("{:.0} ms", began.elapsed().as_secs_f64() * 1e3));
}

async fn over_https() {
    let sandbox = Sandbox::new();
    let serving = sandbox.serve(ServeOptions::default()).await.unwrap();
    let askers = join_all((0..CONNECTIONS).map(|_| Asker::of(&serving))).await;
    let began = Instant::now();
    let writers = askers.iter().enumerate().flat_map(|(connection, asker)| {
        (0..AT_A_TIME).map(move |lane| {
            let asker = asker.clone();
            tokio::spawn(async move {
                let step = CONNECTIONS * AT_A_TIME;
                for index in (connection * AT_A_TIME + lane..OBJECTS).step_by(step) {
                    let got = asker.send("POST", MAPS, &[("content-type", "application/json")], map(index)).await;
                    assert_eq!(got.code, 201, "{}", got.text);
                }
            })
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    row("creations over HTTPS (client in the same process)", rate(OBJECTS, began.elapsed()));
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!("| {:<52} | {:>16} |\n|{}|{}:|", "", "", "-".repeat(54), "-".repeat(17));
    runtime.block_on(async {
        let before = memory();
        let sandbox = Sandbox::builder().seed(1).start();
        row("memory of the process with an empty sandbox", format!("{:.1} MB", memory() as f64 / 1e6));
        row("... of which the first sandbox", format!("{:.1} MB", memory().saturating_sub(before) as f64 / 1e6));
        drop(sandbox);
        starts().await;
        in_process().await;
        watched().await;
        over_https().await;
    });
}
