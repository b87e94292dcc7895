//! Differential tests of the sandbox's controllers: scripts that are played on the sandbox and on a cluster, and whose objects
//! must pass through the same states on both.

mod allowed;
mod course;
mod history;
mod script;

use std::{
    path::Path,
    sync::{Arc, LazyLock},
};

use futures::{StreamExt as _, stream};
use kube::api::ApiResource;
use libtest_mimic::Trial;
use opgen_tests::{Form, Options, Plane, case_on_shared_cluster, difference::differences};
use serde_json::{Value, json};

use self::{allowed::Allowed, history::History, script::Script};
use crate::{
    course::is_whole,
    ippool::scene::{self, IPPOOL},
    operator::{
        example::{Example, Installed, SHOP, WEBAPP},
        program::Program,
    },
};

/// How many scripts are played on the cluster at a time.
const AT_ONCE: usize = 4;

/// The variable that selects scripts of the workloads by a part of their name.
const SELECTED: &str = "OPGEN_SCRIPT";

/// How many cases a whole run has.
const CASES: usize = 4;

pub(crate) fn cases() -> Vec<Trial> {
    let mut cases = vec![case_on_shared_cluster("the_workloads_of_the_sandbox_are_those_of_a_cluster", workloads)];
    if is_whole() {
        cases.extend([
            case_on_shared_cluster("webapps_live_in_the_sandbox_as_on_a_cluster", webapps),
            case_on_shared_cluster("shops_live_in_the_sandbox_as_on_a_cluster", shops),
            case_on_shared_cluster("ippools_live_in_the_sandbox_as_on_a_cluster", ippools),
        ]);
        assert_eq!(cases.len(), CASES);
    }
    cases
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/plane/agreement")
}

/// The table of this run.
fn allowed() -> &'static Allowed {
    static ALLOWED: LazyLock<Allowed> = LazyLock::new(|| Allowed::read(&folder()));
    &ALLOWED
}

async fn workloads(plane: Arc<Plane>) {
    let scripts = script::read(&folder().join("workloads.yaml"));
    let chosen = |script: &Script| std::env::var(SELECTED).map_or(true, |name| script.name.contains(&name));
    let scripts: Vec<_> = scripts.into_iter().filter(chosen).collect();
    assert!(!scripts.is_empty(), "{SELECTED} selects no script");
    let verdicts = stream::iter(&scripts).map(|script| {
        let plane = &plane;
        async move {
            let copy = script.clone();
            let sandbox = tokio::task::spawn_blocking(move || in_a_sandbox(&copy));
            let real = played(plane, script, &[]).await;
            (script.name.clone(), real, sandbox.await.expect("the script ends in the sandbox"))
        }
    });
    let verdicts: Vec<_> = verdicts.buffer_unordered(AT_ONCE).collect().await;
    agree(verdicts.iter().map(|(name, real, sandbox)| (name.as_str(), real, sandbox)));
}

/// On a clock that waits for nothing.
fn in_a_sandbox(script: &Script) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a tokio runtime").block_on(async {
        let options = Options { form: Form::Sandbox, ..Options::default() };
        let plane = Plane::start(options).await.expect("a sandbox");
        played(&plane, script, &[]).await
    })
}

/// Plays a script in a namespace of its own; gives what all objects there passed through.
async fn played(plane: &Plane, script: &Script, kinds: &[ApiResource]) -> Value {
    let namespace = plane.namespace("agree").await;
    let history = History::follow(&plane.client(), &namespace, kinds).await;
    if let Err(error) = script::play(plane, &namespace, script).await {
        return json!({"failed": error});
    }
    history.rests().await;
    course::of(&history.seen(), &namespace)
}

async fn webapps(plane: Arc<Plane>) {
    let life = Life { example: WEBAPP, arguments: &[], kinds: vec![ApiResource::erase::<webapp_api::WebApp>(&())] };
    life.agrees(plane, "webapps.yaml").await;
}

async fn shops(plane: Arc<Plane>) {
    let life = Life { example: SHOP, arguments: &[], kinds: vec![ApiResource::erase::<shop_api::Shop>(&())] };
    life.agrees(plane, "shops.yaml").await;
}

async fn ippools(plane: Arc<Plane>) {
    let kinds = vec![
        ApiResource::erase::<ippool_api::IPPool>(&()),
        ApiResource::erase::<ippool_api::OverlappingRangeIPReservation>(&()),
    ];
    Life { example: IPPOOL, arguments: &["--interval=1s"], kinds }.agrees(plane, "ippools.yaml").await;
}

/// The whole life of an example's objects, with its program running.
struct Life {
    example: Example,
    /// Arguments of its program.
    arguments: &'static [&'static str],
    /// Its kinds that are compared, beside the built-in ones.
    kinds: Vec<ApiResource>,
}

impl Life {
    /// Plays the scripts of a file on the cluster and on a sandbox.
    async fn agrees(&self, plane: Arc<Plane>, file: &str) {
        let scripts = script::read(&folder().join(file));
        let sandbox = Options { form: Form::Sandbox, ..Options::served() };
        let sandbox = Arc::new(Plane::start(sandbox).await.expect("a sandbox"));
        let programs = [self.started(&plane).await, self.started(&sandbox).await];
        let mut verdicts = Vec::new();
        for script in &scripts {
            let real = played(&plane, script, &self.kinds).await;
            verdicts.push((script.name.as_str(), real, played(&sandbox, script, &self.kinds).await));
        }
        for program in programs {
            program.stop().await;
        }
        agree(verdicts.iter().map(|(name, real, sandbox)| (*name, real, sandbox)));
    }

    async fn started(&self, plane: &Arc<Plane>) -> Program {
        if self.example.name == IPPOOL.name {
            scene::networks_are_defined(plane).await;
        }
        let installed = Installed::new(self.example, plane.clone()).await;
        let mut program = Program::start(&installed.example, plane, &installed.access, self.arguments);
        program.ready().await;
        program
    }
}

/// Fails with all places where the two part and may not, and with the rows of the table that nothing needed.
fn agree<'a>(verdicts: impl Iterator<Item = (&'a str, &'a Value, &'a Value)>) {
    let (allowed, mut names) = (allowed(), Vec::new());
    let (mut report, mut equal) = (String::new(), 0);
    for (name, real, sandbox) in verdicts {
        names.push(name);
        let found = differences(&allowed.compared(name, real), &allowed.compared(name, sandbox));
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
    // The rows for all scripts may be those of a script that was not selected.
    let cases = if std::env::var_os(SELECTED).is_some() { usize::MAX } else { CASES };
    let unused = allowed.unused(&names, cases);
    assert!(unused.is_empty(), "nothing needed these rows of allowed.yaml:\n{}", unused.join("\n"));
}
