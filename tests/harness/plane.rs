//! A control plane to test against: the real one, alone or as a whole cluster, or the sandbox in its place.

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

use self::{house::House, inner::Inner, premises::Premises, programs::Programs};

mod cluster;
mod form;
mod house;
mod inner;
mod install;
mod options;
mod outage;
mod premises;
mod programs;

/// Makes names that no other test of this process has.
static NAMES: AtomicU32 = AtomicU32::new(0);

/// A control plane of one's own, with RBAC on; if it has ports, they are on the loopback address. Dropping it stops
/// everything and removes its data.
#[derive(Debug)]
pub struct Plane {
    // Dropped in this order: the servers before their data.
    server: Server,
    premises: Option<Premises>,
    admin: Access,
    binaries: OnceLock<Binaries>,
    options: Options,
}

#[derive(Debug)]
// A plane has one of them, so their sizes do not matter.
#[allow(clippy::large_enum_variant)]
enum Server {
    Programs(Programs),
    House(House),
    Inner(Inner),
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
        let plane = if options.is_inner() { Self::inner(options) } else { Self::on_a_port(options).await? };
        plane.account_exists("default", "default").await;
        Ok(plane)
    }

    /// The folder of this plane: logs, kubeconfigs, room for files of a test. Removed on drop.
    ///
    /// # Panics
    /// If the plane is not [served](Options::served).
    pub fn folder(&self) -> &Path {
        self.premises().folder.path()
    }

    fn premises(&self) -> &Premises {
        self.premises.as_ref().expect("a plane that is served: `case_served`, or `Options::served`")
    }

    fn inner(options: Options) -> Self {
        let inner = Inner::start(&options);
        Self { admin: inner.admin(), server: Server::Inner(inner), premises: None, binaries: OnceLock::new(), options }
    }

    async fn on_a_port(options: Options) -> Result<Self, Missing> {
        let premises = Premises::new();
        let (folder, port) = (&premises.folder, premises.port.number);
        let server = match options.form {
            form @ (Form::ControlPlane | Form::Cluster) => Server::Programs(Programs::start(form, folder, port).await?),
            Form::Sandbox => Server::House(House::start(folder, port, &premises.authority, &options)),
        };
        let admin = premises.authority.user(ADMIN);
        let plane = Self { server, premises: Some(premises), admin, binaries: OnceLock::new(), options };
        plane.start_apiserver().await;
        if let Server::Programs(programs) = &plane.server {
            let premises = plane.premises();
            programs.start_controller_manager(&premises.folder, &premises.authority, &plane.options);
            if plane.form() == Form::Cluster {
                plane.furnish().await;
            } else if plane.options.kubelet {
                programs.start_kubelet(&premises.authority);
            }
        }
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
    ///
    /// # Panics
    /// If the plane is not [served](Options::served).
    pub fn kubeconfig(&self) -> &Path {
        self.admin.kubeconfig()
    }

    /// The access of a ServiceAccount that exists, by a TokenRequest where there is a port: with the rights that RBAC gives it and no others.
    pub async fn account(&self, namespace: &str, name: &str) -> Access {
        self.account_exists(namespace, name).await;
        if let Server::Inner(inner) = &self.server {
            return inner.account(namespace, name);
        }
        let request = TokenRequest {
            metadata: ObjectMeta::default(),
            spec: Some(TokenRequestSpec { expiration_seconds: Some(24 * 3600), ..TokenRequestSpec::default() }),
            status: None,
        };
        let accounts = Api::<ServiceAccount>::namespaced(self.client(), namespace);
        let answer = accounts.create_token_request(name, &PostParams::default(), &request).await;
        let answer = answer.unwrap_or_else(|error| panic!("no token for {namespace}/{name}: {error}"));
        let token = answer.status.and_then(|status| status.token).expect("a token in the answer");
        self.premises().authority.access(&format!("system:serviceaccount:{namespace}:{name}"), &token, namespace)
    }

    /// A new namespace with a name that no other test has, and its `default` ServiceAccount.
    pub async fn namespace(&self, prefix: &str) -> String {
        let name = format!("{prefix}-{}", NAMES.fetch_add(1, Ordering::Relaxed));
        let metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        let made = Api::<Namespace>::all(self.client()).create(&PostParams::default(), &namespace).await;
        made.unwrap_or_else(|error| panic!("the namespace {name} can't be made: {error}"));
        self.account_exists(&name, "default").await;
        name
    }

    /// What the audit log says about every request that was answered before this call.
    pub async fn audit(&self) -> Entries {
        match &self.server {
            Server::Inner(inner) => inner.audit(),
            Server::Programs(_) | Server::House(_) => self.premises().audit().await,
        }
    }

    /// The time of the server: the machine's, or that of a sandbox in the runtime of its case.
    pub fn now(&self) -> Timestamp {
        match &self.server {
            Server::Inner(inner) => inner.sandbox.now(),
            Server::Programs(_) | Server::House(_) => Timestamp::now(),
        }
    }

    /// Starts kube-controller-manager anew. Its garbage collector looks for new kinds every 30 s only, and at its start;
    /// that of the sandbox knows them at once.
    pub fn restart_controller_manager(&self) {
        if let Server::Programs(programs) = &self.server {
            let premises = self.premises();
            programs.start_controller_manager(&premises.folder, &premises.authority, &self.options);
        }
    }

    /// The ids of the processes that run for this plane, by name; a sandbox has none.
    pub fn processes(&self) -> Vec<(&'static str, u32)> {
        match &self.server {
            Server::Programs(programs) => programs.processes(),
            Server::House(_) | Server::Inner(_) => Vec::new(),
        }
    }

    /// The last lines that a program of this plane has printed; of a sandbox nothing.
    pub fn log_tail(&self, program: &str, lines: usize) -> String {
        let Server::Programs(_) = &self.server else { return String::new() };
        let log = self.premises().folder.path().join(format!("{program}.log"));
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let all: Vec<_> = log.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// The programs of Kubernetes, kubectl among them.
    ///
    /// # Panics
    /// Where they are neither here nor can be built.
    pub fn binaries(&self) -> &Binaries {
        self.binaries.get_or_init(|| {
            find(self.form()).unwrap_or_else(|missing| panic!("this case needs kubectl, but {missing}"))
        })
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
            let premises = self.premises();
            programs.check(&premises.folder, &premises.authority);
        }
    }
}
