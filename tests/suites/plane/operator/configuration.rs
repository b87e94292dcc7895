//! Operators as programs with a configuration file.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use kube::{Api, ResourceExt as _};
use libtest_mimic::Trial;
use opgen_tests::{
    Access, Plane, Port, Process, case_served,
    wait::{self, PATIENCE},
};
use serde_json::{Value, json};
use webapp_api::WebApp;

use super::{
    example::WEBAPP,
    fleet,
    program::{self, readiness},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("configuration_a_program_behaves_as_its_file_says", behaves),
        case_served("configuration_a_wrong_file_ends_the_program_with_a_hint_and_the_status_2", refused),
    ]
}

/// The variables that would override the file.
const VARIABLES: [&str; 6] =
    ["WATCH_NAMESPACE", "PROBE_ADDRESS", "METRICS_BIND_ADDRESS", "RUST_LOG", "LOG_FORMAT", "POD_NAMESPACE"];

/// A command that runs the example with a configuration file.
fn command(plane: &Plane, access: &Access, name: &str, options: &Value) -> (Command, PathBuf) {
    let path = plane.folder().join(name);
    write(&path, options);
    let mut command = Command::new(program::path(&WEBAPP));
    command.arg("run").arg("--config").arg(&path).env("KUBECONFIG", access.kubeconfig());
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    (command, path)
}

fn write(path: &Path, options: &Value) {
    let mut content = json!({"apiVersion": "config.opgen.dev/v1alpha1", "kind": "OperatorConfiguration"});
    content.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    fs::write(path, serde_saphyr::to_string(&content).unwrap()).unwrap();
}

/// Waits until a line of the log, which is JSON, has this message; returns the line.
async fn logged(process: &Process, message: &str) -> Value {
    wait::until(format!("the log says {message:?}"), PATIENCE, async || {
        let log = process.log();
        let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).map_err(|_| line.to_owned()));
        let lines = lines.collect::<Result<Vec<_>, _>>()?;
        lines.into_iter().find(|line| line["fields"]["message"] == message).ok_or(log)
    })
    .await
}

async fn ready(address: SocketAddr) {
    wait::until("the probes answer at the address of the file", PATIENCE, async || match readiness(address).await? {
        (200, _) => Ok(()),
        (code, text) => Err(format!("{code}: {text}")),
    })
    .await;
}

async fn behaves(plane: Arc<Plane>) {
    let access = WEBAPP.install(&plane).await;
    let port = Port::reserve();
    let (one, other, foreign) =
        (plane.namespace("one").await, plane.namespace("other").await, plane.namespace("foreign").await);
    let options = |filter: &str| {
        json!({
            "namespaces": [one, other],
            "probes": {"address": port.address().to_string()},
            "log": {"filter": filter, "format": "json"},
            "client": {"qps": 200, "burst": 50, "pageSize": 50},
            "kinds": {"WebApp": {"workers": 2}},
        })
    };
    let (command, path) = command(&plane, &access, "configuration.yaml", &options("info"));
    let log = plane.folder().join("configuration.log");
    let mut process = Process::spawn("webapp", command, &log);
    ready(port.address()).await;
    assert_eq!(logged(&process, "starting").await["level"], "INFO");

    // The foreign one is first, so it would be reconciled first.
    for namespace in [&foreign, &one, &other] {
        let api = Api::<WebApp>::namespaced(plane.client(), namespace);
        api.create(&Default::default(), &fleet::app("web")).await.unwrap();
    }
    for namespace in [&one, &other] {
        let api = Api::<WebApp>::namespaced(plane.client(), namespace);
        wait::until_object(&api, "web", "has its status", |app: &WebApp| app.status.is_some()).await;
    }
    let ignored = Api::<WebApp>::namespaced(plane.client(), &foreign).get("web").await.unwrap();
    assert!(ignored.status.is_none() && ignored.finalizers().is_empty(), "{ignored:?}");

    write(&path, &options("info,opgen=debug"));
    assert_eq!(logged(&process, "changed the log filter").await["fields"]["filter"], "info,opgen=debug");
    process.terminate();
    let status = process.wait_exit(PATIENCE).await;
    assert!(status.success(), "{status}; {}", process.log_tail(20));
}

async fn refused(plane: Arc<Plane>) {
    for (name, options, error, hint) in [
        (
            "key.yaml",
            json!({"controllers": {"wokers": 2}}),
            "controllers.wokers: unknown key",
            "`controllers.workers`?",
        ),
        ("type.yaml", json!({"client": {"qps": "fast"}}), "client.qps: invalid type: string \"fast\"", "OPTIONS.md"),
        (
            "kind.yaml",
            json!({"kinds": {"Webapp": {}}}),
            "kinds.Webapp: the operator webapp does not control",
            "`WebApp`?",
        ),
        ("probe.yaml", json!({"probes": {"address": "here"}}), "probes.address: \"here\" is no address", "OPTIONS.md"),
        (
            "lead.yaml",
            json!({"leaderElection": {"enabled": true, "renewDeadline": "20s"}}),
            "the renew deadline 20s must be shorter than the lease duration 15s",
            "`leaderElection`",
        ),
    ] {
        let (command, _) = command(&plane, plane.admin(), name, &options);
        let output = tokio::process::Command::from(command).stdin(Stdio::null()).output().await.unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        let (first, rest) = text.split_once("\n").unwrap();
        assert!(first.starts_with("error: ") && first.contains(error), "{name}: {text}");
        assert!(rest.trim().starts_with("hint: ") && rest.contains(hint), "{name}: {text}");
        assert_eq!(output.status.code(), Some(2), "{name}: {text}");
    }
}
