//! What `webapp` says of itself: how an object of it fares, and whether what it did is what its role grants.

use std::{
    process::{Output, Stdio},
    sync::Arc,
};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Options, Plane, case_on, case_on_controlplane,
    wait::{until_gone, until_object},
};
use serde_json::{Value, json};
use webapp_api::WebApp;

use super::{
    example::WEBAPP,
    fleet,
    owners::is_available,
    program::{self, Program},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_on("a_tree_shows_how_an_object_fares_in_the_cluster", Options::served(), live),
        case_on_controlplane(
            "a_role_is_compared_with_the_audit_log_both_ways",
            "it reads which role allowed each request, which the sandbox does not note",
            compared,
        ),
    ]
}

/// What the program said.
struct Said {
    code: Option<i32>,
    out: String,
    error: String,
}

/// Runs `webapp` with the rights of a kubeconfig.
async fn webapp(kubeconfig: &std::path::Path, arguments: &[&str]) -> Said {
    let mut command = tokio::process::Command::new(program::path(&WEBAPP));
    command.args(arguments).env("KUBECONFIG", kubeconfig).stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output().await.expect("webapp can be run");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Said { code: status.code(), out: text(stdout), error: text(stderr) }
}

/// What `rbac verify` says of all that was asked so far, and whether it ended well.
pub(crate) async fn verdict(plane: &Plane, arguments: &[&str]) -> (Option<i32>, String) {
    plane.audit().await;
    let log = plane.folder().join("audit.log");
    let all = [&["rbac", "verify", log.to_str().expect("a path")], arguments].concat();
    let said = webapp(plane.kubeconfig(), &all).await;
    (said.code, said.out + &said.error)
}

async fn live(plane: Arc<Plane>) {
    let access = WEBAPP.install(&plane).await;
    let mut operator = Program::start(&WEBAPP, &plane, &access, &[]);
    operator.ready().await;
    let apps = Api::<WebApp>::namespaced(plane.client(), "default");
    apps.create(&PostParams::default(), &fleet::app("one")).await.unwrap();
    until_object(&apps, "one", "is available", is_available).await;
    let tree = async |arguments: &[&str]| webapp(plane.kubeconfig(), &[&["tree"], arguments].concat()).await;

    let ready = tree(&["webapp/one"]).await;
    assert_eq!((ready.code, ready.error.as_str()), (Some(0), ""), "{}", ready.out);
    assert!(
        ready.out.starts_with("✓ WebApp default/one (demo.example.com/v1alpha1): ready\n    Available"),
        "{}",
        ready.out
    );
    let nodes = "\
├─ ✓ config: ready  ConfigMap default/one
└─ ✓ workload: ready
   ├─ ✓ deployment: ready  Deployment default/one
   └─ ✓ service: ready  Service default/one
";
    assert!(ready.out.ends_with(nodes), "{}", ready.out);

    operator.stop().await;
    let services = Api::<Service>::namespaced(plane.client(), "default");
    services.delete("one", &DeleteParams::default()).await.unwrap();
    until_gone(&services, "one").await;
    let deployments = Api::<Deployment>::namespaced(plane.client(), "default");
    let template = json!({"metadata": {"annotations": {"opgen.test/pod": "unready"}}});
    let patch = Patch::Merge(json!({"spec": {"template": template}}));
    deployments.patch("one", &PatchParams::default(), &patch).await.unwrap();
    let rolls = |deployment: &Deployment| {
        let status = deployment.status.as_ref();
        status.and_then(|status| status.unavailable_replicas) == Some(1)
            && status.and_then(|status| status.observed_generation) == deployment.metadata.generation
    };
    until_object(&deployments, "one", "waits for its Pods", rolls).await;
    let broken = tree(&["WEBAPPS/one", "-n", "default"]).await;
    assert_eq!(broken.code, Some(0), "{}", broken.error);
    assert!(broken.out.contains("├─ … deployment: not ready  Deployment default/one: "), "{}", broken.out);
    assert!(broken.out.contains("└─ ✗ service: missing\n"), "{}", broken.out);
    let why = webapp(plane.kubeconfig(), &["why", "webapp/one"]).await;
    assert!(why.out.contains("├─ node workload/service has created no object yet\n"), "{}{}", why.out, why.error);
    assert!(why.out.contains("└─ Deployment default/one is not ready: "), "{}", why.out);
    assert!(why.out.contains("   └─ Pod default/one-"), "{}", why.out);
    let json: Value = serde_json::from_str(&tree(&["webapp/one", "-o", "json"]).await.out).expect("JSON");
    assert_eq!(json["tree"]["children"][1]["node"]["state"], "not ready");
    assert!(tree(&["webapp/one", "-o", "svg"]).await.out.contains(">missing<"));

    let absent = tree(&["webapp/two"]).await;
    assert_eq!(absent.code, Some(1), "{}", absent.out);
    let hint = "\n\nhint: `kubectl get webapps.demo.example.com --all-namespaces` lists";
    assert!(absent.error.starts_with(&format!("error: WebApp default/two not found{hint}")), "{}", absent.error);
    let forbidden = webapp(access.kubeconfig(), &["tree", "webapp/one", "-n", "default"]).await;
    assert_eq!(forbidden.code, Some(1), "{}", forbidden.out);
    assert!(forbidden.error.contains("hint: use an account with permission to read "), "{}", forbidden.error);
}

async fn compared(plane: Arc<Plane>) {
    let access = WEBAPP.install(&plane).await;
    let (code, said) = verdict(&plane, &[]).await;
    assert_eq!(code, Some(1), "{said}");
    let nobody = format!("error: the audit log has no request of {}\n", access.user());
    assert!(said.starts_with(&nobody), "{said}");

    let mut operator = Program::start(&WEBAPP, &plane, &access, &[]);
    operator.ready().await;
    let apps = Api::<WebApp>::namespaced(plane.client(), "default");
    apps.create(&PostParams::default(), &fleet::app("one")).await.unwrap();
    until_object(&apps, "one", "is available", is_available).await;
    let (code, said) = verdict(&plane, &[]).await;
    assert_eq!(code, Some(1), "{said}");
    let unused =
        "delete configmaps, which is needed by\n      WebApp: node config, examples/webapp/controller/src/webapp.rs:";
    assert!(said.contains(unused) && !said.contains("too small") && !said.contains("create configmaps"), "{said}");

    // Somebody uses the account for what no node asks for.
    let secrets = Api::<Secret>::namespaced(access.client(), "default");
    assert!(secrets.list(&Default::default()).await.is_err());
    let (_, said) = verdict(&plane, &[]).await;
    let lacks = "The role is too small:\n  - list secrets in namespace default was denied: once, first in line ";
    assert!(said.starts_with(lacks), "{said}");

    let edit = json!({"spec": {"greeting": "good evening"}});
    apps.patch("one", &PatchParams::default(), &Patch::Merge(&edit)).await.unwrap();
    let follows = |config: &ConfigMap| config.data.iter().flatten().any(|(_, value)| value.contains("good evening"));
    until_object(&Api::<ConfigMap>::namespaced(plane.client(), "default"), "one", "follows", follows).await;
    apps.delete("one", &DeleteParams::default()).await.unwrap();
    until_gone(&apps, "one").await;
    let (_, said) = verdict(&plane, &["--output", "json"]).await;
    let json: Value = serde_json::from_str(&said).expect("JSON");
    let unused = json["tooLarge"].as_array().expect("a list").iter().filter(|unused| unused["resource"] != "events");
    assert_eq!(unused.count(), 0, "{said}");
    operator.stop().await;
}
