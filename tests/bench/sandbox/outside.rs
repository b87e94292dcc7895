//! Servers in processes of their own, asked over HTTPS.

use std::{
    env, fs,
    future::pending,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::future::join_all;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use opgen_sandbox::{Sandbox, ServeOptions};
use opgen_tests::{Form, Options, Plane};
use serde_json::Value;

use crate::{
    client::{Client, Door},
    load::{OBJECTS, WATCHERS, applied, maps, name, object, patch},
    process::{cpu, memory, own_memory},
};

const CONNECTIONS: usize = 8;

/// How many requests of a connection are on their way at a time.
const AT_A_TIME: usize = 16;

/// The controllers that the sandbox has, too.
const CONTROLLERS: &str = "garbage-collector-controller,namespace-controller,serviceaccount-controller,\
                           root-ca-certificate-publisher-controller";

/// What a round measures.
pub(crate) const NAMES: [&str; 15] = [
    "start of the process to the first answer, ms",
    "resident when empty, MB",
    "of which no part of a program's file, MB",
    "creations a second",
    "µs of CPU each",
    "bytes an object takes",
    "merge patches a second",
    "µs of CPU each",
    "applies a second",
    "µs of CPU each",
    "a list of 10,000, ms",
    "ms of CPU of the list",
    "10,000 creations while 20 watch, ms until made",
    "ms until all are told",
    "resident after all that, MB",
];

/// The figures of one round, in the order of their names.
pub(crate) type Round = [f64; NAMES.len()];

/// Serves a sandbox until the process is killed; how to ask it is a line of JSON.
pub(crate) async fn serve() {
    // Watches that come late are still told all.
    let sandbox = Sandbox::builder().history(2 * OBJECTS).start();
    let serving = sandbox.serve(ServeOptions::default()).await.unwrap();
    let door = Door {
        address: serving.address().to_string(),
        token: serving.token().to_owned(),
        authority: serving.certificate().to_owned(),
    };
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::to_string(&door).unwrap()).unwrap();
    out.flush().unwrap();
    pending().await
}

/// A process that ends with this.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A round with a sandbox.
pub(crate) async fn sandbox() -> Round {
    let began = Instant::now();
    let mut child = Command::new(env::current_exe().unwrap()).arg("serve").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let served = Served(child);
    let door: Door = serde_json::from_str(&line).unwrap();
    round(&door, &[served.0.id()], began).await
}

/// A round with a real control plane.
pub(crate) async fn controlplane() -> Result<Round, String> {
    let began = Instant::now();
    let options = Options {
        served: true,
        form: Form::ControlPlane,
        kubelet: false,
        apiserver_flags: vec!["--audit-log-path=".to_owned()],
        controllers: Some(CONTROLLERS.to_owned()),
        ..Options::default()
    };
    let plane = Plane::start(options).await.map_err(|missing| missing.to_string())?;
    let config: Value = serde_json::from_str(&fs::read_to_string(plane.kubeconfig()).unwrap()).unwrap();
    let cluster = &config["clusters"][0]["cluster"];
    let door = Door {
        address: cluster["server"].as_str().unwrap().trim_start_matches("https://").to_owned(),
        token: config["users"][0]["user"]["token"].as_str().unwrap().to_owned(),
        authority: fs::read_to_string(cluster["certificate-authority"].as_str().unwrap()).unwrap(),
    };
    let servers = plane.processes().into_iter().filter(|(name, _)| *name != "kube-controller-manager");
    let servers: Vec<u32> = servers.map(|(_, id)| id).collect();
    Ok(round(&door, &servers, began).await)
}

/// One server under test.
struct Server<'a> {
    clients: Vec<Client>,
    processes: &'a [u32],
}

async fn round(door: &Door, processes: &[u32], began: Instant) -> Round {
    let first = Client::connect(door).await.unwrap();
    first.send("GET", "/readyz", "", Bytes::new()).await;
    let start = began.elapsed();
    let clients = join_all((0..CONNECTIONS).map(|_| Client::connect(door))).await;
    let server = Server { clients: clients.into_iter().map(Result::unwrap).collect(), processes };
    let (resident, own) = (server.memory(), processes.iter().map(|id| own_memory(*id)).sum::<f64>());

    let place = server.namespace("bench").await;
    let (created, create_cpu) = server.rate(|number| ("POST", place.clone(), JSON, object(number))).await;
    let grown = (server.memory() - resident) / OBJECTS as f64;
    let one = |number| format!("{place}/{}", name(number));
    let (patched, patch_cpu) = server.rate(|number| ("PATCH", one(number), MERGE, patch(number))).await;
    let by = "?fieldManager=applier&force=true";
    let (applies, apply_cpu) = server.rate(|number| ("PATCH", one(number) + by, APPLY, applied(number, 0))).await;
    let (before, asked) = (server.cpu(), Instant::now());
    server.clients[0].send("GET", &place, "", Bytes::new()).await;
    let (list, list_cpu) = (asked.elapsed(), server.cpu() - before);
    let [made, told] = server.watched().await;
    [
        milliseconds(start),
        resident / 1e6,
        own / 1e6,
        created,
        create_cpu,
        grown,
        patched,
        patch_cpu,
        applies,
        apply_cpu,
        milliseconds(list),
        milliseconds(list_cpu),
        milliseconds(made),
        milliseconds(told),
        server.memory() / 1e6,
    ]
}

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// A request: method, path, media type and body.
type Sent = (&'static str, String, &'static str, Bytes);

impl Server<'_> {
    fn cpu(&self) -> Duration {
        self.processes.iter().map(|id| cpu(*id)).sum()
    }

    fn memory(&self) -> f64 {
        self.processes.iter().map(|id| memory(*id)).sum()
    }

    /// A new namespace, as the path of its config maps.
    async fn namespace(&self, name: &str) -> String {
        let body = serde_json::json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
        self.clients[0].send("POST", "/api/v1/namespaces", JSON, body.to_string().into()).await;
        maps(name)
    }

    /// A request for each object; how many a second, and the microseconds of the server's CPU for each.
    async fn rate(&self, request: impl Fn(usize) -> Sent) -> (f64, f64) {
        let lanes = CONNECTIONS * AT_A_TIME;
        let mut waiting: Vec<Vec<Sent>> = (0..lanes).map(|_| Vec::new()).collect();
        for number in 0..OBJECTS {
            waiting[number % lanes].push(request(number));
        }
        let (began, before) = (Instant::now(), self.cpu());
        let sending = waiting.into_iter().enumerate().map(|(lane, requests)| {
            let client = self.clients[lane % CONNECTIONS].clone();
            tokio::spawn(async move {
                for (method, path, media, body) in requests {
                    client.send(method, &path, media, body).await;
                }
            })
        });
        for sent in sending.collect::<Vec<_>>() {
            sent.await.unwrap();
        }
        let (took, spent) = (began.elapsed(), self.cpu() - before);
        (OBJECTS as f64 / took.as_secs_f64(), spent.as_secs_f64() * 1e6 / OBJECTS as f64)
    }

    /// Creations while others watch: until they are made, and until everybody is told of each.
    async fn watched(&self) -> [Duration; 2] {
        let place: Arc<str> = self.namespace("watched").await.into();
        let listed = self.clients[0].send("GET", &format!("{place}?limit=1"), "", Bytes::new()).await;
        let listed: Value = serde_json::from_slice(&listed).unwrap();
        let version = listed["metadata"]["resourceVersion"].as_str().unwrap();
        let mut watches = Vec::new();
        for watcher in 0..WATCHERS {
            let mut watch = Watch {
                client: self.clients[watcher % CONNECTIONS].clone(),
                place: place.clone(),
                last: version.to_owned(),
            };
            let opened = watch.open().await;
            watches.push(tokio::spawn(async move { watch.events(opened).await }));
        }
        let began = Instant::now();
        self.rate(|number| ("POST", place.to_string(), JSON, object(number))).await;
        let made = began.elapsed();
        for watch in watches {
            watch.await.unwrap();
        }
        [made, began.elapsed()]
    }
}

/// One who watches, and goes on where the server ends the watch of a slow reader, as kube-apiserver does.
struct Watch {
    client: Client,
    place: Arc<str>,
    /// The version of the last event.
    last: String,
}

impl Watch {
    async fn open(&self) -> Incoming {
        let path = format!("{}?watch=true&resourceVersion={}", self.place, self.last);
        self.client.open("GET", &path, "", Bytes::new()).await.unwrap().into_body()
    }

    /// Reads until there was an event of each object; an event is a line.
    async fn events(&mut self, mut body: Incoming) {
        let (mut seen, mut line, mut whole) = (0, Vec::new(), Vec::new());
        while seen < OBJECTS {
            let Some(Ok(frame)) = body.frame().await else {
                let event: Value = serde_json::from_slice(&whole).unwrap();
                assert_eq!(event["type"], "ADDED", "{event}");
                event["object"]["metadata"]["resourceVersion"].as_str().unwrap().clone_into(&mut self.last);
                line.clear();
                body = self.open().await;
                continue;
            };
            for part in frame.data_ref().into_iter().flat_map(|data| data.split_inclusive(|byte| *byte == b'\n')) {
                line.extend_from_slice(part);
                if line.ends_with(b"\n") {
                    seen += 1;
                    std::mem::swap(&mut whole, &mut line);
                    line.clear();
                }
            }
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
