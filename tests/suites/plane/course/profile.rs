//! Profiles of a running operator, fetched by its own verb through the API server and a simulated kubelet.

use std::{path::Path, sync::Arc};

use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, api::DeleteParams};
use opgen_tests::{
    Plane,
    wait::{self, PATIENCE},
};
use tokio::process::Command;

use super::Diary;
use crate::operator::{
    example::{Installed, WEBAPP},
    install::apply_quietly,
    program::{self, Program},
};

const ACCOUNT: &str = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: profiler, namespace: webapp-system}\n";

const RIGHTS: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: webapp-profiler}
rules:
- {verbs: [get], nonResourceURLs: ['/debug/*']}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: webapp-profiler}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: webapp-profiler}
subjects: [{kind: ServiceAccount, name: profiler, namespace: webapp-system}]
";

pub(super) async fn fetched(plane: Arc<Plane>) {
    let diary = Diary::new(&plane);
    let installed = Installed::new(WEBAPP, plane.clone()).await;
    let failed = profile(&plane, &["--memory"]).await.unwrap_err();
    assert!(failed.contains("no Pod of webapp is ready in namespace webapp-system"), "{failed}");

    let address = format!("127.0.0.1:{}", plane.forwarded_port());
    let arguments = ["--metrics-bind-address", &address, "--metrics-secure", "--profiling"];
    let mut operator = Program::start(&WEBAPP, &plane, &installed.access, &arguments);
    operator.ready().await;
    let install = WEBAPP.committed("install.yaml");
    let deployment = install.split("\n---\n").find(|document| document.lines().any(|line| line == "kind: Deployment"));
    apply_quietly(&plane, deployment.expect("a Deployment")).await;
    let failed = wait::until("a Pod is ready", PATIENCE, async || match profile(&plane, &["--memory"]).await {
        Err(error) if !error.contains("no Pod") => Ok(error),
        other => Err(format!("{other:?}")),
    })
    .await;
    diary.say("a Pod is ready");
    assert!(failed.contains("ServiceAccount webapp-system/profiler not found"), "{failed}");
    assert!(failed.contains("kubectl -n webapp-system create serviceaccount profiler"), "{failed}");
    let failed = profile(&plane, &["demo-0", "--memory"]).await.unwrap_err();
    assert!(failed.contains("webapp-system/demo-0 is no Pod of webapp") && failed.contains("its Pods are"), "{failed}");

    apply_quietly(&plane, ACCOUNT).await;
    let failed = profile(&plane, &["--memory"]).await.unwrap_err();
    assert!(failed.contains("403 Forbidden") && failed.contains("the right to get /debug/*"), "{failed}");
    // The answer to a token is remembered for a minute, and each call has a new token.
    apply_quietly(&plane, RIGHTS).await;
    let memory = wait::until("the rights are in force", PATIENCE, async || profile(&plane, &["--memory"]).await).await;
    assert!(memory.lines().any(|line| line.starts_with("VmRSS:") && line.ends_with(" kB")), "{memory}");
    diary.say("the memory was shown");

    let file = plane.folder().join("webapp.pb");
    let named = file.to_str().expect("a path");
    // A profile takes longer than a request may be without a response.
    let arguments = ["--seconds", "8", "--request-timeout", "5", "--file", named];
    let printed = profile(&plane, &arguments).await.unwrap();
    assert_eq!(printed.trim(), named);
    assert!(is_profile(&file), "{} is no profile", file.display());
    diary.say("a profile was written");

    let deployments = Api::<Deployment>::namespaced(plane.client(), "webapp-system");
    deployments.delete("webapp", &DeleteParams::foreground()).await.unwrap();
    wait::until_gone(&deployments, "webapp").await;
    operator.stop().await;
}

/// Whether a file has the sample types of a CPU profile.
fn is_profile(file: &Path) -> bool {
    let text = std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    text.contains("samples") && text.contains("nanoseconds")
}

/// Runs the verb as the administrator, and returns what it printed: on standard output, or on standard error if it failed.
async fn profile(plane: &Plane, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program::path(&WEBAPP));
    command.arg("profile").args(arguments).env("KUBECONFIG", plane.kubeconfig()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
