//! The sandbox without a socket.

use std::{
    process,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::{StreamExt as _, future::join_all};
use http::Request;
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};

use crate::{
    load::{OBJECTS, WATCHERS, applied, maps, name, object, patch},
    process::{cpu, memory, own_memory},
};

/// How many new sandboxes are timed.
const STARTS: usize = 200;

/// How many write at a time where several do.
const WRITERS: usize = 2;

/// The parts, and the names of the figures of each.
pub(crate) const PARTS: [(&str, &[&str]); 7] = [
    (
        "start",
        &[
            "a new sandbox, the first of a process, ms",
            "each further one, ms",
            "resident with an empty one, MB",
            "of which no part of the program's file, MB",
        ],
    ),
    (
        "create",
        &["creations a second, two writers", "µs of CPU each", "creations a second, one writer", "µs of CPU each"],
    ),
    ("patch", &["merge patches a second, two writers", "µs of CPU each"]),
    ("apply", &["applies a second, two writers", "µs of CPU each"]),
    ("read", &["reads a second, one reader", "a list of 10,000, ms"]),
    ("watch", &["10,000 creations while 20 watch, ms until all are told"]),
    ("hold", &["bytes an object takes", "of its JSON", "of its JSON, after two changes of each"]),
];

/// Measures one part.
pub(crate) async fn part(name: &str) -> Vec<String> {
    let figures = match name {
        "start" => start().await,
        "create" => create().await,
        "patch" => change("application/merge-patch+json", |number, round| patch(number + round)).await,
        "apply" => change("application/apply-patch+yaml", applied).await,
        "read" => read().await,
        "watch" => watch().await,
        "hold" => hold().await,
        other => panic!("there is no part {other}"),
    };
    figures.iter().map(f64::to_string).collect()
}

async fn start() -> Vec<f64> {
    let began = Instant::now();
    let sandbox = Sandbox::new();
    let first = began.elapsed();
    tokio::task::yield_now().await;
    let (resident, own) = (memory(process::id()), own_memory(process::id()));
    drop(sandbox);
    let began = Instant::now();
    for _ in 0..STARTS {
        drop(Sandbox::new());
        tokio::task::yield_now().await;
    }
    let further = began.elapsed() / STARTS as u32;
    vec![milliseconds(first), milliseconds(further), resident / 1e6, own / 1e6]
}

async fn create() -> Vec<f64> {
    let mut figures = Vec::new();
    for writers in [WRITERS, 1] {
        let sandbox = Sandbox::new();
        // What is read once in a process is read by the first object.
        send(&sandbox, "POST", maps("default"), "application/json", object(OBJECTS)).await;
        let requests = |number| ("POST", maps("default"), "application/json", object(number));
        figures.extend(rate(&sandbox, writers, requests).await);
    }
    figures
}

async fn change(media: &'static str, body: fn(usize, usize) -> Bytes) -> Vec<f64> {
    let sandbox = Sandbox::new();
    filled(&sandbox).await;
    let query = if media.contains("apply") { "?fieldManager=applier&force=true" } else { "" };
    let request =
        |number, round| ("PATCH", format!("{}/{}{query}", maps("default"), name(number)), media, body(number, round));
    // The first change of an object makes a manager, the second finds it.
    rate(&sandbox, WRITERS, |number| request(number, 0)).await;
    rate(&sandbox, WRITERS, |number| request(number, 1)).await
}

async fn read() -> Vec<f64> {
    let sandbox = Sandbox::new();
    filled(&sandbox).await;
    let began = Instant::now();
    for number in 0..OBJECTS {
        send(&sandbox, "GET", format!("{}/{}", maps("default"), name(number)), "", Bytes::new()).await;
    }
    let single = OBJECTS as f64 / began.elapsed().as_secs_f64();
    let began = Instant::now();
    for _ in 0..10 {
        send(&sandbox, "GET", maps("default"), "", Bytes::new()).await;
    }
    vec![single, milliseconds(began.elapsed() / 10)]
}

async fn watch() -> Vec<f64> {
    let sandbox = Sandbox::builder().history(2 * OBJECTS).start();
    let open = || async {
        let request = Request::get(format!("{}?watch=true", maps("default"))).body(Bytes::new()).unwrap();
        sandbox.call(User::admin("bench"), request).await.into_body().into_data_stream()
    };
    let watches = join_all((0..WATCHERS).map(|_| open())).await;
    let began = Instant::now();
    let told = watches.into_iter().map(|events| tokio::spawn(async { events.take(OBJECTS).count().await }));
    let told: Vec<_> = told.collect();
    filled(&sandbox).await;
    for told in told {
        assert_eq!(told.await.unwrap(), OBJECTS);
    }
    vec![milliseconds(began.elapsed())]
}

/// With the usual history, in a process that held nothing before.
async fn hold() -> Vec<f64> {
    let sandbox = Sandbox::new();
    send(&sandbox, "POST", maps("default"), "application/json", object(OBJECTS)).await;
    let before = memory(process::id());
    for number in 0..OBJECTS {
        send(&sandbox, "POST", maps("default"), "application/json", object(number)).await;
    }
    let grown = (memory(process::id()) - before) / OBJECTS as f64;
    let json = send(&sandbox, "GET", format!("{}/{}", maps("default"), name(0)), "", Bytes::new()).await.len() as f64;
    for round in 0..2 {
        for number in 0..OBJECTS {
            let path = format!("{}/{}", maps("default"), name(number));
            send(&sandbox, "PATCH", path, "application/merge-patch+json", patch(number + round)).await;
        }
    }
    let changed = (memory(process::id()) - before) / OBJECTS as f64;
    vec![grown, grown / json, changed / json]
}

/// Makes all objects.
async fn filled(sandbox: &Sandbox) {
    rate(sandbox, WRITERS, |number| ("POST", maps("default"), "application/json", object(number))).await;
}

/// A request: method, path, media type and body.
type Sent = (&'static str, String, &'static str, Bytes);

/// Sends a request for each object, from several tasks; a second's worth of them and the microseconds of CPU of one.
async fn rate(sandbox: &Sandbox, writers: usize, request: impl Fn(usize) -> Sent) -> Vec<f64> {
    let mut lanes: Vec<Vec<Sent>> = (0..writers).map(|_| Vec::new()).collect();
    for number in 0..OBJECTS {
        lanes[number % writers].push(request(number));
    }
    let (began, before) = (Instant::now(), cpu(process::id()));
    let writing = lanes.into_iter().map(|lane| {
        let sandbox = sandbox.clone();
        tokio::spawn(async move {
            for (method, path, media, body) in lane {
                send(&sandbox, method, path, media, body).await;
            }
        })
    });
    for written in writing.collect::<Vec<_>>() {
        written.await.unwrap();
    }
    let (took, spent) = (began.elapsed(), cpu(process::id()) - before);
    vec![OBJECTS as f64 / took.as_secs_f64(), spent.as_secs_f64() * 1e6 / OBJECTS as f64]
}

async fn send(sandbox: &Sandbox, method: &str, path: String, media: &str, body: Bytes) -> Bytes {
    let request = Request::builder().method(method).uri(path).header("content-type", media).body(body).unwrap();
    let (head, body) = sandbox.call(User::admin("bench"), request).await.into_parts();
    let text = body.collect().await.unwrap().to_bytes();
    assert!(head.status.is_success(), "{method}: {} {text:?}", head.status);
    text
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
