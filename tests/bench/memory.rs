//! What an operator that holds many objects takes of memory: a process of its own against a sandbox on a port, its resident set
//! when it has come to rest, and the most it ever was.
//!
//! `cargo bench -p opgen-tests --bench memory`; `OPGEN_BENCH_OBJECTS=1000,100000` measures other numbers.
#![allow(unreachable_pub, reason = "a program has no outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod kind;
mod pods;

use std::{
    env,
    process::{Command, ExitCode},
    time::Duration,
};

use futures::{StreamExt, stream};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace, Node, Pod},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, CustomResourceExt, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use opgen::{Enqueue, NamespacedName, Predicate, RunOptions, prelude::*};
use opgen_tests::{Form, Options, Plane, Process, usage, wait};

use kind::{Widget, WidgetSpec};

/// What is measured: the name of the operator, and what it holds.
const OPERATORS: [(&str, &str); 3] = [
    ("widgets", "a custom object of 1 KB and its config map"),
    ("pods", "a Pod of 3.4 KB as a primary"),
    ("followed", "a Pod followed by its metadata"),
];

/// How long the resident set has to stay the same.
const REST: Duration = Duration::from_secs(3);

/// A node that makes nothing.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Nothing;

impl Provision<Foreign<Pod>> for Nothing {
    async fn provision(_: &Context<'_, Foreign<Pod>, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Foreign<Pod>, Self>) -> Result<()> {
        Ok(())
    }
}

impl Provision<Foreign<Node>> for Nothing {
    async fn provision(_: &Context<'_, Foreign<Node>, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Foreign<Node>, Self>) -> Result<()> {
        Ok(())
    }
}

fn operator(name: &str) -> Operator {
    let operator = Operator::new(name);
    match name {
        "pods" => operator.controls_with::<Foreign<Pod>, Nothing>(|pods| pods.without_finalizer().events(false)),
        "followed" => operator.controls_with::<Foreign<Node>, Nothing>(|nodes| {
            let all = Enqueue::<Pod>::for_one(NamespacedName::cluster("none"));
            nodes.without_finalizer().events(false).watches(all.when(Predicate::never()))
        }),
        _ => kind::operator(),
    }
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let arguments: Vec<_> = env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "operator") {
        return match runtime.block_on(operator(&arguments[at + 1]).run(RunOptions::default())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => panic!("{error}"),
        };
    }
    let numbers = env::var("OPGEN_BENCH_OBJECTS").unwrap_or_else(|_| "0,1000,10000".to_owned());
    println!("| what is held | objects | MiB at rest | MiB at most |\n|---|---|---|---|");
    for (name, what) in OPERATORS {
        for objects in numbers.split(',').map(|number| number.parse().unwrap()) {
            let (rest, most) = runtime.block_on(measure(name, objects));
            println!("| {what} | {objects} | {rest:.1} | {most:.1} |");
        }
    }
    ExitCode::SUCCESS
}

async fn measure(name: &str, objects: usize) -> (f64, f64) {
    let plane = Plane::start(Options { form: Form::Sandbox, kubelet: false, ..Options::served() }).await.unwrap();
    let api = Api::<CustomResourceDefinition>::all(plane.client());
    api.patch(Widget::crd_name(), &PatchParams::apply("bench").force(), &Patch::Apply(Widget::crd())).await.unwrap();
    let widgets = Api::<Widget>::default_namespaced(plane.client());
    wait::until("the kind is served", wait::PATIENCE, async || {
        widgets.list(&ListParams::default().limit(1)).await.map(drop).map_err(|error| error.to_string())
    })
    .await;
    if name == "widgets" {
        let create = |number| {
            let widget = Widget::new(&format!("w-{number}"), WidgetSpec { size: 1, payload: "x".repeat(1000) });
            let widgets = widgets.clone();
            async move { drop(widgets.create(&PostParams::default(), &widget).await.unwrap()) }
        };
        stream::iter(0..objects).for_each_concurrent(16, create).await;
    } else {
        create_pods(&plane, objects).await;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["operator", name]).env("KUBECONFIG", plane.kubeconfig()).env("PROBE_ADDRESS", "0");
    let process = Process::spawn("operator", command, &plane.folder().join("operator.log"));
    if name == "widgets" {
        let maps = Api::<ConfigMap>::default_namespaced(plane.client());
        let made = async || match maps.list_metadata(&ListParams::default()).await {
            Ok(list) if list.items.len() > objects => Ok(()),
            Ok(list) => Err(format!("{} of {objects}", list.items.len())),
            Err(error) => Err(error.to_string()),
        };
        wait::until("every config map is made", Duration::from_secs(600), made).await;
    }
    rest(&process).await
}

async fn create_pods(plane: &Plane, objects: usize) {
    let namespaces = Api::<Namespace>::all(plane.client());
    for number in 0..40 {
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(format!("team-{number:02}"));
        namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    }
    let create = |number| {
        let mut pod: Pod = serde_json::from_str(&pods::pod(number, objects.max(400))).unwrap();
        // The names are random, as those of a cluster are, and some of so many would be equal.
        pod.metadata.name = pod.metadata.name.map(|name| format!("{name}-{number}"));
        pod.metadata.resource_version = None;
        pod.metadata.managed_fields = None;
        pod.metadata.uid = None;
        if let Some(spec) = &mut pod.spec {
            spec.service_account_name = None;
            spec.service_account = None;
            spec.priority = None;
        }
        let pods = Api::<Pod>::namespaced(plane.client(), &pod.namespace().unwrap());
        async move { drop(pods.create(&PostParams::default(), &pod).await.unwrap()) }
    };
    stream::iter(0..objects).for_each_concurrent(16, create).await;
}

/// Waits until the resident set stays the same, and gives it with the most it ever was, in MiB.
async fn rest(process: &Process) -> (f64, f64) {
    let last = usage::memory_at_rest(&[process.id()], REST).await[0];
    let most = usage::memory_kib(process.id(), "VmHWM").unwrap();
    (last as f64 / 1024.0, most as f64 / 1024.0)
}
