//! Builds the command lines of etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok for a test.

use std::{ffi::OsString, path::Path, process::Command};

use crate::{
    Form, Options,
    binaries::Binaries,
    credentials::{Authority, CONTROLLERS, KUBELET, SCHEDULER},
};

/// The ports of the programs of a plane on the loopback address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) etcd: u16,
    pub(crate) peer: u16,
    pub(crate) api: u16,
    /// The port of the simulated kubelet of the first node.
    pub(crate) node: u16,
    /// The port to which all connections to the Pods of the first node are forwarded.
    pub(crate) forwarded: u16,
}

/// The controllers of a control plane without a cluster: all except those for machines. Its node has no heartbeat, so these
/// controllers would evict its Pods.
const WITHOUT_MACHINES: &str = "*,-node-lifecycle-controller,-taint-eviction-controller,-node-ipam-controller";

/// The stages that kwok plays for nodes, Pods, claims and volumes.
const STAGES: &str = include_str!("../controlplane/kwok/stages.yaml");

/// The audit policy. The level `Metadata` has user, verb, target and response code, which the suites use. The bodies of Leases show
/// who takes and who releases the lead.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Request, verbs: [create, update], resources: [{group: coordination.k8s.io, resources: [leases]}]}
- {level: Metadata}
";

/// Returns the command that starts etcd.
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
        // A plane never outlives its process, so its data doesn't have to survive a power loss.
        "--unsafe-no-fsync".into(),
    ]);
    command
}

/// Returns the command that starts kube-apiserver, with an audit log and RBAC. `more` are further flags.
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
        // The loopback address is not a valid endpoint of the Service `kubernetes`.
        flag("endpoint-reconciler-type", "none"),
        // The name of a node is not resolvable.
        flag("kubelet-preferred-address-types", "InternalIP"),
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
        // The file is not rotated, since the harness reads it while it grows.
        flag("audit-log-maxsize", "0"),
        flag("v", "1"),
    ]);
    command.args(more);
    command
}

/// Returns the command that starts kube-controller-manager, with faster controllers than usual, since tests wait for them. The controllers
/// are those of the options; by default all in a cluster, and all that need no machines on a control plane.
pub(crate) fn controller_manager(
    binaries: &Binaries,
    folder: &Path,
    authority: &Authority,
    options: &Options,
) -> Command {
    let usual = if options.form == Form::Cluster { "*" } else { WITHOUT_MACHINES };
    let mut command = binaries.command("kube-controller-manager");
    command.args([
        flag("kubeconfig", authority.user(CONTROLLERS).kubeconfig()),
        flag("controllers", options.controllers.as_deref().unwrap_or(usual)),
        flag("leader-elect", "false"),
        flag("secure-port", "0"),
        flag("cert-dir", folder),
        flag("root-ca-file", authority.path("ca.crt")),
        flag("service-account-private-key-file", authority.path("accounts.key")),
        // More requests and more workers than by default.
        flag("kube-api-qps", "2000"),
        flag("kube-api-burst", "4000"),
        flag("concurrent-deployment-syncs", "20"),
        flag("concurrent-replicaset-syncs", "20"),
        flag("concurrent-namespace-syncs", "20"),
        flag("v", "1"),
    ]);
    command.args(&options.controller_manager_flags);
    command
}

/// Returns the command that starts kube-scheduler. It is the only one of its cluster, so it needs no leader election.
pub(crate) fn scheduler(binaries: &Binaries, authority: &Authority) -> Command {
    let mut command = binaries.command("kube-scheduler");
    command.args([
        flag("kubeconfig", authority.user(SCHEDULER).kubeconfig()),
        flag("leader-elect", "false"),
        flag("secure-port", "0"),
        flag("v", "1"),
    ]);
    command
}

/// Writes the configuration of a kwok that simulates the kubelet of one node, and returns the command that starts it. Only the kwok of the
/// first node gets ports (`first`): it also provisions volumes, and serves port forwarding to Pods.
pub(crate) fn kwok(
    binaries: &Binaries,
    folder: &Path,
    authority: &Authority,
    node: &str,
    first: Option<Ports>,
) -> Command {
    let config = folder.join(format!("{node}.kwok.yaml"));
    let text =
        first.map_or_else(stages_without_volumes, |ports| format!("{STAGES}\n---\n{}", forward_to(ports.forwarded)));
    std::fs::write(&config, text).unwrap_or_else(|error| panic!("{} can't be written: {error}", config.display()));
    let mut command = binaries.command("kwok");
    command.args([
        flag("kubeconfig", authority.user(KUBELET).kubeconfig()),
        flag("config", config),
        flag("manage-single-node", node),
        flag("node-lease-duration-seconds", "40"),
        flag("node-ip", "127.0.0.1"),
        // Enough addresses for the Pods of a test.
        flag("cidr", "10.0.0.1/16"),
    ]);
    if let Some(ports) = first {
        command.args([
            flag("server-address", format!("127.0.0.1:{}", ports.node)),
            flag("node-port", ports.node.to_string()),
            flag("tls-cert-file", authority.path("apiserver.crt")),
            flag("tls-private-key-file", authority.path("apiserver.key")),
        ]);
    }
    // Otherwise kwok would read a configuration from the home folder of the user.
    command.env("HOME", folder);
    command
}

/// Returns the stages (kwok's rules for the status of simulated objects) of nodes and Pods, without those of volumes and claims.
fn stages_without_volumes() -> String {
    let stages = STAGES.split("\n---\n").filter(|stage| !stage.contains("kind: PersistentVolume"));
    stages.collect::<Vec<_>>().join("\n---\n")
}

/// Returns the object that makes kwok forward each connection to a Pod to a port of this machine.
fn forward_to(port: u16) -> String {
    format!(
        "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterPortForward\nmetadata: {{name: to-the-machine}}\n\
         spec: {{forwards: [{{target: {{address: 127.0.0.1, port: {port}}}}}]}}\n"
    )
}

pub(crate) fn audit_log(folder: &Path) -> std::path::PathBuf {
    folder.join("audit.log")
}

pub(crate) fn loopback(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// Returns the argument `--<name>=<value>`. The value may be a path that is no Unicode text.
fn flag(name: &str, value: impl AsRef<std::ffi::OsStr>) -> OsString {
    let mut flag = OsString::from(format!("--{name}="));
    flag.push(value);
    flag
}
