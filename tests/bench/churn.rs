//! Whether an operator leaks: objects are created, edited and deleted on a real control plane for half an hour, and the API server
//! is restarted at random. The resident set, the file descriptors, the threads and the tasks of the operator's process stay flat.
//!
//! `cargo bench -p opgen-tests --bench churn`; `OPGEN_CHURN_SECONDS=300` runs for another time, and `OPGEN_SEED` selects the
//! restarts. The program fails if a value grows beyond its noise.
#![allow(unreachable_pub, reason = "a program has no outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "churn/growth.rs"]
mod growth;
mod kind;

use std::{
    env, fs,
    net::SocketAddr,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use futures::{StreamExt as _, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, CustomResourceExt as _,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use opgen::RunOptions;
use opgen_tests::{Form, Options, Plane, Port, Process, wait};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Interval, MissedTickBehavior, interval, interval_at},
};

use growth::Growth;
use kind::{Widget, WidgetSpec};

/// The number of names, so the largest number of objects.
const NAMES: u64 = 500;
/// The number of clients, each of which sends one request after the other.
const CLIENTS: usize = 2;
/// The shortest and the longest time between two restarts of the API server, in seconds.
const RESTARTS: std::ops::Range<u64> = 40..120;
/// The pause of a client after a request. It leaves time to the server, and makes no busy loop while nobody listens.
const PAUSE: Duration = Duration::from_millis(30);
const SAMPLE_PERIOD: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut arguments = env::args().skip_while(|argument| argument != "operator").skip(1);
    if let Some(metrics) = arguments.next() {
        let options = RunOptions::default().metrics(metrics.parse::<SocketAddr>().unwrap());
        return match runtime.block_on(kind::operator().run(options)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => panic!("{error}"),
        };
    }
    let number = |name: &str, default| env::var(name).ok().map_or(default, |number| number.parse().unwrap());
    let report =
        runtime.block_on(churn(Duration::from_secs(number("OPGEN_CHURN_SECONDS", 1800)), number("OPGEN_SEED", 1)));
    print!("{report}");
    if report.leaks() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What happened, and how the values of the process changed.
struct Report {
    requests: u64,
    restarts: u64,
    values: Vec<(&'static str, Growth)>,
}

impl Report {
    fn leaks(&self) -> bool {
        self.values.iter().any(|(_, growth)| growth.is_leak())
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} requests that changed an object, {} restarts of the API server\n",
            self.requests, self.restarts
        )?;
        writeln!(f, "| value | first third | second | last third | change in an hour, with its standard error | |")?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        for (name, growth) in &self.values {
            let verdict = if growth.is_leak() { "**grows**" } else { "flat" };
            writeln!(f, "| {name} | {growth} | {verdict} |")?;
        }
        Ok(())
    }
}

async fn churn(time: Duration, seed: u64) -> Report {
    let plane = Plane::start(Options { form: Form::ControlPlane, ..Options::served() }).await.unwrap();
    let definitions = Api::<CustomResourceDefinition>::all(plane.client());
    definitions
        .patch(Widget::crd_name(), &PatchParams::apply("bench").force(), &Patch::Apply(Widget::crd()))
        .await
        .unwrap();
    let widgets = Api::<Widget>::default_namespaced(plane.client());
    wait::until("the kind is served", wait::PATIENCE, async || {
        widgets.list(&ListParams::default()).await.map(drop).map_err(|error| error.to_string())
    })
    .await;
    let port = Port::reserve();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["operator", &port.address().to_string()]).env("KUBECONFIG", plane.kubeconfig());
    let mut process = Process::spawn("operator", command, &plane.folder().join("operator.log"));
    let end = Instant::now() + time;
    let dice = fastrand::Rng::with_seed(seed);
    let clients =
        stream::iter(0..CLIENTS).map(|client| change(&widgets, fastrand::Rng::with_seed(seed + client as u64), end));
    let changes = clients.buffer_unordered(CLIENTS).collect::<Vec<u64>>();
    let (requests, restarts, values) =
        tokio::join!(changes, restart(&plane, dice, end), sample(&process, port.address(), end));
    assert!(process.exited().is_none(), "the operator ended: {}", process.log_tail(20));
    Report { requests: requests.into_iter().sum(), restarts, values }
}

/// Returns an interval that does not catch up after a delay.
fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Creates, edits and deletes objects, and returns the number of successful requests. Requests fail while the API server is away.
async fn change(widgets: &Api<Widget>, mut dice: fastrand::Rng, end: Instant) -> u64 {
    let (mut done, mut pauses) = (0, ticks(PAUSE));
    while Instant::now() < end {
        pauses.tick().await;
        let name = format!("w-{}", dice.u64(0..NAMES));
        let succeeded = match dice.u8(0..4) {
            0 => widgets.delete(&name, &Default::default()).await.is_ok(),
            1 => {
                let edit = Patch::Merge(json!({"spec": {"size": dice.i64(0..1000)}}));
                widgets.patch(&name, &PatchParams::default(), &edit).await.is_ok()
            }
            _ => {
                let spec = WidgetSpec { size: dice.i64(0..1000), payload: "x".repeat(dice.usize(0..2000)) };
                widgets.create(&PostParams::default(), &Widget::new(&name, spec)).await.is_ok()
            }
        };
        done += u64::from(succeeded);
    }
    done
}

/// Restarts the API server at random times, and returns how often.
async fn restart(plane: &Plane, mut dice: fastrand::Rng, end: Instant) -> u64 {
    let mut restarts = 0;
    loop {
        let next = Instant::now() + Duration::from_secs(dice.u64(RESTARTS));
        if next + Duration::from_secs(20) > end {
            return restarts;
        }
        interval_at(next.into(), PAUSE).tick().await;
        plane.stop_apiserver();
        let end_of_outage = Instant::now() + Duration::from_millis(dice.u64(0..4000));
        interval_at(end_of_outage.into(), PAUSE).tick().await;
        plane.start_apiserver().await;
        restarts += 1;
    }
}

/// Reads the values of the process until the end.
async fn sample(process: &Process, metrics: SocketAddr, end: Instant) -> Vec<(&'static str, Growth)> {
    let [mut memory, mut descriptors, mut threads, mut tasks] = [(); 4].map(|()| Growth::default());
    let (begin, mut samples) = (Instant::now(), ticks(SAMPLE_PERIOD));
    while Instant::now() < end {
        samples.tick().await;
        let hours = begin.elapsed().as_secs_f64() / 3600.0;
        let folder = format!("/proc/{}", process.id());
        memory.add(hours, process.resident_kib().expect("the operator runs") as f64 / 1024.0);
        let count = |name: &str| fs::read_dir(format!("{folder}/{name}")).expect("the operator runs").count() as f64;
        descriptors.add(hours, count("fd"));
        threads.add(hours, count("task"));
        if let Some(alive) = alive_tasks(metrics).await {
            tasks.add(hours, alive);
        }
    }
    vec![
        ("resident set, MiB", memory),
        ("file descriptors", descriptors),
        ("threads", threads),
        ("tasks of tokio", tasks),
    ]
}

/// Reads the number of tasks from the metrics; `None` if they are not served yet.
async fn alive_tasks(metrics: SocketAddr) -> Option<f64> {
    let mut stream = TcpStream::connect(metrics).await.ok()?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").await.ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await.ok()?;
    let value = response.lines().find_map(|line| line.strip_prefix("opgen_tasks"))?;
    value.rsplit(' ').next()?.parse().ok()
}
