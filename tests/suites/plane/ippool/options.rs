//! The program: what it can be told, and what it says of itself.

use std::{path::Path, process::Stdio, sync::Arc};

use ippool_api::IPPool;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Options, Plane, case_on, case_served,
    wait::{self, PATIENCE, until_object},
};
use serde_json::json;
use tokio::process::Command;

use super::scene::{IPPOOL, installed, networks_are_defined, pool};
use crate::operator::program::{self, Program};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("ippool_w1_terminating_pods_are_cleaned_up_if_the_program_is_told_so", terminating),
        case_served("ippool_w1_wrong_options_end_the_program_with_a_sentence", wrong),
        case_on("ippool_w5_it_is_ready_once_all_that_it_needs_is_there", Options::served(), needy),
    ]
}

/// A Pod that is being deleted and not gone, and the address it has: freed with the option, held without.
async fn terminating(plane: Arc<Plane>) {
    let access = installed(&plane).await;
    for (told, left) in [(vec!["--cleanup-terminating"], 0), (vec![], 1)] {
        let namespace = plane.namespace("told").await;
        let pods = Api::<Pod>::namespaced(plane.client(), &namespace);
        // The garbage collector of Pods sets the phase of a terminating Pod without a node to Failed.
        let node = json!({"metadata": {"name": namespace}});
        let nodes = Api::<Node>::all(plane.client());
        nodes.create(&PostParams::default(), &serde_json::from_value(node).unwrap()).await.unwrap();
        let pod = json!({
            "metadata": {
                "name": "leaving", "finalizers": ["example.com/held"], "annotations": {"opgen.test/pod": "pending"},
            },
            "spec": {"nodeName": namespace, "containers": [{"name": "main", "image": "example.com/main:1"}]},
        });
        pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
        pods.delete("leaving", &DeleteParams::default().grace_period(0)).await.unwrap();
        let pools = Api::<IPPool>::namespaced(plane.client(), &namespace);
        let made = pool("told", &[("5", format!("{namespace}/leaving"))]);
        pools.create(&PostParams::default(), &made).await.unwrap();
        let arguments = [vec!["--namespace", &namespace, "--interval=1s"], told].concat();
        let mut program = Program::start(&IPPOOL, &plane, &access, &arguments);
        program.ready().await;
        let is_counted = |pool: &IPPool| pool.status.is_some() && pool.spec.allocations.len() == left;
        until_object(&pools, "told", &format!("has {left} allocation(s)"), is_counted).await;
        program.stop().await;
    }
}

async fn wrong(plane: Arc<Plane>) {
    let program = program::path(&IPPOOL);
    for (flags, variable, said) in [
        (&["run", "--cleanup-disrupted=maybe"][..], None, "invalid value 'maybe' for '--cleanup-disrupted"),
        (&["run"][..], Some(("VERIFY_NETWORK_STATUS", "2")), "invalid value '2' for '--verify-network-status"),
        (&["run"][..], Some(("RECONCILE_INTERVAL", "0s")), "use a duration, for example `30s` or `5m`"),
    ] {
        let (code, error) = ended(&program, &plane, flags, variable).await;
        assert!(code == Some(2) && error.contains(said), "{flags:?} {variable:?}: {code:?} {error}");
    }
    let (code, help) = ended(&program, &plane, &["run", "--help"], None).await;
    let flags =
        ["--cleanup-terminating", "--cleanup-disrupted", "--verify-network-status", "--interval", "--namespace"];
    assert!(code == Some(0) && flags.iter().all(|flag| help.contains(flag)), "{help}");
    assert!(help.contains("CLEANUP_TERMINATING") && help.contains("Run the controllers"), "{help}");
}

/// It has no webhooks, so what it needs are the kinds that it follows; one of them is somebody else's.
async fn needy(plane: Arc<Plane>) {
    let access = IPPOOL.install(&plane).await;
    let mut program = Program::start(&IPPOOL, &plane, &access, &[]);
    let lines = ["IPPool: ok", "NetworkAttachmentDefinition: the cluster does not serve this kind"];
    wait::until("it says what it waits for", PATIENCE, async || match program::readiness(program.probes).await? {
        (503, text) if lines.iter().all(|line| text.lines().any(|said| said == *line)) => Ok(()),
        (code, text) => Err(format!("{code}: {text}")),
    })
    .await;
    networks_are_defined(&plane).await;
    program.ready().await;
    program.stop().await;
}

/// How the program ends, and what it has said.
async fn ended(
    program: &Path,
    plane: &Plane,
    arguments: &[&str],
    variable: Option<(&str, &str)>,
) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    command.args(arguments).envs(variable).env("KUBECONFIG", plane.kubeconfig()).stdin(Stdio::null());
    let output = command.output().await.expect("ippool can be run");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("text"))
}
