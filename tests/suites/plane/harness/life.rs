//! Starts and ends: of planes, of their servers, and of the process that started them.

use std::{
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, ObjectMeta, PostParams, WatchEvent, WatchParams},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Form, Options, Plane, Process, case_on, case_on_controlplane, case_served,
    process::is_alive,
    wait::{self, PATIENCE},
};
use rustix::process::Signal;

use super::victim::{self, End};

/// Why only the real plane can be outlived.
const NO_PROCESSES: &str = "a sandbox is in this process, and ends with it";

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("two_planes_run_side_by_side", two_planes_run_side_by_side),
        case_on("an_outage_keeps_the_data", Options::served(), an_outage_keeps_the_data),
        case_on("a_watch_expires_after_a_compaction", Options::served(), a_watch_expires_after_a_compaction),
        case_on_controlplane("no_process_outlives_a_panic", NO_PROCESSES, async |plane| {
            outlived_by_nothing(&plane, End::Panic, None).await;
        }),
        case_on_controlplane("no_process_outlives_an_interrupt", NO_PROCESSES, async |plane| {
            outlived_by_nothing(&plane, End::Hang, Some(Signal::INT)).await;
        }),
        case_on_controlplane("no_process_outlives_a_kill", NO_PROCESSES, async |plane| {
            outlived_by_nothing(&plane, End::Hang, Some(Signal::KILL)).await;
        }),
    ]
}

async fn two_planes_run_side_by_side(first: Arc<Plane>) {
    let start = Instant::now();
    let second = Plane::start(Options::served()).await.unwrap();
    let (folder, processes) = (second.folder().to_owned(), second.processes());
    assert!(start.elapsed() < Duration::from_secs(60), "a plane takes seconds to start, not {:?}", start.elapsed());
    let name = "only-in-the-second";
    put(&second, name).await;
    assert!(names(&second).await.contains(&name.to_owned()));
    assert!(!names(&first).await.contains(&name.to_owned()));

    let expected = match first.form() {
        Form::Sandbox => 0,
        Form::ControlPlane => 3,
        Form::Cluster => 5,
    };
    assert_eq!(processes.len(), expected, "{processes:?}");
    drop(second);
    assert!(processes.iter().all(|(_, id)| !is_alive(*id)), "{processes:?}");
    assert!(!folder.exists(), "{}", folder.display());
}

async fn an_outage_keeps_the_data(plane: Arc<Plane>) {
    put(&plane, "before").await;
    let client = plane.client();
    plane.stop_apiserver();
    client.apiserver_version().await.expect_err("an answer during the outage");
    plane.start_apiserver().await;
    // On the same port and under the same certificate, so clients go on as they are.
    client.apiserver_version().await.unwrap();
    assert!(names(&plane).await.contains(&"before".to_owned()));
    put(&plane, "after").await;
    let written = plane.audit().await.verb("create").resource("configmaps").by_user(plane.admin().user());
    assert_eq!(written.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["before", "after"], "{written}");
}

async fn a_watch_expires_after_a_compaction(plane: Arc<Plane>) {
    let api = Api::<ConfigMap>::namespaced(plane.client(), "default");
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    put(&plane, "one-more-revision").await;
    plane.expire_watches().await;
    put(&plane, "and-another").await;
    let mut events = api.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    match events.next().await {
        Some(Ok(WatchEvent::Error(status))) => assert_eq!(status.code, 410, "{status:?}"),
        other => panic!("the watch from {version} gave {other:?}"),
    }
}

/// Runs this program as a victim, that starts a plane of its own, and looks for what it leaves.
async fn outlived_by_nothing(plane: &Plane, end: End, signal: Option<Signal>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(victim::REQUEST, end.to_string());
    let log = plane.folder().join(format!("victim-{end}-{}.log", signal.map_or(0, Signal::as_raw)));
    let mut victim = Process::spawn("victim", command, &log);
    let ids = wait::until("the victim's plane runs", PATIENCE, async || victim::told(&victim.log())).await;
    if let Some(signal) = signal {
        assert!(ids.processes.iter().all(|id| is_alive(*id)), "{ids:?}");
        victim.signal(signal);
    }
    let status = victim.wait_exit(PATIENCE).await;
    assert!(!status.success(), "{status}");
    wait::until("all it started is gone", PATIENCE, async || {
        let left: Vec<_> = ids.processes.iter().filter(|id| is_alive(**id)).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?} of {ids:?}")) }
    })
    .await;
    // After a kill its folder stays until the next plane starts; nothing else can be done by then.
    assert_eq!(Path::new(&ids.folder).exists(), signal.is_some(), "{ids:?}");
}

async fn put(plane: &Plane, name: &str) {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let api = Api::<ConfigMap>::namespaced(plane.client(), "default");
    api.create(&PostParams::default(), &ConfigMap { metadata, ..ConfigMap::default() }).await.unwrap();
}

async fn names(plane: &Plane) -> Vec<String> {
    let api = Api::<ConfigMap>::namespaced(plane.client(), "default");
    let list = api.list(&ListParams::default()).await.unwrap();
    list.items.into_iter().filter_map(|object| object.metadata.name).collect()
}
