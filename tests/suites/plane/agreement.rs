//! The sandbox's controllers held to those of a cluster: the same script on both, and every object passes through the same.

mod allowed;
mod course;
mod history;
mod script;

use std::{path::Path, sync::Arc};

use futures::{StreamExt as _, stream};
use kube::api::ApiResource;
use libtest_mimic::Trial;
use opgen_tests::{Form, Options, Plane, case_on_shared_cluster, difference::differences};
use serde_json::{Value, json};

use self::{allowed::Allowed, history::History, script::Script};
use crate::{
    course::is_whole,
    operator::example::{Example, Installed, SHOP, WEBAPP},
};

/// How many scripts are played on the cluster at a time.
const AT_ONCE: usize = 4;

pub(crate) fn cases() -> Vec<Trial> {
    let mut cases = vec![case_on_shared_cluster("the_workloads_of_the_sandbox_are_those_of_a_cluster", workloads)];
    if is_whole() {
        cases.extend([
            case_on_shared_cluster("webapps_live_in_the_sandbox_as_on_a_cluster", webapps),
            case_on_shared_cluster("shops_live_in_the_sandbox_as_on_a_cluster", shops),
        ]);
    }
    cases
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/plane/agreement")
}

async fn workloads(plane: Arc<Plane>) {
    let (scripts, allowed) = (script::read(&folder().join("workloads.yaml")), Allowed::read(&folder()));
    let chosen = |script: &Script| std::env::var("OPGEN_SCRIPT").map_or(true, |name| script.name.contains(&name));
    let scripts: Vec<_> = scripts.into_iter().filter(chosen).collect();
    let verdicts = stream::iter(&scripts).map(|script| {
        let plane = &plane;
        async move {
            let copy = script.clone();
            let sandbox = tokio::task::spawn_blocking(move || in_a_sandbox(&copy));
            let real = played(plane, script, None).await;
            (script.name.clone(), real, sandbox.await.expect("the script ends in the sandbox"))
        }
    });
    let verdicts: Vec<_> = verdicts.buffer_unordered(AT_ONCE).collect().await;
    agree(&allowed, verdicts.iter().map(|(name, real, sandbox)| (name.as_str(), real, sandbox)));
}

/// On a clock that waits for nothing.
fn in_a_sandbox(script: &Script) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a tokio runtime").block_on(async {
        let options = Options { form: Form::Sandbox, ..Options::default() };
        let plane = Plane::start(options).await.expect("a sandbox");
        played(&plane, script, None).await
    })
}

/// Plays a script in a namespace of its own; gives what all objects there passed through.
async fn played(plane: &Plane, script: &Script, owner: Option<ApiResource>) -> Value {
    let namespace = plane.namespace("agree").await;
    let history = History::follow(&plane.client(), &namespace, owner).await;
    if let Err(error) = script::play(plane, &namespace, script).await {
        return json!({"failed": error});
    }
    history.rests().await;
    course::of(&history.seen(), &namespace)
}

async fn webapps(plane: Arc<Plane>) {
    lives(plane, WEBAPP, "webapps.yaml", ApiResource::erase::<webapp_api::WebApp>(&())).await;
}

async fn shops(plane: Arc<Plane>) {
    lives(plane, SHOP, "shops.yaml", ApiResource::erase::<shop_api::Shop>(&())).await;
}

/// The whole life of an example, with its program, on both.
async fn lives(plane: Arc<Plane>, example: Example, file: &str, owner: ApiResource) {
    let (scripts, allowed) = (script::read(&folder().join(file)), Allowed::read(&folder()));
    let sandbox = Options { form: Form::Sandbox, ..Options::served() };
    let sandbox = Arc::new(Plane::start(sandbox).await.expect("a sandbox"));
    let mut verdicts = Vec::new();
    let installed = [Installed::new(example, plane).await, Installed::new(example, sandbox).await];
    let [real, sandbox] = &installed;
    let programs = (real.start().await, sandbox.start().await);
    for script in &scripts {
        let real = played(&real.plane, script, Some(owner.clone())).await;
        let sandbox = played(&sandbox.plane, script, Some(owner.clone())).await;
        verdicts.push((script.name.as_str(), real, sandbox));
    }
    programs.0.stop().await;
    programs.1.stop().await;
    agree(&allowed, verdicts.iter().map(|(name, real, sandbox)| (*name, real, sandbox)));
}

/// Fails with all places where the two part and may not.
fn agree<'a>(allowed: &Allowed, verdicts: impl Iterator<Item = (&'a str, &'a Value, &'a Value)>) {
    let (mut report, mut equal) = (String::new(), 0);
    for (name, real, sandbox) in verdicts {
        let found = differences(real, sandbox);
        let parts: Vec<_> = found.iter().filter(|difference| !allowed.has(name, &difference.path)).collect();
        if parts.is_empty() {
            equal += 1;
            continue;
        }
        let mut told = format!("\n{name}\n");
        parts.iter().for_each(|difference| told.push_str(&format!("    {difference}\n")));
        report.push_str(&told);
    }
    println!("{equal} scripts agree");
    assert!(report.is_empty(), "the sandbox and the cluster part:\n{report}");
}
