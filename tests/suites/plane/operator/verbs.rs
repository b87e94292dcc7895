//! The verbs of an operator's program where names, servers and outputs are odd: each ends with an error and changes nothing.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use kube::{Api, ResourceExt as _, api::PostParams};
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case_served, help,
    wait::{self, PATIENCE},
};
use tokio::{net::TcpListener, process::Command, task::JoinHandle, time::timeout};
use webapp_api::WebApp;

use super::{example::WEBAPP, fleet, program};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("a_name_that_looks_like_a_query_touches_no_other_object", odd_name),
        case_served("verbs_end_by_their_timeout_where_a_server_never_answers", silent_server),
        case_served("verbs_fail_where_standard_output_is_full", full_output),
        case_served("verbs_write_to_neither_a_device_nor_a_pipe", special_outputs),
        case_served("an_audit_log_with_an_endless_line_is_an_error", endless_line),
    ]
}

/// The arguments with which each verb sends requests; `None` for a verb that sends none, or that runs until it is stopped. `--help`
/// lists the verbs, so a new one fails in [`silent_server`] until it has its row.
const VERBS: [(&str, Option<&str>); 9] = [
    ("run", None),
    ("manifests", None),
    ("tree", Some("webapp/a")),
    ("rbac explain", None),
    ("rbac verify", None),
    ("why", Some("webapp/a")),
    ("reconcile", Some("webapp/a")),
    ("profile", Some("")),
    ("uninstall", Some("--objects keep")),
];

/// The options whose values are outputs. Those of `run`, and the credentials for NATS, are read.
const OUTPUTS: [(&str, &str); 2] = [("manifests", "--dir"), ("profile", "--file")];

fn webapp(kubeconfig: &Path, arguments: &str) -> Command {
    let mut command = Command::new(program::path(&WEBAPP));
    command
        .args(arguments.split_whitespace())
        .env("KUBECONFIG", kubeconfig)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true);
    command
}

/// The help text of a verb; that of the program for none.
fn help_of(verb: &str) -> String {
    let mut command = std::process::Command::new(program::path(&WEBAPP));
    let output = command.args(verb.split_whitespace()).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// It ended in time, with an error on standard error that it returns.
pub(crate) async fn failed(mut command: Command) -> String {
    // `output` would replace the standard output that the case has chosen.
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let ended = timeout(PATIENCE, child.wait_with_output()).await;
    let Output { status, stderr, .. } = ended.unwrap_or_else(|_| panic!("{command:?} does not end")).unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert!(matches!(status.code(), Some(1 | 2)), "{command:?}: {status}\n{said}");
    assert!(said.starts_with("error: "), "{command:?}: {said}");
    said
}

async fn odd_name(plane: Arc<Plane>) {
    WEBAPP.install(&plane).await;
    let namespace = plane.namespace("verbs").await;
    let apps = Api::<WebApp>::namespaced(plane.client(), &namespace);
    let before = apps.create(&PostParams::default(), &fleet::app("a")).await.unwrap();
    for name in ["a?x=y", "a#b", "a/status", "b/../a", "a%3Fx"] {
        failed(webapp(plane.kubeconfig(), &format!("reconcile webapp/{name} -n {namespace}"))).await;
    }
    let after = apps.get("a").await.unwrap();
    assert_eq!(after.resource_version(), before.resource_version(), "{:?}", after.metadata);
    // The same with a name that is there.
    let done = webapp(plane.kubeconfig(), &format!("reconcile webapp/a -n {namespace}")).output().await.unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_ne!(apps.get("a").await.unwrap().resource_version(), before.resource_version());
}

async fn silent_server(plane: Arc<Plane>) {
    let server = SilentServer::start(&plane).await;
    for verb in help::subcommands(&help_of) {
        let row = VERBS.iter().find(|(known, _)| *known == verb);
        let (_, arguments) = row.unwrap_or_else(|| panic!("`{verb}` has no row in the table of verbs"));
        if let Some(arguments) = arguments {
            let before = server.connections();
            failed(webapp(&server.kubeconfig, &format!("{verb} {arguments} --request-timeout 1"))).await;
            // The server may accept the connection only after the program has ended.
            wait::until(format!("`{verb}` has sent a request"), PATIENCE, async || {
                if server.connections() > before { Ok(()) } else { Err("no connection".to_owned()) }
            })
            .await;
        }
    }
}

/// A server that accepts connections and never responds, until it is dropped.
pub(crate) struct SilentServer {
    /// The kubeconfig with its address.
    pub(crate) kubeconfig: PathBuf,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl SilentServer {
    pub(crate) async fn start(plane: &Plane) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let kubeconfig = kubeconfig(plane, listener.local_addr().unwrap());
        let connections = Arc::<AtomicUsize>::default();
        let accepted = connections.clone();
        let task = tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((connection, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::Relaxed);
                held.push(connection);
            }
        });
        Self { kubeconfig, connections, task }
    }

    /// Returns the number of connections that it has accepted.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for SilentServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn kubeconfig(plane: &Plane, server: std::net::SocketAddr) -> PathBuf {
    let path = plane.folder().join(format!("silent-{}.kubeconfig", server.port()));
    let text = format!(
        "apiVersion: v1
kind: Config
clusters: [{{name: a, cluster: {{server: 'http://{server}'}}}}]
users: [{{name: a, user: {{token: a}}}}]
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
current-context: a
"
    );
    fs::write(&path, text).unwrap();
    path
}

async fn full_output(plane: Arc<Plane>) {
    WEBAPP.install(&plane).await;
    let namespace = plane.namespace("verbs").await;
    let apps = Api::<WebApp>::namespaced(plane.client(), &namespace);
    apps.create(&PostParams::default(), &fleet::app("a")).await.unwrap();
    let live = ["tree webapp/a", "why webapp/a", "why webapp/a -o json"].map(|verb| format!("{verb} -n {namespace}"));
    for verb in live.iter().map(String::as_str).chain(["tree", "rbac explain", "manifests"]) {
        let mut command = webapp(plane.kubeconfig(), verb);
        command.stdout(Stdio::from(File::options().write(true).open("/dev/full").unwrap()));
        let said = failed(command).await;
        assert!(said.contains("No space left on device"), "{verb}: {said}");
    }
}

async fn special_outputs(plane: Arc<Plane>) {
    for verb in help::subcommands(&help_of).into_iter().filter(|verb| verb != "run") {
        for option in help::path_options(&help_of(&verb)).into_iter().filter(|option| *option != "--nats-credentials") {
            assert!(OUTPUTS.contains(&(&verb, option)), "`{verb} {option}` has no row in the table of outputs");
        }
    }
    let (pipe, device) = (plane.folder().join("output-pipe"), plane.folder().join("output-device"));
    assert!(Command::new("mkfifo").arg(&pipe).status().await.unwrap().success());
    std::os::unix::fs::symlink("/dev/full", &device).unwrap();
    for special in [&pipe, &device] {
        for (verb, option) in OUTPUTS {
            let said = failed(webapp(plane.kubeconfig(), &format!("{verb} {option} {}", special.display()))).await;
            assert!(said.contains(&special.display().to_string()), "{verb} {option}: {said}");
            let there = fs::metadata(special).unwrap();
            assert!(!there.is_file() && !there.is_dir(), "{verb} {option} replaced {}", special.display());
        }
        fs::remove_file(special).unwrap();
    }
}

/// A file without content on the disk, all of one line.
async fn endless_line(plane: Arc<Plane>) {
    let path = plane.folder().join("endless.log");
    File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let verify = format!("rbac verify {}", path.display());
    let said = timeout(Duration::from_secs(60), failed(webapp(plane.kubeconfig(), &verify))).await.unwrap();
    assert!(said.contains("the next line is longer than 64 MiB"), "{said}");
    fs::remove_file(path).unwrap();
}
