//! A real control plane: etcd, kube-apiserver, kube-controller-manager and a kubelet that only pretends.

use std::{
    path::Path,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{Namespace, ServiceAccount},
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};

use crate::{
    Access, Entries, Process,
    audit::Log,
    binaries::{Binaries, Missing, find, planes_folder},
    credentials::{ADMIN, AUDITOR, Authority, KUBELET},
    folder::Folder,
    kubelet::Kubelet,
    port::Port,
    server::{self, Ports},
    wait,
};

mod outage;

/// What a plane is to be like.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether Pods become ready; with `false` they stay pending for ever.
    pub kubelet: bool,
    /// More flags for kube-apiserver, for example `--watch-cache=false`.
    pub apiserver_flags: Vec<String>,
    /// Which controllers run, as kube-controller-manager's flag has them; without, all that need no machine.
    pub controllers: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { kubelet: true, apiserver_flags: Vec::new(), controllers: None }
    }
}

/// A control plane of one's own on loopback ports, with RBAC on. Dropping it stops everything and removes its data.
#[derive(Debug)]
pub struct Plane {
    // Dropped in this order: the clients before the servers, the servers before their data.
    kubelet: Option<Kubelet>,
    servers: Mutex<Servers>,
    admin: Access,
    auditor: Access,
    authority: Authority,
    log: Log,
    binaries: Binaries,
    options: Options,
    ports: Ports,
    _reserved: [Port; 3],
    names: AtomicU32,
    folder: Folder,
}

#[derive(Debug)]
struct Servers {
    controller_manager: Option<Process>,
    apiserver: Option<Process>,
    etcd: Process,
}

impl Plane {
    /// Starts one; ready when `/readyz` is, and the `default` namespace has its ServiceAccount.
    ///
    /// # Errors
    /// [`Missing`], if the programs are neither here nor can be built.
    ///
    /// # Panics
    /// With the end of a server's log, if that server ends or is not ready in time.
    pub async fn start(options: Options) -> Result<Self, Missing> {
        // The first call may build for minutes.
        let binaries = tokio::task::spawn_blocking(find).await.expect("the search for the programs")?;
        let folder = Folder::new(&planes_folder());
        let reserved = [(); 3].map(|()| Port::reserve());
        let [etcd, peer, api] = reserved.each_ref().map(|port| port.number);
        let ports = Ports { etcd, peer, api };
        let authority = Authority::new(folder.path(), ports.api);
        let etcd = server::etcd(&binaries, folder.path(), ports);
        let etcd = Process::spawn("etcd", etcd, &folder.path().join("etcd.log"));
        let mut plane = Self {
            kubelet: None,
            servers: Mutex::new(Servers { controller_manager: None, apiserver: None, etcd }),
            admin: authority.user(ADMIN),
            auditor: authority.user(AUDITOR),
            log: Log::new(&server::audit_log(folder.path())),
            authority,
            binaries,
            options,
            ports,
            _reserved: reserved,
            names: AtomicU32::new(0),
            folder,
        };
        plane.start_apiserver().await;
        plane.start_controller_manager();
        if plane.options.kubelet {
            plane.kubelet = Some(Kubelet::start(&plane.authority.user(KUBELET)));
        }
        plane.account_exists("default", "default").await;
        Ok(plane)
    }

    /// The access of a cluster administrator.
    pub fn admin(&self) -> &Access {
        &self.admin
    }

    /// A new client with all rights. It belongs to the tokio runtime in which it is made.
    pub fn client(&self) -> Client {
        self.admin.client()
    }

    /// The path of the administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        self.admin.kubeconfig()
    }

    /// The access of a ServiceAccount that exists, by a TokenRequest: with the rights that RBAC gives it and no others.
    pub async fn account(&self, namespace: &str, name: &str) -> Access {
        self.account_exists(namespace, name).await;
        let request = TokenRequest {
            metadata: ObjectMeta::default(),
            spec: Some(TokenRequestSpec { expiration_seconds: Some(24 * 3600), ..TokenRequestSpec::default() }),
            status: None,
        };
        let accounts = Api::<ServiceAccount>::namespaced(self.client(), namespace);
        let answer = accounts.create_token_request(name, &PostParams::default(), &request).await;
        let answer = answer.unwrap_or_else(|error| panic!("no token for {namespace}/{name}: {error}"));
        let token = answer.status.and_then(|status| status.token).expect("a token in the answer");
        self.authority.access(&format!("system:serviceaccount:{namespace}:{name}"), &token, namespace)
    }

    /// A new namespace with a name that no other test has, and its `default` ServiceAccount.
    pub async fn namespace(&self, prefix: &str) -> String {
        let name = format!("{prefix}-{}", self.names.fetch_add(1, Ordering::Relaxed));
        let metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        let made = Api::<Namespace>::all(self.client()).create(&PostParams::default(), &namespace).await;
        made.unwrap_or_else(|error| panic!("the namespace {name} can't be made: {error}"));
        self.account_exists(&name, "default").await;
        name
    }

    /// What the audit log says about every request that was answered before this call.
    pub async fn audit(&self) -> Entries {
        let marker = format!("marker-{}", self.names.fetch_add(1, Ordering::Relaxed));
        let namespaces = Api::<Namespace>::all(self.auditor.client());
        wait::until("the audit log has everything", wait::PATIENCE, async || {
            namespaces.get_opt(&marker).await.map_err(|error| error.to_string())?;
            self.log.has_marker(&marker).then_some(()).ok_or_else(|| format!("no {marker} in the log"))
        })
        .await;
        self.log.entries()
    }

    /// Starts kube-controller-manager anew. The garbage collector looks for new kinds every 30 s only, and at its start.
    pub fn restart_controller_manager(&self) {
        self.servers().controller_manager = None;
        self.start_controller_manager();
    }

    /// The ids of the processes that run for this plane, by name.
    pub fn processes(&self) -> Vec<(&'static str, u32)> {
        let servers = self.servers();
        let others = [("kube-apiserver", &servers.apiserver), ("kube-controller-manager", &servers.controller_manager)];
        let others = others.into_iter().filter_map(|(name, process)| Some((name, process.as_ref()?.id())));
        [("etcd", servers.etcd.id())].into_iter().chain(others).collect()
    }

    /// The folder of this plane: logs, kubeconfigs, room for files of a test. Removed on drop.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The programs it was started from.
    pub fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    fn start_controller_manager(&self) {
        let path = self.folder.path();
        let command =
            server::controller_manager(&self.binaries, path, &self.authority, self.options.controllers.as_deref());
        let log = path.join("kube-controller-manager.log");
        self.servers().controller_manager = Some(Process::spawn("kube-controller-manager", command, &log));
    }

    async fn account_exists(&self, namespace: &str, name: &str) {
        let accounts = Api::<ServiceAccount>::namespaced(self.client(), namespace);
        let what = format!("the ServiceAccount {namespace}/{name} exists");
        wait::until(what, wait::PATIENCE, async || {
            self.check_servers();
            let account = accounts.get_opt(name).await.map_err(|error| error.to_string())?;
            account.map(drop).ok_or_else(|| "it does not".to_owned())
        })
        .await;
    }

    fn servers(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A server that ended by itself will not get ready any more.
    fn check_servers(&self) {
        let Servers { controller_manager, apiserver, etcd } = &mut *self.servers();
        for process in [Some(etcd), apiserver.as_mut(), controller_manager.as_mut()].into_iter().flatten() {
            if let Some(status) = process.exited() {
                panic!("a server of the plane ended: {status}; {}", process.log_tail(20));
            }
        }
    }
}
