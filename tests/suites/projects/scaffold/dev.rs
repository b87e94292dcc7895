//! `opgen dev`: from the build to Available, from an edit to the new operator, and to an end that leaves nothing.

mod readme;
mod run;

use std::{fs, time::Duration};

use k8s_openapi::api::{core::v1::ConfigMap, rbac::v1::ClusterRole};
use kube::{
    Api,
    api::{DynamicObject, GroupVersionKind},
    core::ApiResource,
};
use opgen_tests::wait::{self, PATIENCE};
use rustix::process::{Pid, Signal, kill_process};

use self::{
    readme::Readme,
    run::{Running, processes_of},
};
use super::command::{Place, Run, checkout};
use crate::project::Project;

/// From the end of the build to Available, and from the end of a build to the operator's restart: the measured times are
/// printed, and this is what they may be on a machine that does much else.
const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn two_operators_become_available_side_by_side_and_leave_nothing() {
    let readme = Readme::read();
    let mut first = Running::start_as(&readme.args, checkout());
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let mut second =
        Running::start_as(&format!("dev --report {}", page.display()), &checkout().join("examples/webapp/api"));
    for running in [&mut first, &mut second] {
        let line = running.stdout("export KUBECONFIG=");
        let available = running.stdout("WebApp webapp-sample: Available=True  Provisioned");
        let took = available.at - running.stderr("Finished ").at;
        println!("from the end of the build to Available: {took:?}");
        assert!(took < SOON, "{took:?}");
        running.kubeconfig = line.text.split_once('=').unwrap().1.into();
    }
    assert_ne!(first.kubeconfig, second.kubeconfig);
    for running in [&first, &second] {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("demo.example.com", "v1alpha1", "WebApp"));
        let apps = Api::<DynamicObject>::namespaced_with(running.client().await, "default", &kind);
        assert_eq!(apps.get("webapp-sample").await.unwrap().data["status"]["conditions"][0]["status"], "True");
        if let Some(shown) = running.kubectl(&["get", "webapps"]) {
            assert!(shown.contains("webapp-sample"), "{shown}");
        }
    }
    assert_eq!(first.tree("webapp/webapp-sample"), readme.tree);
    first.end_with(Signal::INT).await;
    assert!(!processes_of(second.folder()).is_empty(), "the other one goes on");
    second.end_with(Signal::TERM).await;
    let page = fs::read_to_string(page).unwrap();
    let told = ["default/webapp-sample", "Deployment", "pass 1: ", "Available"];
    assert!(told.iter().all(|told| page.contains(told)), "{page}");
}

#[tokio::test]
async fn an_edit_is_live_and_what_does_not_compile_changes_nothing() {
    let project = Project::new("dev-edits", "edits --group demo.example.com --kind Widget");
    let mut running = Running::start_project(&project.root);
    running.kubeconfig = running.stdout("export KUBECONFIG=").text.split_once('=').unwrap().1.into();
    running.stdout("Available=True");
    let operator = running.operator().expect("the operator runs");

    project.edit("controller/src/widget.rs", "fn config(", "fn konfig(");
    running.stderr("the previous build keeps running until the next change");
    assert_eq!(running.operator(), Some(operator));
    assert!(running.said().contains("controller/src/widget.rs:"), "{}", running.said());

    let saved = project.edit("controller/src/widget.rs", "fn konfig(", "fn config(");
    let saved = saved.max(project.edit("controller/src/widget.rs", "join(\"\\n\")", "join(\"; \")"));
    running.is_restarted_soon_after(saved);
    let configs = Api::<ConfigMap>::namespaced(running.client().await, "default");
    wait::until_object(&configs, "widget-sample", "is what the new code makes", |config| {
        config.data.as_ref().is_some_and(|data| !data["message"].contains('\n'))
    })
    .await;
    assert_ne!(running.operator(), Some(operator));

    let saved = project.edit("api/src/widget.rs", "max = 50", "max = 60");
    running.is_restarted_soon_after(saved);
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"));
    let definitions = Api::<DynamicObject>::all_with(running.client().await, &kind);
    let definition = definitions.get("widgets.demo.example.com").await.unwrap();
    assert!(definition.data.to_string().contains("\"maximum\":60"), "{definition:?}");

    an_operator_that_is_killed_is_said_and_started_after_the_next_change(&project, &mut running);
    running.end_with(Signal::INT).await;
}

fn an_operator_that_is_killed_is_said_and_started_after_the_next_change(project: &Project, running: &mut Running) {
    let operator = running.operator().expect("the operator runs");
    kill_process(Pid::from_raw(operator).unwrap(), Signal::KILL).unwrap();
    running.stderr("error: edits exited unexpectedly: signal: 9");
    running.stderr("hint: it restarts after the next change");
    assert_eq!(running.operator(), None);
    let saved = project.edit("controller/src/widget.rs", "join(\"; \")", "join(\", \")");
    running.is_restarted_soon_after(saved);
}

#[tokio::test]
async fn killed_hard_it_takes_everything_with_it() {
    let mut running = Running::start(&checkout().join("examples/webapp"));
    running.kubeconfig = running.stdout("export KUBECONFIG=").text.split_once('=').unwrap().1.into();
    // `opgen dev` prints the line before it starts the operator.
    wait::until("the operator runs", PATIENCE, async || running.operator().ok_or_else(|| "no operator".to_owned()))
        .await;
    running.kill();
    running.leaves_nothing().await;
}

#[tokio::test]
async fn in_a_cluster_of_ones_own_only_kinds_and_samples_are_applied_and_stay() {
    let webapp = checkout().join("examples/webapp");
    let mut cluster = Running::start_as("sandbox", checkout());
    cluster.kubeconfig = cluster.stdout("export KUBECONFIG=").text.split_once('=').unwrap().1.into();
    let mut running = Running::start_in(&cluster.kubeconfig, "dev --cluster", &webapp);
    running.stderr("Using https://127.0.0.1:");
    running.stdout("WebApp webapp-sample: Available=True  Provisioned");
    running.end(Signal::INT).await;
    running.stderr("CustomResourceDefinition webapps.demo.example.com, WebApp webapp-sample");

    let client = cluster.client().await;
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("demo.example.com", "v1alpha1", "WebApp"));
    Api::<DynamicObject>::namespaced_with(client.clone(), "default", &kind).get("webapp-sample").await.unwrap();
    let roles = Api::<ClusterRole>::all(client).get_opt("webapp").await.unwrap();
    assert_eq!(roles, None, "it has the rights of who runs it");
    cluster.end_with(Signal::TERM).await;

    let mut running = Running::start_in(&cluster.kubeconfig, "dev --cluster", &webapp);
    running.stderr("error: failed to connect to the cluster");
    running.stderr("caused by: failed to load a kubeconfig or the in-cluster configuration");
    running.stderr("hint: set KUBECONFIG to the intended cluster");
    assert_eq!(running.ended().await.code(), Some(1));
}

#[tokio::test]
async fn an_operator_with_buckets_gets_the_server_of_the_environment() {
    // Nothing listens there, and the session goes on all the same.
    let url = "nats://127.0.0.1:1";
    let mut running = Running::start_with_nats(url, &checkout().join("examples/platform"));
    running.stderr(&format!("Using {url}, for the buckets routes, tiers, workloads"));
    running.stdout(&format!("export NATS_URL={url}"));
    running.kubeconfig = running.stdout("export KUBECONFIG=").text.split_once('=').unwrap().1.into();
    running.end_with(Signal::INT).await;
}

#[test]
fn where_there_is_no_project_it_says_so() {
    let place = Place::new();
    let run = place.opgen("dev");
    let said = "error: `opgen.toml` not found in `[here]` or its parent folders\n\n\
                hint: run this inside a project, or create one with `opgen new`\n";
    assert_eq!((run.code, &*run.stderr, &*run.stdout), (1, said, ""));
    let run = place.opgen("dev --port many");
    assert_eq!((run.code, &*run.stdout), (2, ""));
}

#[test]
fn a_port_that_is_taken_is_said_before_anything_is_built() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let command = super::command::command(&checkout().join("examples/webapp"), &format!("dev --port {port}"));
    let run = Run::of(command, checkout());
    assert_eq!((run.code, &*run.stdout), (1, ""), "{}", run.stderr);
    assert!(run.stderr.starts_with(&format!("error: failed to listen on port {port}\n")), "{}", run.stderr);
    assert!(run.stderr.ends_with("hint: remove `--port` to use a free port\n"), "{}", run.stderr);
}

#[test]
fn a_project_without_an_operator_or_without_cargo_is_refused() {
    let project = Project::new("dev-refused", "refused --group demo.example.com --kind Widget");
    let options = project.root.join("opgen.toml");
    let text = fs::read_to_string(&options).unwrap();
    fs::write(&options, text.replace("name = \"refused\"", "name = \"other\"")).unwrap();
    let said = "error: the workspace has no package `other`\n\n\
                hint: use the name of the operator's package as `name` in `opgen.toml`\n";
    let run = project.opgen("dev");
    assert_eq!((run.code, &*run.stderr), (1, said));

    fs::write(&options, text).unwrap();
    fs::rename(project.root.join("operator/src/main.rs"), project.root.join("operator/src/lib.rs")).unwrap();
    let Run { code, stderr: said, .. } = project.opgen("dev");
    assert_eq!(code, 1, "{said}");
    assert!(said.starts_with("error: package `refused` has no binary of the same name\n"), "{said}");
    assert!(
        said.contains("hint: write `opgen::operator!(refused_controller::operator());` in `src/main.rs`"),
        "{said}"
    );

    let mut command = super::command::command(&project.root, "dev");
    command.env("PATH", project.root.join("deploy"));
    let run = Run::of(command, &project.root);
    let said = "error: no working `cargo` found on the PATH\n";
    assert!(
        run.code == 1 && run.stderr.starts_with(said) && run.stderr.contains("hint: install Rust"),
        "{}",
        run.stderr
    );
}
