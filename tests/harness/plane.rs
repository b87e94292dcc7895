//! Defines `Plane`, the API server that a test runs against: a real control plane, a whole cluster, or the sandbox.

use std::{
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use k8s_openapi::{
    api::{
        authentication::v1::{TokenRequest, TokenRequestSpec},
        core::v1::{Namespace, ServiceAccount},
    },
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};

use crate::{
    Access, Entries,
    binaries::{Binaries, Missing, find},
    credentials::ADMIN,
    wait,
};

pub use form::{Form, PLANE};
pub use options::Options;

use self::{files::PlaneFiles, house::ServedSandbox, inner::Inner, programs::Programs};

mod cluster;
mod files;
mod form;
mod house;
mod inner;
mod install;
mod options;
mod outage;
mod programs;

/// A counter for names that are unique among the tests of this process.
static NAMES: AtomicU32 = AtomicU32::new(0);

/// A control plane with RBAC. Its ports, if it has any, are on the loopback address. Dropping it stops its servers and removes
/// its data.
#[derive(Debug)]
pub struct Plane {
    // The fields are dropped in this order: the servers before their data.
    server: Server,
    files: Option<PlaneFiles>,
    admin: Access,
    binaries: OnceLock<Binaries>,
    options: Options,
}

#[derive(Debug)]
// A plane has one server, so the sizes of the variants don't matter.
#[allow(clippy::large_enum_variant)]
enum Server {
    Programs(Programs),
    Sandbox(ServedSandbox),
    Inner(Inner),
}

impl Plane {
    /// Starts the API server of a test, a sandbox in this process or real servers, and waits until `/readyz` succeeds and the `default`
    /// namespace has its ServiceAccount.
    ///
    /// # Errors
    /// [`Missing`] if the programs don't exist and can't be built. The sandbox needs none.
    ///
    /// # Panics
    /// With the last lines of the log of a server, if it ends or is not ready in time.
    pub async fn start(options: Options) -> Result<Self, Missing> {
        let plane = if options.is_inner() { Self::inner(options) } else { Self::on_a_port(options).await? };
        plane.until_account_exists("default", "default").await;
        Ok(plane)
    }

    /// Returns the folder of this plane with logs, kubeconfigs and files of the test. It is removed on drop.
    ///
    /// # Panics
    /// If the plane is not [served](Options::served).
    pub fn folder(&self) -> &Path {
        self.files().folder.path()
    }

    fn files(&self) -> &PlaneFiles {
        self.files.as_ref().expect("a plane that is served: `case_served`, or `Options::served`")
    }

    /// Starts a sandbox inside this process, without a port.
    fn inner(options: Options) -> Self {
        let inner = Inner::start(&options);
        Self { admin: inner.admin(), server: Server::Inner(inner), files: None, binaries: OnceLock::new(), options }
    }

    /// Starts an API server that listens on a port: the sandbox, or etcd, kube-apiserver and kube-controller-manager. A cluster also gets a
    /// scheduler and nodes, and a control plane a simulated kubelet.
    async fn on_a_port(options: Options) -> Result<Self, Missing> {
        let files = PlaneFiles::new();
        let (folder, port) = (&files.folder, files.port.number);
        let server = match options.form {
            form @ (Form::ControlPlane | Form::Cluster) => Server::Programs(Programs::start(form, folder, port).await?),
            Form::Sandbox => Server::Sandbox(ServedSandbox::start(folder, port, &files.authority, &options)),
        };
        let admin = files.authority.user(ADMIN);
        let plane = Self { server, files: Some(files), admin, binaries: OnceLock::new(), options };
        plane.start_apiserver().await;
        if let Server::Programs(programs) = &plane.server {
            let files = plane.files();
            programs.start_controller_manager(&files.folder, &files.authority, &plane.options);
            if plane.form() == Form::Cluster {
                plane.set_up_cluster().await;
            } else if plane.options.kubelet {
                programs.start_kubelet(&files.authority);
            }
        }
        Ok(plane)
    }

    /// Returns the form of the plane.
    pub fn form(&self) -> Form {
        self.options.form
    }

    /// Returns the access of a cluster administrator.
    pub fn admin(&self) -> &Access {
        &self.admin
    }

    /// Returns a new client with all rights. It belongs to the current tokio runtime.
    pub fn client(&self) -> Client {
        self.admin.client()
    }

    /// Returns the path of the administrator's kubeconfig.
    ///
    /// # Panics
    /// If the plane is not [served](Options::served).
    pub fn kubeconfig(&self) -> &Path {
        self.admin.kubeconfig()
    }

    /// Waits until a ServiceAccount exists, and returns its access to the API server, with the rights that RBAC grants to it. The access
    /// has a token from a TokenRequest, which is valid for a day; a sandbox without a port needs no token.
    pub async fn service_account(&self, namespace: &str, name: &str) -> Access {
        self.until_account_exists(namespace, name).await;
        if let Server::Inner(inner) = &self.server {
            return inner.service_account(namespace, name);
        }
        let request = TokenRequest {
            metadata: ObjectMeta::default(),
            spec: Some(TokenRequestSpec { expiration_seconds: Some(24 * 3600), ..TokenRequestSpec::default() }),
            status: None,
        };
        let accounts = Api::<ServiceAccount>::namespaced(self.client(), namespace);
        let response = accounts.create_token_request(name, &PostParams::default(), &request).await;
        let response = response.unwrap_or_else(|error| panic!("no token for {namespace}/{name}: {error}"));
        let token = response.status.and_then(|status| status.token).expect("a token in the answer");
        self.files().authority.access(&format!("system:serviceaccount:{namespace}:{name}"), &token, namespace)
    }

    /// Creates a namespace with a unique name, and waits for its `default` ServiceAccount.
    pub async fn namespace(&self, prefix: &str) -> String {
        let name = format!("{prefix}-{}", NAMES.fetch_add(1, Ordering::Relaxed));
        let metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        let result = Api::<Namespace>::all(self.client()).create(&PostParams::default(), &namespace).await;
        result.unwrap_or_else(|error| panic!("the namespace {name} can't be created: {error}"));
        self.until_account_exists(&name, "default").await;
        name
    }

    /// Returns an entry for each request that the API server answered before this call, with its user, verb, target and response code.
    pub async fn audit(&self) -> Entries {
        match &self.server {
            Server::Inner(inner) => inner.audit(),
            Server::Programs(_) | Server::Sandbox(_) => self.files().audit().await,
        }
    }

    /// Returns the time by the clock of the API server: the clock of the machine, or for a sandbox without a port the clock of the sandbox,
    /// which moves with tokio's clock.
    pub fn now(&self) -> Timestamp {
        match &self.server {
            Server::Inner(inner) => inner.sandbox.now(),
            Server::Programs(_) | Server::Sandbox(_) => Timestamp::now(),
        }
    }

    /// Restarts kube-controller-manager, so that its garbage collector discovers new kinds now and not within 30 s. For a sandbox it does
    /// nothing, since the garbage collector of a sandbox knows new kinds at once.
    pub fn restart_controller_manager(&self) {
        if let Server::Programs(programs) = &self.server {
            let files = self.files();
            programs.start_controller_manager(&files.folder, &files.authority, &self.options);
        }
    }

    /// Returns the name and id of each process of a control plane or cluster; none for a sandbox.
    pub fn processes(&self) -> Vec<(&'static str, u32)> {
        match &self.server {
            Server::Programs(programs) => programs.processes(),
            Server::Sandbox(_) | Server::Inner(_) => Vec::new(),
        }
    }

    /// Returns the last lines of the output of a program, such as `kube-apiserver`; an empty text for a sandbox.
    pub fn log_tail(&self, program: &str, lines: usize) -> String {
        let Server::Programs(_) = &self.server else { return String::new() };
        let log = self.files().folder.path().join(format!("{program}.log"));
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let all: Vec<_> = log.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// Returns the folders of the programs of Kubernetes, including kubectl. The first call builds missing programs.
    ///
    /// # Panics
    /// If they don't exist and can't be built.
    pub fn binaries(&self) -> &Binaries {
        self.binaries.get_or_init(|| {
            find(self.form()).unwrap_or_else(|missing| panic!("this case needs kubectl, but {missing}"))
        })
    }

    /// Waits until a ServiceAccount exists, and panics at once if a server of the test has ended.
    async fn until_account_exists(&self, namespace: &str, name: &str) {
        let accounts = Api::<ServiceAccount>::namespaced(self.client(), namespace);
        let what = format!("the ServiceAccount {namespace}/{name} exists");
        wait::until(what, wait::PATIENCE, async || {
            self.check_servers();
            let account = accounts.get_opt(name).await.map_err(|error| error.to_string())?;
            account.map(drop).ok_or_else(|| "it does not".to_owned())
        })
        .await;
    }

    /// Panics with the last lines of its log if a server has ended.
    fn check_servers(&self) {
        if let Server::Programs(programs) = &self.server {
            let files = self.files();
            programs.check(&files.folder, &files.authority);
        }
    }
}
