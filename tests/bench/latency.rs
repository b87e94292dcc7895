//! How soon an operator acts, on a real control plane: from an object's creation to the first write for it, and from the
//! start of the process to the same; and from an edit to its write, while the operator has 10,000 other objects to do.
//!
//! `cargo bench -p opgen-tests --bench latency`
#![allow(unreachable_pub, reason = "a program has no outside")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod kind;
mod table;

use std::{
    collections::HashMap,
    process::{Command, ExitCode},
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream};
use k8s_openapi::{
    api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, CustomResourceExt, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt, watcher},
};
use opgen::RunOptions;
use opgen_tests::{Form, Options, Plane, Process, wait};
use serde_json::json;
use tokio::sync::Mutex;

use kind::{Widget, WidgetSpec};
use table::Table;

const RUNS: usize = 5;
const OBJECTS: usize = 200;
/// Objects that are there when an operator starts.
const BACKLOG: usize = 10_000;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if std::env::args().any(|argument| argument == "operator") {
        return match runtime.block_on(kind::operator().run(RunOptions::default())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => panic!("{error}"),
        };
    }
    print!("{}", runtime.block_on(measure()));
    ExitCode::SUCCESS
}

async fn measure() -> String {
    let plane = Plane::start(Options { form: Form::ControlPlane, ..Options::default() }).await.unwrap();
    let crds = Api::<CustomResourceDefinition>::all(plane.client());
    let name = Widget::crd_name();
    crds.patch(name, &PatchParams::apply("bench").force(), &Patch::Apply(Widget::crd())).await.unwrap();
    let widgets = Api::<Widget>::default_namespaced(plane.client());
    wait::until("the kind is served", wait::PATIENCE, async || {
        widgets.list(&ListParams::default()).await.map(drop).map_err(|error| error.to_string())
    })
    .await;
    let seen = Seen::follow(&plane);
    let (mut middle, mut late, mut start) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..RUNS {
        let mut figures = latencies(&plane, &widgets, &seen, run).await;
        figures.sort_by(f64::total_cmp);
        middle.push(figures[figures.len() / 2]);
        late.push(figures[figures.len() * 99 / 100]);
        start.push(first_write(&plane, &widgets, &seen, run).await);
    }
    let mut table = Table::new("How soon an operator acts", &["", "milliseconds: median of runs (min – max)"]);
    table.row("creation to first write seen, p50", &[&middle]);
    table.row("creation to first write seen, p99", &[&late]);
    table.row("start of the process to first write seen", &[&start]);
    let (answers, edits, all) = edits_at_start(&plane, &widgets, &seen).await;
    table.row(&format!("an edit while {BACKLOG} objects are worked off, to the answer of the server"), &[&answers]);
    table.row("from there to the write for it seen", &[&edits]);
    table.row("the last of these objects", &[&[all]]);
    table.text().to_owned()
}

/// When each size of each config map was first seen.
#[derive(Clone)]
struct Seen(Arc<Mutex<HashMap<(String, String), Instant>>>);

impl Seen {
    fn follow(plane: &Plane) -> Self {
        let seen = Self(Arc::default());
        let (api, into) = (Api::<ConfigMap>::default_namespaced(plane.client()), seen.clone());
        tokio::spawn(async move {
            let mut events = watcher(api, watcher::Config::default()).applied_objects().boxed();
            while let Some(Ok(object)) = events.next().await {
                let size = object.data.as_ref().and_then(|data| data.get("size")).map_or("", String::as_str);
                let key = (object.name_any(), size.to_owned());
                into.0.lock().await.entry(key).or_insert_with(Instant::now);
            }
        });
        seen
    }

    async fn at(&self, name: &str) -> Instant {
        self.with_size(name, 1).await
    }

    async fn with_size(&self, name: &str, size: i64) -> Instant {
        let key = (name.to_owned(), size.to_string());
        let seen = async || self.0.lock().await.get(&key).copied().ok_or_else(|| "it was not seen".to_owned());
        wait::until(format!("config map {name} of size {size}"), Duration::from_secs(300), seen).await
    }
}

async fn create(widgets: &Api<Widget>, name: &str) -> Instant {
    let widget = Widget::new(name, WidgetSpec { size: 1, payload: "x".repeat(1000) });
    widgets.create(&PostParams::default(), &widget).await.unwrap();
    Instant::now()
}

async fn latencies(plane: &Plane, widgets: &Api<Widget>, seen: &Seen, run: usize) -> Vec<f64> {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let client = plane.client();
    let running = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        kind::operator().run_with(client, RunOptions::default(), stopped).await
    });
    // The first one waits for the operator's start.
    let warm = format!("warm-{run}");
    create(widgets, &warm).await;
    seen.at(&warm).await;
    let mut figures = Vec::new();
    for object in 0..OBJECTS {
        let name = format!("w-{run}-{object}");
        let created = create(widgets, &name).await;
        figures.push(milliseconds(seen.at(&name).await.saturating_duration_since(created)));
    }
    drop(stop);
    running.await.unwrap().unwrap();
    figures
}

async fn first_write(plane: &Plane, widgets: &Api<Widget>, seen: &Seen, run: usize) -> f64 {
    let name = format!("first-{run}");
    create(widgets, &name).await;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("operator").env("KUBECONFIG", plane.kubeconfig());
    let begun = Instant::now();
    let operator = Process::spawn("operator", command, &plane.folder().join("operator.log"));
    let written = seen.at(&name).await;
    drop(operator);
    milliseconds(written.saturating_duration_since(begun))
}

/// Edits of objects that an operator has not come to yet, each a fifth of the way on: milliseconds until each is done, and until all
/// objects are.
async fn edits_at_start(plane: &Plane, widgets: &Api<Widget>, seen: &Seen) -> (Vec<f64>, Vec<f64>, f64) {
    let name = |number: usize| format!("backlog-{number:05}");
    stream::iter(0..BACKLOG)
        .for_each_concurrent(16, async |number| {
            create(widgets, &name(number)).await;
        })
        .await;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("operator").env("KUBECONFIG", plane.kubeconfig());
    let begun = Instant::now();
    let operator = Process::spawn("operator", command, &plane.folder().join("operator.log"));
    let (mut answers, mut edits) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        let done = async || match seen.0.lock().await.keys().filter(|(name, _)| name.starts_with("backlog-")).count() {
            done if done > BACKLOG / (RUNS + 2) * (run + 1) => Ok(()),
            done => Err(format!("{done} are done")),
        };
        wait::until("some of the objects are done", Duration::from_secs(300), done).await;
        // The queue is in the order of the list, so these come last.
        let edited = name(BACKLOG - 1 - run);
        let asked = Instant::now();
        let patch = Patch::Merge(json!({"spec": {"size": 2}}));
        widgets.patch(&edited, &PatchParams::default(), &patch).await.unwrap();
        let answered = Instant::now();
        answers.push(milliseconds(answered.saturating_duration_since(asked)));
        edits.push(milliseconds(seen.with_size(&edited, 2).await.saturating_duration_since(answered)));
        assert!(
            !seen.0.lock().await.contains_key(&(edited.clone(), "1".to_owned())),
            "{edited} was done before the edit"
        );
    }
    let last = seen.at(&name(BACKLOG - 1 - RUNS)).await;
    drop(operator);
    (answers, edits, milliseconds(last.saturating_duration_since(begun)))
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
