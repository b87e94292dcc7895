//! Measures memory and CPU time of each replica when one to five replicas share 10,000 objects by shards, on a real control plane.
//!
//! `cargo bench -p opgen-tests --bench shards`; `OPGEN_BENCH_OBJECTS=1000` measures another number. `OPGEN_BENCH_SELECT=0` measures an
//! API server that does not select by shard, so that each replica receives all primaries and drops those of the others.
#![allow(unreachable_pub, reason = "a program has no outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod kind;
mod table;

use std::{
    env,
    process::{Command, ExitCode},
    time::Duration,
};

use futures::{StreamExt, stream};
use k8s_openapi::{
    api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, CustomResourceExt, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use opgen::RunOptions;
use opgen_tests::{Form, Options, Plane, Process, usage, wait};
use serde_json::json;

use kind::{Widget, WidgetSpec};
use table::Table;

const REPLICAS: usize = 5;
const SHARDS: u16 = 60;
/// The maximum time until all objects are written.
const LIMIT: Duration = Duration::from_secs(1200);
/// How long the resident sets have to stay the same.
const REST: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if env::args().any(|argument| argument == "operator") {
        return match runtime.block_on(kind::operator().shards(SHARDS).run(RunOptions::default())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => panic!("{error}"),
        };
    }
    let objects = env::var("OPGEN_BENCH_OBJECTS").map_or(10_000, |number| number.parse().unwrap());
    println!("{}", runtime.block_on(measure(objects)));
    ExitCode::SUCCESS
}

async fn measure(objects: usize) -> String {
    let selects = env::var("OPGEN_BENCH_SELECT").as_deref() != Ok("0");
    let apiserver_flags =
        if selects { vec!["--feature-gates=ShardedListAndWatch=true".to_owned()] } else { Vec::new() };
    let options = Options { form: Form::ControlPlane, apiserver_flags, ..Options::default() };
    let plane = Plane::start(options).await.unwrap();
    let definitions = Api::<CustomResourceDefinition>::all(plane.client());
    definitions
        .patch(Widget::crd_name(), &PatchParams::apply("bench").force(), &Patch::Apply(Widget::crd()))
        .await
        .unwrap();
    let widgets = Api::<Widget>::default_namespaced(plane.client());
    wait::until("the kind is served", wait::PATIENCE, async || {
        widgets.list(&ListParams::default().limit(1)).await.map(drop).map_err(|error| error.to_string())
    })
    .await;
    let create = async |number| {
        let widget = Widget::new(&format!("w-{number}"), WidgetSpec { size: 0, payload: "x".repeat(1000) });
        widgets.create(&PostParams::default(), &widget).await.unwrap();
    };
    stream::iter(0..objects).for_each_concurrent(16, create).await;
    let title = format!("{objects} objects with a config map each, {SHARDS} shards");
    let columns = [
        "replicas",
        "MiB of each replica",
        "CPU seconds of each replica, start",
        "CPU seconds of each replica, an edit of all",
    ];
    let mut table = Table::new(&title, &columns);
    for count in 1..=REPLICAS {
        let size = i64::try_from(count).unwrap();
        let replicas: Vec<_> = (0..count).map(|number| start(&plane, number)).collect();
        if count == 1 {
            have_size(&plane, 0, objects).await;
        }
        let memory = rest(&replicas).await;
        let starts: Vec<f64> = replicas.iter().map(cpu_seconds).collect();
        let edit = async |number| {
            let patch = Patch::Merge(json!({"spec": {"size": size}}));
            widgets.patch(&format!("w-{number}"), &PatchParams::default(), &patch).await.unwrap();
        };
        stream::iter(0..objects).for_each_concurrent(16, edit).await;
        have_size(&plane, size, objects).await;
        rest(&replicas).await;
        let edits: Vec<f64> =
            replicas.iter().zip(&starts).map(|(replica, start)| cpu_seconds(replica) - start).collect();
        table.row(&count.to_string(), &[&memory, &starts, &edits]);
        stop(replicas).await;
    }
    table.text().to_owned()
}

/// Starts a replica in a process of its own.
fn start(plane: &Plane, number: usize) -> Process {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg("operator").env("KUBECONFIG", plane.kubeconfig()).env("POD_NAMESPACE", "default");
    Process::spawn("operator", command, &plane.folder().join(format!("operator-{number}.log")))
}

/// Stops replicas, which hand their shards over.
async fn stop(mut replicas: Vec<Process>) {
    replicas.iter_mut().for_each(Process::terminate);
    wait::until("the replicas have ended", wait::PATIENCE, async || {
        let running = replicas.iter_mut().filter_map(|replica| replica.exited().is_none().then_some(())).count();
        if running == 0 { Ok(()) } else { Err(format!("{running} run")) }
    })
    .await;
}

/// Waits until all config maps have a size.
async fn have_size(plane: &Plane, size: i64, objects: usize) {
    let (maps, size) = (Api::<ConfigMap>::default_namespaced(plane.client()), size.to_string());
    wait::until(format!("all config maps have size {size}"), LIMIT, async || {
        let list = maps.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        let has_size = |map: &&ConfigMap| map.data.as_ref().is_some_and(|data| data.get("size") == Some(&size));
        let done = list.items.iter().filter(|map| map.name_any().starts_with("w-")).filter(has_size).count();
        if done == objects { Ok(()) } else { Err(format!("{done} of {objects}")) }
    })
    .await;
}

/// Waits until the resident sets stay the same, and returns them in MiB.
async fn rest(replicas: &[Process]) -> Vec<f64> {
    let replicas: Vec<_> = replicas.iter().map(Process::id).collect();
    usage::memory_at_rest(&replicas, REST).await.into_iter().map(|kib| kib as f64 / 1024.0).collect()
}

/// Returns the CPU time of a process so far, in user and system mode.
fn cpu_seconds(process: &Process) -> f64 {
    usage::cpu_time(process.id()).as_secs_f64()
}
