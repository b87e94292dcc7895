//! A control plane to test against: the real one, or the sandbox in its place.

use std::{
    path::Path,
    sync::{
        OnceLock,
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
    Access, Entries,
    audit::Log,
    binaries::{Binaries, Missing, find, planes_folder},
    credentials::{ADMIN, AUDITOR, Authority},
    folder::Folder,
    port::Port,
    server, wait,
};

pub use form::{Form, PLANE};

use self::{house::House, programs::Programs};

mod form;
mod house;
mod outage;
mod programs;

/// What a plane is to be like.
#[derive(Clone, Debug)]
pub struct Options {
    /// What plays the cluster; by default what the environment chooses.
    pub form: Form,
    /// Whether Pods become ready; with `false` they stay pending for ever, and in the sandbox there are none.
    pub kubelet: bool,
    /// More flags for kube-apiserver, for example `--watch-cache=false`. The sandbox knows those that have a counterpart.
    pub apiserver_flags: Vec<String>,
    /// Which controllers run, as kube-controller-manager's flag has them; without, all that need no machine.
    pub controllers: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { form: Form::chosen(), kubelet: true, apiserver_flags: Vec::new(), controllers: None }
    }
}

/// A control plane of one's own on loopback ports, with RBAC on. Dropping it stops everything and removes its data.
#[derive(Debug)]
pub struct Plane {
    // Dropped in this order: the servers before their data.
    server: Server,
    admin: Access,
    auditor: Access,
    authority: Authority,
    log: Log,
    binaries: OnceLock<Binaries>,
    options: Options,
    _reserved: Port,
    names: AtomicU32,
    folder: Folder,
}

#[derive(Debug)]
// A plane has one of them, so their sizes do not matter.
#[allow(clippy::large_enum_variant)]
enum Server {
    Programs(Programs),
    House(House),
}

impl Plane {
    /// Starts one; ready when `/readyz` is, and the `default` namespace has its ServiceAccount.
    ///
    /// # Errors
    /// [`Missing`], if the programs are neither here nor can be built. The sandbox needs none.
    ///
    /// # Panics
    /// With the end of a server's log, if that server ends or is not ready in time.
    pub async fn start(options: Options) -> Result<Self, Missing> {
        let folder = Folder::new(&planes_folder());
        let api = Port::reserve();
        let authority = Authority::new(folder.path(), api.number);
        let server = match options.form {
            Form::ControlPlane => Server::Programs(Programs::start(&folder, api.number).await?),
            Form::Sandbox => Server::House(House::start(&folder, api.number, &authority, &options)),
        };
        let plane = Self {
            server,
            admin: authority.user(ADMIN),
            auditor: authority.user(AUDITOR),
            log: Log::new(&server::audit_log(folder.path())),
            authority,
            binaries: OnceLock::new(),
            options,
            _reserved: api,
            names: AtomicU32::new(0),
            folder,
        };
        plane.start_apiserver().await;
        if let Server::Programs(programs) = &plane.server {
            programs.start_controller_manager(&plane.folder, &plane.authority, &plane.options);
            if plane.options.kubelet {
                programs.start_kubelet(&plane.authority);
            }
        }
        plane.account_exists("default", "default").await;
        Ok(plane)
    }

    /// What plays the cluster.
    pub fn form(&self) -> Form {
        self.options.form
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

    /// Starts kube-controller-manager anew. Its garbage collector looks for new kinds every 30 s only, and at its start;
    /// that of the sandbox knows them at once.
    pub fn restart_controller_manager(&self) {
        if let Server::Programs(programs) = &self.server {
            programs.start_controller_manager(&self.folder, &self.authority, &self.options);
        }
    }

    /// The ids of the processes that run for this plane, by name; a sandbox has none.
    pub fn processes(&self) -> Vec<(&'static str, u32)> {
        match &self.server {
            Server::Programs(programs) => programs.processes(),
            Server::House(_) => Vec::new(),
        }
    }

    /// The folder of this plane: logs, kubeconfigs, room for files of a test. Removed on drop.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The programs of Kubernetes, kubectl among them.
    ///
    /// # Panics
    /// Where they are neither here nor can be built.
    pub fn binaries(&self) -> &Binaries {
        self.binaries.get_or_init(|| find().unwrap_or_else(|missing| panic!("this case needs kubectl, but {missing}")))
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

    fn check_servers(&self) {
        if let Server::Programs(programs) = &self.server {
            programs.check();
        }
    }
}
