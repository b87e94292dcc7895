//! Hundreds of pools, while thousands of Pods come and go and somebody else allocates: what the operator does, and what it must not.
//!
//! The operator has a thread of its own, so that its CPU is not that of those who make the Pods; the server's work for its
//! requests is in it. Memory is that of the whole process, with the server and all its objects.

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use ippool_api::NetworkAttachmentDefinition;
use ippool_controller::{Options, World, operator_for};
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use opgen::RunOptions;
use opgen_sandbox::{Sandbox, User};
use serde_json::json;
use tokio::{sync::oneshot, time::timeout};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{
    Layer,
    filter::LevelFilter,
    layer::{Context, SubscriberExt as _},
    util::SubscriberInitExt as _,
};

use super::{
    FULL,
    churn::{Churn, Size},
    cpu_of, on_one_thread, sandbox,
};

/// It ends by then, however it goes.
const LIMIT: Duration = Duration::from_secs(900);
const NODES: usize = 10;

/// Runs it, and fails if it takes too long.
pub(crate) async fn watched(pools: usize, pods: usize) {
    println!("{pools} pools of 254 addresses, {pods} Pods that come and go; it takes {} s at most", LIMIT.as_secs());
    timeout(LIMIT, run(pools, pods)).await.expect("it ends in time");
}

async fn run(pools: usize, pods: usize) {
    let (requests, errors) = (Arc::<Requests>::default(), Errors::count());
    let told = requests.clone();
    let sandbox =
        sandbox(move |record| told.note(record.verb, &record.resource, &record.subresource, record.code)).await;
    let world = World::new(Options::default());
    let interval = world.options.interval;
    let size = Size { pools, settled: FULL - 5 - pods.div_ceil(pools), pods, replaced: pods };
    let mut churn = Churn::new(sandbox.client(), "default", size);
    churn.begin().await;
    let nodes = nodes(&sandbox).await;
    let mut table = Rows::default();
    table.row("resident before the operator starts, MiB", resident());
    let operator = Beside::start(&sandbox, &world);
    until("all pools are ready", async || churn.ledger().ready() == pools).await;
    table.row("resident with the operator, MiB", resident());

    let before = Mark::of(&world, &operator);
    let already = requests.take();
    table.row("requests of the operator until all pools are ready", already.values().sum::<usize>());
    churn.replace().await;
    table.row("Pods replaced, s", format!("{:.1}", before.since.elapsed().as_secs_f64()));
    until("no orphan is left", async || churn.ledger().orphans() == 0).await;
    let during = Mark::of(&world, &operator).after(&before);
    table.row("until no orphan is left, s", format!("{:.1}", during.0.as_secs_f64()));
    table.row("passes over pools", during.1);
    table.row("CPU of the operator and of the server for it, s", format!("{:.1}", during.2.as_secs_f64()));
    for (request, count) in requests.take() {
        table.row(&format!("requests: {request}"), count);
    }
    table.row("orphans freed", churn.ledger().stayed.len());
    table.row("the longest one stayed, s", format!("{:.2}", churn.ledger().longest().as_secs_f64()));

    let calm = Mark::of(&world, &operator);
    while calm.since.elapsed() < interval {
        churn.beat().await;
        beat(&nodes).await;
    }
    let beaten = Mark::of(&world, &operator).after(&calm);
    table.row("passes over pools while all Pods and Nodes are beating for an interval", beaten.1);
    table.row("passes over networks meanwhile", beaten.3);
    table.row("resident at the end, MiB", resident());
    operator.end();
    println!("{}", table.text);

    let ledger = churn.ledger();
    assert!(ledger.freed_alive.is_empty(), "freed alive: {:?}", ledger.freed_alive);
    assert!(ledger.complaints.is_empty(), "{:?}", ledger.complaints);
    assert_eq!(ledger.stayed.len(), pods, "orphans freed");
    assert!(ledger.longest() <= interval, "an orphan stayed {:?}", ledger.longest());
    assert_eq!(errors.load(Ordering::SeqCst), 0, "errors in the log");
    // Each pool has its turn once an interval, whatever else happens.
    let turns = beaten.0.as_secs() / interval.as_secs() + 1;
    assert!(beaten.1 <= turns * pools as u64 && beaten.3 == 0, "heartbeats caused passes: {beaten:?}");
}

/// Time, passes over pools, CPU of the operator's thread, passes over networks.
type Spent = (Duration, u64, Duration, u64);

struct Mark {
    since: Instant,
    spent: Spent,
}

impl Mark {
    fn of(world: &World, operator: &Beside) -> Self {
        let (passes, networks) = (world.metrics.passes(), world.metrics.network_passes());
        Self { since: Instant::now(), spent: (Duration::ZERO, passes, cpu_of(&operator.place), networks) }
    }

    fn after(&self, earlier: &Self) -> Spent {
        let ((_, passes, cpu, networks), before) = (self.spent, earlier.spent);
        (self.since - earlier.since, passes - before.1, cpu - before.2, networks - before.3)
    }
}

/// The operator's thread.
struct Beside {
    stop: oneshot::Sender<()>,
    thread: thread::JoinHandle<()>,
    /// Below `/proc`.
    place: String,
}

impl Beside {
    fn start(sandbox: &Sandbox, world: &World) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let (client, operator) = (sandbox.client_of(User::admin("operator")), operator_for(world));
        let thread = thread::spawn(move || {
            tell.send(fs::read_link("/proc/thread-self").unwrap()).unwrap();
            on_one_thread(operator.run_with(client, RunOptions::default(), async { drop(stopped.await) })).unwrap();
        });
        Self { stop, thread, place: told.recv().unwrap().to_str().unwrap().to_owned() }
    }

    fn end(self) {
        drop(self.stop);
        self.thread.join().unwrap();
    }
}

/// The requests of the operator, by what they are and how they ended.
#[derive(Default)]
struct Requests(Mutex<BTreeMap<String, usize>>);

impl Requests {
    fn note(&self, verb: &str, resource: &str, subresource: &str, code: u16) {
        let slash = if subresource.is_empty() { "" } else { "/" };
        let ended = match code {
            409 | 422 => ", conflicts",
            404 => ", not found",
            400.. => ", errors",
            _ => "",
        };
        *self.0.lock().unwrap().entry(format!("{verb} {resource}{slash}{subresource}{ended}")).or_default() += 1;
    }

    fn take(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Counts what is logged as an error.
struct Errors(Arc<AtomicUsize>);

impl Errors {
    fn count() -> Arc<AtomicUsize> {
        let count = Arc::<AtomicUsize>::default();
        tracing_subscriber::registry().with(Self(count.clone()).with_filter(LevelFilter::ERROR)).init();
        count
    }
}

impl<S: Subscriber> Layer<S> for Errors {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() == Level::ERROR {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Some nodes, and a network that is divided among them.
async fn nodes(sandbox: &Sandbox) -> Api<Node> {
    let nodes = Api::<Node>::all(sandbox.client());
    for number in 0..NODES {
        let node = serde_json::from_value(json!({"metadata": {"name": format!("worker-{number}")}})).unwrap();
        nodes.create(&PostParams::default(), &node).await.unwrap();
    }
    let ipam = json!({"type": "whereabouts", "range": "10.99.0.0/16", "node_slice_size": "/24"});
    let config = json!({"name": "net", "ipam": ipam}).to_string();
    let network = NetworkAttachmentDefinition::new("net", json!({"spec": {"config": config}}));
    let networks = Api::<NetworkAttachmentDefinition>::namespaced(sandbox.client(), "default");
    networks.create(&PostParams::default(), &network).await.unwrap();
    nodes
}

/// Each node says once that it is well.
async fn beat(nodes: &Api<Node>) {
    let condition =
        json!({"type": "Ready", "status": "True", "lastHeartbeatTime": k8s_openapi::jiff::Timestamp::now()});
    let well = Patch::Merge(json!({"status": {"conditions": [condition]}}));
    for number in 0..NODES {
        nodes.patch_status(&format!("worker-{number}"), &PatchParams::default(), &well).await.unwrap();
    }
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let mut tick = tokio::time::interval(Duration::from_millis(10));
    while !holds().await {
        tick.tick().await;
    }
    println!("{what}");
}

/// MiB of this process.
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    let kib: u64 = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default();
    kib / 1024
}

/// Lines of a Markdown table.
#[derive(Default)]
struct Rows {
    text: String,
}

impl Rows {
    fn row(&mut self, what: &str, figure: impl std::fmt::Display) {
        self.text += &format!("| {what} | {figure} |\n");
    }
}
