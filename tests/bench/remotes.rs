//! An operator with many other clusters: sandboxes over HTTPS, each with the children of one owner. The operator is a process of its own.
//!
//! The memory of a cluster is the resident set at rest minus that without clusters, divided by their number, so it includes the owner. The
//! delay of a repair is the time from the edit of a child until the operator has set it back. After the loss of a tenth of the clusters, it
//! is that in the others, while the owners of the lost ones have changes that the operator can't make.
//!
//! `cargo bench -p opgen-tests --bench remotes`; `OPGEN_BENCH_CLUSTERS=20` measures another number.
#![allow(unreachable_pub, reason = "a program has no outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::{
    collections::BTreeMap,
    env,
    process::{Command, ExitCode},
    time::Duration,
};

use futures::{StreamExt, stream};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, CustomResource, CustomResourceExt, ResourceExt,
    api::{ListParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use opgen::{RunOptions, prelude::*, scope::Kubeconfig};
use opgen_tests::{Form, Options, Plane, Process, usage, wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

/// The number of children of an owner, all in its cluster.
const CHILDREN: usize = 10;
/// A tenth of the clusters is lost.
const LOST: usize = 10;
/// How long the steady state is observed.
const STEADY: Duration = Duration::from_secs(60);
/// How long the resident set has to stay the same.
const REST: Duration = Duration::from_secs(3);
const START: Duration = Duration::from_secs(600);

/// An owner whose children are in the cluster of its name.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "bench.example.com", version = "v1", kind = "Member", namespaced, status = "Status")]
pub struct MemberSpec {
    /// Goes into the children.
    text: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Member)]
struct Tree {
    #[provisioner(remote)]
    cluster: Inside,
}

#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Member)]
struct Inside {
    #[provisioner(resource)]
    configs: Vec<ConfigMap>,
}

impl Tree {
    fn cluster(member: &Member) -> Kubeconfig {
        Kubeconfig::secret(member.name_any())
    }
}

impl Inside {
    fn configs(member: &Member) -> Vec<ConfigMap> {
        let config = |number| ConfigMap {
            metadata: ObjectMeta { name: Some(format!("part-{number}")), ..ObjectMeta::default() },
            data: Some([("text".to_owned(), member.spec.text.clone())].into()),
            ..ConfigMap::default()
        };
        (0..CHILDREN).map(config).collect()
    }
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if env::args().any(|argument| argument == "operator") {
        let operator = Operator::new("fleet").controls::<Member, Tree>();
        return match runtime.block_on(operator.run(RunOptions::default())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => panic!("{error}"),
        };
    }
    let clusters = env::var("OPGEN_BENCH_CLUSTERS").map_or(200, |number| number.parse().unwrap());
    assert!(clusters >= 2, "at least one cluster is lost, and the repairs are measured in the others");
    runtime.block_on(async {
        let none = Fleet::start(0).await;
        let empty = rest(&none.operator).await;
        drop(none);
        measure(clusters, empty).await;
    });
    ExitCode::SUCCESS
}

/// The clusters, and the operator that runs in the first one.
struct Fleet {
    home: Plane,
    others: Vec<Plane>,
    operator: Process,
}

async fn plane() -> Plane {
    Plane::start(Options { form: Form::Sandbox, kubelet: false, ..Options::served() }).await.unwrap()
}

fn name(number: usize) -> String {
    format!("m-{number:03}")
}

impl Fleet {
    /// Starts the clusters, creates an owner for each, and starts the operator.
    async fn start(clusters: usize) -> Self {
        let home = plane().await;
        let definitions = Api::<CustomResourceDefinition>::all(home.client());
        let apply = PatchParams::apply("bench").force();
        definitions.patch(Member::crd_name(), &apply, &Patch::Apply(Member::crd())).await.unwrap();
        let (members, secrets) =
            (Api::<Member>::default_namespaced(home.client()), Api::default_namespaced(home.client()));
        wait::until("the kind is served", wait::PATIENCE, async || {
            members.list(&ListParams::default().limit(1)).await.map(drop).map_err(|error| error.to_string())
        })
        .await;
        let others: Vec<_> = stream::iter(0..clusters).map(|_| plane()).buffered(4).collect().await;
        for (number, other) in others.iter().enumerate() {
            let secret = Secret {
                metadata: ObjectMeta { name: Some(name(number)), ..ObjectMeta::default() },
                string_data: Some([("value".to_owned(), other.admin().embedded_kubeconfig())].into()),
                ..Secret::default()
            };
            secrets.create(&PostParams::default(), &secret).await.unwrap();
            let member = Member::new(&name(number), MemberSpec { text: "as wanted".to_owned() });
            members.create(&PostParams::default(), &member).await.unwrap();
        }
        let operator = start_operator(&home);
        Self { home, others, operator }
    }

    /// Waits until all owners are available.
    async fn is_ready(&self) {
        let members = Api::<Member>::default_namespaced(self.home.client());
        wait::until("all members are available", START, async || {
            let listed = members.list(&ListParams::default()).await.map_err(|error| error.to_string())?.items;
            let ready = listed.iter().filter(|member| is_available(member)).count();
            if ready == self.others.len() { Ok(()) } else { Err(format!("{ready} are")) }
        })
        .await;
    }

    /// Edits the owners of the first clusters, which are lost, and waits until the operator has reported each loss.
    async fn miss(&self, lost: usize) {
        let members = Api::<Member>::default_namespaced(self.home.client());
        let edit = json!({"spec": {"text": "late"}});
        for number in 0..lost {
            members.patch(&name(number), &PatchParams::default(), &Patch::Merge(&edit)).await.unwrap();
        }
        wait::until("the lost clusters are reported", START, async || {
            let listed = members.list(&ListParams::default()).await.map_err(|error| error.to_string())?.items;
            let reported = listed.iter().filter(|member| is_unreachable(member)).count();
            if reported >= lost { Ok(()) } else { Err(format!("{reported} are")) }
        })
        .await;
    }

    /// The requests of the operator so far: all, and those that write.
    async fn requests(&self) -> (usize, usize) {
        let (mut all, mut writes) = (0, 0);
        for plane in self.others.iter().chain([&self.home]) {
            // The child that the repairs edit and read.
            let log = plane.audit().await.with(|entry| entry.name != "part-3");
            all += log.len();
            writes += log.writes().len();
        }
        (all, writes)
    }

    /// Edits a child in each of these clusters, one after the other, and returns how long each repair took, in ms, sorted.
    async fn repairs(&self, clusters: &[Plane]) -> Vec<f64> {
        let mut delays = Vec::new();
        for cluster in clusters {
            let configs = Api::<ConfigMap>::namespaced(cluster.client(), "default");
            let edit = json!({"data": {"text": "edited"}});
            let start = Instant::now();
            configs.patch("part-3", &PatchParams::default(), &Patch::Merge(&edit)).await.unwrap();
            while is_edited(&configs).await {
                assert!(start.elapsed() < START, "an edit is never repaired");
            }
            delays.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        delays.sort_by(f64::total_cmp);
        delays
    }
}

fn start_operator(home: &Plane) -> Process {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg("operator").env("KUBECONFIG", home.kubeconfig()).env("PROBE_ADDRESS", "0");
    Process::spawn("operator", command, &home.folder().join("operator.log"))
}

fn is_available(member: &Member) -> bool {
    let conditions = member.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|condition| condition.type_ == "Available" && condition.status == "True")
}

fn is_unreachable(member: &Member) -> bool {
    let conditions = member.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|condition| condition.type_ == "Available" && condition.reason == "ClusterUnreachable")
}

async fn is_edited(configs: &Api<ConfigMap>) -> bool {
    let data: BTreeMap<_, _> = configs.get("part-3").await.unwrap().data.unwrap_or_default();
    data.get("text").map(String::as_str) == Some("edited")
}

async fn measure(clusters: usize, empty: u64) {
    let start = Instant::now();
    let mut fleet = Fleet::start(clusters).await;
    let prepared = start.elapsed();
    fleet.is_ready().await;
    let ready = (start.elapsed() - prepared).as_secs_f64();
    let resident = rest(&fleet.operator).await;
    let each = (resident as f64 - empty as f64) / clusters as f64;
    println!("| {clusters} clusters, with {CHILDREN} children each | |\n|---|---|");
    println!("| from the start until all owners are available, s | {ready:.1} |");
    println!("| resident set without clusters, and with them, MiB | {:.1}, {:.1} |", mib(empty), mib(resident));
    println!("| of it for each cluster, KiB | {each:.0} |");

    let (before, spent) = (fleet.requests().await, usage::cpu_time(fleet.operator.id()));
    let begin = Instant::now();
    wait::until("a minute has passed", STEADY * 2, async || {
        if begin.elapsed() >= STEADY { Ok(()) } else { Err("it has not".to_owned()) }
    })
    .await;
    let after = fleet.requests().await;
    let cpu = (usage::cpu_time(fleet.operator.id()) - spent).as_millis();
    println!(
        "| in a minute at rest: requests, writes, ms of CPU | {}, {}, {cpu} |",
        after.0 - before.0,
        after.1 - before.1
    );

    let (lost, alive) = fleet.others.split_at((clusters / LOST).max(1));
    show("a repair before the loss, ms", &fleet.repairs(alive).await);
    lost.iter().for_each(Plane::stop_apiserver);
    fleet.miss(lost.len()).await;
    show(&format!("a repair after the loss of {} clusters, ms", lost.len()), &fleet.repairs(alive).await);
    show("a repair later, ms", &fleet.repairs(alive).await);
    for plane in lost {
        plane.start_apiserver().await;
    }
    fleet.is_ready().await;
    rest(&fleet.operator).await;

    fleet.operator.terminate();
    fleet.operator.wait_exit(Duration::from_secs(60)).await;
    let before = fleet.requests().await;
    fleet.operator = start_operator(&fleet.home);
    // A repair shows that it works again.
    fleet.repairs(&fleet.others[..1]).await;
    rest(&fleet.operator).await;
    let after = fleet.requests().await;
    println!("| a restart: requests, writes | {}, {} |", after.0 - before.0, after.1 - before.1);
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

fn show(what: &str, sorted: &[f64]) {
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    println!("| {what}: median, 99 %, maximum | {:.1}, {:.1}, {:.1} |", at(0.5), at(0.99), at(1.0));
}

/// Waits until the resident set stays the same, and returns it in KiB.
async fn rest(process: &Process) -> u64 {
    usage::memory_at_rest(&[process.id()], REST).await[0]
}
