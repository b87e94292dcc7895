//! Runs the application controller and the repository server of Argo CD, with redis.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use super::{apply_definitions, find};
use crate::{Plane, Port, Process, tools};

/// The namespace of Argo CD.
pub const NAMESPACE: &str = "argocd";
/// The name of the cluster in Argo CD. It is registered like a remote one, since `in-cluster` needs the environment of a Pod.
pub const CLUSTER: &str = "local";

/// The running programs of Argo CD. Dropping it stops them.
#[derive(Debug)]
pub struct ArgoCd {
    controller: Process,
    repositories: Process,
    redis: Process,
    _ports: [Port; 4],
}

impl ArgoCd {
    /// Creates the definitions and settings of Argo CD in a cluster, and starts redis, the repository server and the application controller
    /// as processes of this machine.
    ///
    /// # Panics
    /// If a program can't be built or started.
    pub async fn start(plane: &Plane) -> Self {
        let programs = tokio::task::spawn_blocking(find).await.expect("the search for Argo CD");
        let programs = programs.unwrap_or_else(|missing| panic!("{missing}"));
        apply_definitions(plane, &programs.join("argocd-crds")).await;
        plane.until_established("applications.argoproj.io").await;
        plane.until_established("appprojects.argoproj.io").await;
        plane.apply(&objects(plane)).await;

        let folder = plane.folder().join("argocd");
        fs::create_dir_all(&folder).expect("a folder for Argo CD");
        let ports = [(); 4].map(|()| Port::reserve());
        let [redis_port, repository_port, repository_metrics, controller_metrics] =
            ports.each_ref().map(|port| port.number);

        let mut command = Command::new("redis-server");
        command.args(["--port", &redis_port.to_string(), "--bind", "127.0.0.1", "--save", ""]).current_dir(&folder);
        let redis = Process::spawn("redis-server", command, &folder.join("redis.log"));

        let mut command = argocd(&programs, &folder, "argocd-repo-server");
        command.args(["--redis", &format!("127.0.0.1:{redis_port}"), "--address", "127.0.0.1"]);
        command.args(["--port", &repository_port.to_string(), "--metrics-port", &repository_metrics.to_string()]);
        command.env("KUBECONFIG", plane.kubeconfig()).env("ARGOCD_REPO_SERVER_NAMESPACE", NAMESPACE);
        let repositories = Process::spawn("argocd-repo-server", command, &folder.join("repo-server.log"));

        let mut command = argocd(&programs, &folder, "argocd-application-controller");
        command.args(["--redis", &format!("127.0.0.1:{redis_port}"), "--namespace", NAMESPACE]);
        command.args(["--kubeconfig", &plane.kubeconfig().to_string_lossy()]);
        command.args(["--repo-server", &format!("127.0.0.1:{repository_port}")]);
        command.args(["--metrics-port", &controller_metrics.to_string(), "--app-resync", "10"]);
        let controller = Process::spawn("argocd-application-controller", command, &folder.join("controller.log"));
        Self { controller, repositories, redis, _ports: ports }
    }

    /// Stops the application controller, so that nothing is synced or removed.
    pub fn kill_controller(&mut self) {
        self.controller.kill();
    }

    /// Panics with the end of the log if a program has ended.
    pub fn check(&mut self) {
        for process in [&mut self.controller, &mut self.repositories, &mut self.redis] {
            if let Some(status) = process.exited() {
                panic!("a program of Argo CD ended: {status}; {}", process.log_tail(20));
            }
        }
    }
}

/// Returns the command that starts the program `name` of Argo CD. All programs are one binary, which acts by the name under which it is
/// started, so the command runs a link with that name. Its home, temporary and other folders are in `folder`, and its `PATH` has Helm and
/// kustomize.
fn argocd(programs: &Path, folder: &Path, name: &str) -> Command {
    let link = folder.join(name);
    symlink(programs.join("argocd"), &link).expect("a link to Argo CD");
    let private_folder = |name: &str| -> PathBuf {
        let folder = folder.join(name);
        fs::create_dir_all(&folder).expect("a folder of Argo CD");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("permissions of a folder");
        folder
    };
    let tools = tools::find().unwrap_or_else(|missing| panic!("{missing}"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = [tools].into_iter().chain(std::env::split_paths(&path));
    let mut command = Command::new(link);
    command.env("PATH", std::env::join_paths(paths).expect("a PATH"));
    command.env("ARGOCD_GNUPGHOME", private_folder("gnupg")).env("ARGOCD_GPG_ENABLED", "false");
    command.env("ARGOCD_PLUGINSOCKFILEPATH", private_folder("plugins")).env("TMPDIR", private_folder("tmp"));
    command.env("HOME", private_folder("home"));
    command
}

/// Returns the objects of an installation of Argo CD as YAML: its namespace, empty settings, a project that allows everything, and the
/// Secret that registers the API server of `plane` as a cluster.
fn objects(plane: &Plane) -> String {
    let labels = json!({"app.kubernetes.io/part-of": "argocd"});
    let metadata = |name: &str| json!({"name": name, "namespace": NAMESPACE, "labels": labels});
    let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})];
    for name in [
        "argocd-cm",
        "argocd-cmd-params-cm",
        "argocd-rbac-cm",
        "argocd-gpg-keys-cm",
        "argocd-tls-certs-cm",
        "argocd-ssh-known-hosts-cm",
    ] {
        objects.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name), "data": {}}));
    }
    objects.push(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": metadata("argocd-secret"),
        "stringData": {"server.secretkey": "of a test"},
    }));
    objects.push(json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
        "metadata": {"name": "default", "namespace": NAMESPACE},
        "spec": {
            "sourceRepos": ["*"],
            "destinations": [{"server": "*", "namespace": "*"}],
            "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
        },
    }));
    let (server, token) = (format!("https://{}", plane.admin().server()), plane.admin().token());
    let config = json!({"bearerToken": token, "tlsClientConfig": {"insecure": true}});
    objects.push(json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {
            "name": "cluster-local", "namespace": NAMESPACE,
            "labels": {"argocd.argoproj.io/secret-type": "cluster"},
        },
        "stringData": {"name": CLUSTER, "server": server, "config": config.to_string()},
    }));
    objects.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n---\n")
}
