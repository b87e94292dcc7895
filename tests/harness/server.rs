//! The three programs of a plane and their flags.

use std::{ffi::OsString, path::Path, process::Command};

use crate::{
    binaries::Binaries,
    credentials::{Authority, CONTROLLERS},
};

/// Where the programs of one plane listen, on the loopback address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) etcd: u16,
    pub(crate) peer: u16,
    pub(crate) api: u16,
}

/// Everything, but what answers for machines: they have no heartbeat here, and pods would be evicted from them.
const CONTROLLERS_ON: &str = "*,-node-lifecycle-controller,-taint-eviction-controller,-node-ipam-controller";

/// Metadata is who did which verb on what, and the answer's code: all that the suites ask.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
";

pub(crate) fn etcd(binaries: &Binaries, folder: &Path, ports: Ports) -> Command {
    let (clients, peers) = (loopback(ports.etcd), loopback(ports.peer));
    let mut command = binaries.command("etcd");
    command.args([
        flag("data-dir", folder.join("etcd")),
        flag("listen-client-urls", &clients),
        flag("advertise-client-urls", &clients),
        flag("listen-peer-urls", &peers),
        flag("initial-advertise-peer-urls", &peers),
        flag("initial-cluster", format!("default={peers}")),
        flag("log-level", "warn"),
        // A plane never outlives its process, so nothing has to survive a loss of power.
        "--unsafe-no-fsync".into(),
    ]);
    command
}

pub(crate) fn apiserver(
    binaries: &Binaries,
    folder: &Path,
    ports: Ports,
    authority: &Authority,
    more: &[String],
) -> Command {
    let policy = folder.join("audit.yaml");
    std::fs::write(&policy, AUDIT_POLICY)
        .unwrap_or_else(|error| panic!("{} can't be written: {error}", policy.display()));
    let mut command = binaries.command("kube-apiserver");
    command.args([
        flag("etcd-servers", loopback(ports.etcd)),
        flag("bind-address", "127.0.0.1"),
        flag("advertise-address", "127.0.0.1"),
        flag("secure-port", ports.api.to_string()),
        // The loopback address is no valid endpoint of the `kubernetes` service.
        flag("endpoint-reconciler-type", "none"),
        flag("service-cluster-ip-range", "10.96.0.0/16"),
        flag("tls-cert-file", authority.path("apiserver.crt")),
        flag("tls-private-key-file", authority.path("apiserver.key")),
        flag("service-account-issuer", "https://kubernetes.default.svc"),
        flag("service-account-signing-key-file", authority.path("accounts.key")),
        flag("service-account-key-file", authority.path("accounts.pub")),
        flag("token-auth-file", authority.path("tokens.csv")),
        flag("authorization-mode", "RBAC"),
        flag("allow-privileged", "true"),
        flag("audit-policy-file", policy),
        flag("audit-log-path", audit_log(folder)),
        // One file, never rotated: it is read while it grows.
        flag("audit-log-maxsize", "0"),
        flag("v", "1"),
    ]);
    command.args(more);
    command
}

pub(crate) fn controller_manager(
    binaries: &Binaries,
    folder: &Path,
    authority: &Authority,
    controllers: Option<&str>,
) -> Command {
    let mut command = binaries.command("kube-controller-manager");
    command.args([
        flag("kubeconfig", authority.user(CONTROLLERS).kubeconfig()),
        flag("controllers", controllers.unwrap_or(CONTROLLERS_ON)),
        flag("leader-elect", "false"),
        flag("secure-port", "0"),
        flag("cert-dir", folder),
        flag("root-ca-file", authority.path("ca.crt")),
        flag("service-account-private-key-file", authority.path("accounts.key")),
        // A test waits for what these do.
        flag("kube-api-qps", "2000"),
        flag("kube-api-burst", "4000"),
        flag("concurrent-deployment-syncs", "20"),
        flag("concurrent-replicaset-syncs", "20"),
        flag("concurrent-namespace-syncs", "20"),
        flag("v", "1"),
    ]);
    command
}

pub(crate) fn audit_log(folder: &Path) -> std::path::PathBuf {
    folder.join("audit.log")
}

pub(crate) fn loopback(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn flag(name: &str, value: impl AsRef<std::ffi::OsStr>) -> OsString {
    let mut flag = OsString::from(format!("--{name}="));
    flag.push(value);
    flag
}
