//! Runs the processes of a control plane or cluster: etcd, the servers of Kubernetes, and a simulated kubelet or kwok.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kube::{Client, Config};

use super::{form::Form, options::Options};
use crate::{
    Process,
    binaries::{Binaries, Missing, find},
    credentials::{Authority, KUBELET},
    folder::Folder,
    kubelet::Kubelet,
    port::Port,
    server::{self, Ports},
};

/// The running programs of a plane.
#[derive(Debug)]
pub(super) struct Programs {
    // The fields are dropped in this order: the clients before the servers.
    kubelet: Mutex<Option<Kubelet>>,
    servers: Mutex<Servers>,
    binaries: Binaries,
    ports: Ports,
    _reserved: [Port; 4],
}

#[derive(Debug)]
struct Servers {
    /// The kwok process of each node, by the name of the node.
    nodes: BTreeMap<String, Process>,
    scheduler: Option<Process>,
    controller_manager: Option<Process>,
    apiserver: Option<Process>,
    etcd: Process,
}

impl Programs {
    /// Finds or builds the programs, reserves their ports, and starts etcd only. `api` is the port that is reserved for the API server.
    pub(super) async fn start(form: Form, folder: &Folder, api: u16) -> Result<Self, Missing> {
        // The first call may build the programs, which takes minutes.
        let binaries = tokio::task::spawn_blocking(move || find(form)).await.expect("the search for the programs")?;
        let reserved = [(); 4].map(|()| Port::reserve());
        let [etcd, peer, node, forwarded] = reserved.each_ref().map(|port| port.number);
        let ports = Ports { etcd, peer, api, node, forwarded };
        let etcd = server::etcd(&binaries, folder.path(), ports);
        let etcd = Process::spawn("etcd", etcd, &folder.path().join("etcd.log"));
        let nodes = BTreeMap::new();
        let servers = Mutex::new(Servers { nodes, scheduler: None, controller_manager: None, apiserver: None, etcd });
        Ok(Self { kubelet: Mutex::default(), servers, binaries, ports, _reserved: reserved })
    }

    /// Starts kube-apiserver, and keeps its process in place of one that has ended.
    pub(super) fn start_apiserver(&self, folder: &Folder, authority: &Authority, options: &Options) {
        let flags = &options.apiserver_flags;
        let command = server::apiserver(&self.binaries, folder.path(), self.ports, authority, flags);
        let log = folder.path().join("kube-apiserver.log");
        self.servers().apiserver = Some(Process::spawn("kube-apiserver", command, &log));
    }

    pub(super) fn stop_apiserver(&self) {
        self.servers().apiserver = None;
    }

    /// Kills kube-controller-manager if it runs, and starts it.
    pub(super) fn start_controller_manager(&self, folder: &Folder, authority: &Authority, options: &Options) {
        let command = server::controller_manager(&self.binaries, folder.path(), authority, options);
        let log = folder.path().join("kube-controller-manager.log");
        let mut servers = self.servers();
        // The drop of the old process kills it and waits for its end.
        servers.controller_manager = None;
        servers.controller_manager = Some(Process::spawn("kube-controller-manager", command, &log));
    }

    pub(super) fn stop_controller_manager(&self) {
        self.servers().controller_manager = None;
    }

    /// Starts kube-scheduler, and keeps its process in place of one that has ended.
    pub(super) fn start_scheduler(&self, folder: &Folder, authority: &Authority) {
        let command = server::scheduler(&self.binaries, authority);
        let log = folder.path().join("kube-scheduler.log");
        self.servers().scheduler = Some(Process::spawn("kube-scheduler", command, &log));
    }

    /// Starts a process of kwok that simulates the kubelet of one node. Only the kwok of the first node gets ports: it also provisions the
    /// volumes of the cluster, and forwards connections to Pods.
    pub(super) fn start_node(&self, folder: &Folder, authority: &Authority, node: &str, is_first: bool) {
        let ports = is_first.then_some(self.ports);
        let command = server::kwok(&self.binaries, folder.path(), authority, node, ports);
        let log = folder.path().join(format!("kwok-{node}.log"));
        self.servers().nodes.insert(node.to_owned(), Process::spawn("kwok", command, &log));
    }

    /// Returns the port to which connections to Pods are forwarded.
    pub(super) fn forwarded_port(&self) -> u16 {
        self.ports.forwarded
    }

    pub(super) fn stop_node(&self, node: &str) {
        let stopped = self.servers().nodes.remove(node);
        assert!(stopped.is_some(), "there is no node `{node}`");
    }

    pub(super) fn start_kubelet(&self, authority: &Authority) {
        let kubelet = Kubelet::start(&authority.user(KUBELET));
        *self.kubelet.lock().unwrap_or_else(PoisonError::into_inner) = Some(kubelet);
    }

    /// Compacts the history of etcd up to now, by calls of its JSON gateway.
    pub(super) async fn compact(&self) {
        let client = Client::try_from(Config::new(server::loopback(self.ports.etcd).parse().expect("etcd's URL")));
        let client = client.expect("a client for etcd");
        // A write of a key that the API server doesn't read: its revision is newer than any that a client of the API server knows.
        let put: serde_json::Value = etcd_call(&client, "put", r#"{"key":"AA=="}"#).await;
        let revision = put["header"]["revision"].as_str().expect("etcd's revision").to_owned();
        let body = format!(r#"{{"revision":"{revision}","physical":true}}"#);
        let _: serde_json::Value = etcd_call(&client, "compaction", &body).await;
    }

    /// Returns the names and ids of the running processes.
    pub(super) fn processes(&self) -> Vec<(&'static str, u32)> {
        let servers = self.servers();
        let others = [
            ("kube-apiserver", &servers.apiserver),
            ("kube-controller-manager", &servers.controller_manager),
            ("kube-scheduler", &servers.scheduler),
        ];
        let others = others.into_iter().filter_map(|(name, process)| Some((name, process.as_ref()?.id())));
        let nodes = servers.nodes.values().map(|node| ("kwok", node.id()));
        [("etcd", servers.etcd.id())].into_iter().chain(others).chain(nodes).collect()
    }

    /// Returns the resident memory of all programs in KiB.
    pub(super) fn resident_kib(&self) -> u64 {
        self.servers().all().filter_map(|process| process.resident_kib()).sum()
    }

    /// Panics if a server has ended by itself. Only kube-scheduler is restarted, as a kubelet does: it ends when it finds a Pod
    /// on another node than it expected, which happens if one of its bindings is lost in an outage of the API server.
    pub(super) fn check(&self, folder: &Folder, authority: &Authority) {
        let ended = self.servers().scheduler.as_mut().and_then(Process::exited);
        if let Some(status) = ended {
            // The cluster course prints its progress, and the end of a program belongs to it.
            #[allow(clippy::print_stderr)]
            {
                eprintln!("kube-scheduler ended ({status}) and is started again");
            }
            self.start_scheduler(folder, authority);
        }
        for process in self.servers().all() {
            if let Some(status) = process.exited() {
                panic!("a server of the plane ended: {status}; {}", process.log_tail(20));
            }
        }
    }

    fn servers(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Servers {
    /// Iterates over the running processes.
    fn all(&mut self) -> impl Iterator<Item = &mut Process> {
        let Self { nodes, scheduler, controller_manager, apiserver, etcd } = self;
        let others = [Some(etcd), apiserver.as_mut(), controller_manager.as_mut(), scheduler.as_mut()];
        others.into_iter().flatten().chain(nodes.values_mut())
    }
}

/// Posts a JSON body to a call of etcd's key-value API, such as `put`, and returns the response.
async fn etcd_call(client: &Client, call: &str, body: &str) -> serde_json::Value {
    let request = http::Request::post(format!("/v3/kv/{call}")).body(body.as_bytes().to_vec()).expect("a request");
    client.request(request).await.unwrap_or_else(|error| panic!("etcd's {call} failed: {error}"))
}
