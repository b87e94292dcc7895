//! `Sandbox`: the in-process Kubernetes API server, and its builder.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Method, Request, Response};

use crate::{
    admission::AdmissionCache,
    audit::{Audit, Record},
    authentication::Authentication,
    authorization::RbacCache,
    bootstrap,
    controller::{self, Controllers},
    environment::{Clock, Environment},
    fault::{ObservedEvent, ObservedWebhookCall, WebhookFault},
    kind::Registry,
    response::{Body, Content},
    server::{Server, ServerOptions},
    store::Store,
    user::User,
    webhook,
};

/// The number of changes of each kind that a watch can start from.
const HISTORY: usize = 4096;

/// An API server in the process. Clones share it; dropping the last one ends it.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub(crate) server: Arc<Server>,
    _controllers: Arc<Controllers>,
}

/// Builds a [`Sandbox`].
#[derive(Debug)]
pub struct Builder {
    seed: Option<u64>,
    history: usize,
    options: ServerOptions,
    audit: Audit,
    authentication: Authentication,
    webhooks: webhook::WebhookRoutes,
    /// The objects of a backup, and the clock of the sandbox that had them.
    restored: Option<(Store, Clock)>,
}

impl Sandbox {
    /// Starts a sandbox with the initial objects of every cluster: namespaces and default roles.
    ///
    /// # Panics
    /// Outside a tokio runtime: its controllers run there.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().start()
    }

    /// Returns a builder for a sandbox with options.
    #[must_use]
    pub fn builder() -> Builder {
        let options = ServerOptions { workloads: false, cd_systems: false, owner_permissions: false };
        Builder {
            seed: None,
            history: HISTORY,
            options,
            audit: Audit::default(),
            authentication: Authentication::default(),
            webhooks: webhook::WebhookRoutes::default(),
            restored: None,
        }
    }

    /// Handles a request of a user, and returns the response. The response to a HEAD request has no body.
    pub async fn call(&self, user: User, request: Request<Bytes>) -> Response<Body> {
        let is_head = request.method() == Method::HEAD;
        let mut response = self.server.answer(user, request).await;
        if is_head {
            response.content = Content::Whole(Bytes::new());
        }
        response.into_response()
    }

    /// Returns the current time of the server, which moves with tokio's clock.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        self.server.environment.now()
    }

    /// Drops the history of changes, as a compaction of etcd: a watch from an older `resourceVersion` gets 410.
    pub fn compact(&self) {
        self.server.store.compact();
    }
}

impl Sandbox {
    /// Writes all changes to the [file](Builder::open) and closes it, so that another sandbox can open it. Later writes by
    /// clones of this sandbox fail. Dropping the last clone closes the file, too, but only after its controllers have ended.
    pub fn close(self) {
        self.server.store.close();
    }
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Derives time, uids and generated names from a seed; time starts at 2026-01-01T00:00:00Z. Default: the clock and the
    /// random numbers of the machine.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the number of changes of each kind that a watch can start from. Default: 4096.
    #[must_use]
    pub fn history(mut self, changes: usize) -> Self {
        self.history = changes;
        self
    }

    /// Sets whether the workload controllers, a scheduler and a kubelet run. Default: off.
    #[must_use]
    pub fn workloads(mut self, on: bool) -> Self {
        self.options.workloads = on;
        self
    }

    /// Sets whether Argo CD, Flux and an operator with Helm are simulated: their kinds exist, and applications are deployed as a
    /// ConfigMap each. Default: off.
    #[must_use]
    pub fn cd_systems(mut self, on: bool) -> Self {
        self.options.cd_systems = on;
        self
    }

    /// Sets whether setting `blockOwnerDeletion` needs the right to update the owner's finalizers. Default: off, as in
    /// Kubernetes.
    #[must_use]
    pub fn owner_permissions(mut self, on: bool) -> Self {
        self.options.owner_permissions = on;
        self
    }

    /// Sets a function that is called after each request.
    #[must_use]
    pub fn audit(mut self, observe: impl Fn(&Record) + Send + Sync + 'static) -> Self {
        self.audit.observer = Some(Box::new(observe));
        self
    }

    /// Sets a function that is called for each watch event, with the request of its watch. The numbers in the event are
    /// 0. Bookmarks do not count as events.
    #[must_use]
    pub fn events(mut self, observe: impl Fn(&Record, ObservedEvent) + Send + Sync + 'static) -> Self {
        self.audit.event_observer = Some(Arc::new(observe));
        self
    }

    /// Adds a user with a bearer token.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>, user: User) -> Self {
        self.authentication.add_user(token.into(), user);
        self
    }

    /// Sets the address at which webhooks of a Service are called.
    #[must_use]
    pub fn service(mut self, namespace: &str, name: &str, address: std::net::SocketAddr) -> Self {
        self.webhooks.add_service(namespace, name, address);
        self
    }

    /// Handles webhook calls to URLs with this prefix in the process, without a socket. The URL of a Service is
    /// `https://NAME.NAMESPACE.svc:PORT`.
    #[must_use]
    pub fn webhook<F>(mut self, url: &str, answer: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Bytes>> + Send + 'static,
    {
        self.webhooks.add_handler(url, answer);
        self
    }

    /// Sets a function that chooses the fault of each webhook call. The number in the call is 0.
    #[must_use]
    pub fn webhook_faults(
        mut self,
        choose: impl Fn(ObservedWebhookCall) -> Option<WebhookFault> + Send + Sync + 'static,
    ) -> Self {
        self.webhooks.set_fault_chooser(choose);
        self
    }

    /// Begins with the objects that another sandbox had at a `resourceVersion`, and with the clock of that sandbox, like a cluster that is
    /// restored from a backup. Versions continue after `latest` (or after `version`, if that is higher). There is no history: a watch from
    /// an earlier version gets 410. The seed must differ from the seed of the other sandbox; otherwise new objects get UIDs that the other
    /// sandbox has used. Returns `None` if the history of the other sandbox does not reach back to the version.
    #[must_use]
    pub fn restored(mut self, other: &Sandbox, version: u64, latest: u64) -> Option<Self> {
        let store = other.server.store.restored(version, latest.max(version)).ok()?;
        self.restored = Some((store, other.server.environment.clock()));
        Some(self)
    }

    /// Starts the sandbox on the current tokio runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn start(mut self) -> Sandbox {
        let Some((store, clock)) = self.restored.take() else {
            let store = Store::new(self.history);
            return self.start_with(store);
        };
        let environment = Environment::new(self.seed).with_clock(clock);
        self.start_in(environment, store)
    }

    /// Starts the sandbox with the contents of a data file and persists all changes there: the objects, and the key that
    /// signs ServiceAccount tokens unless a seed determines it. Only one sandbox can open a file at a time.
    ///
    /// # Errors
    /// If another sandbox has the file open, if it is no data file, or if it cannot be written.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open(mut self, file: impl AsRef<Path>) -> io::Result<Sandbox> {
        let store = Store::new(self.history);
        let key = store.open_file(file.as_ref(), || Authentication::generate_key().map_err(io::Error::other))?;
        if self.seed.is_none() {
            self.authentication.set_key(&key).map_err(io::Error::other)?;
        }
        Ok(self.start_with(store))
    }

    /// Starts the sandbox with a store and a new clock: creates the missing objects of a new cluster and starts the
    /// controllers.
    pub(crate) fn start_with(self, store: Store) -> Sandbox {
        let environment = Environment::new(self.seed);
        self.start_in(environment, store)
    }

    /// Starts the sandbox with a store, a clock and random numbers: creates the missing objects of a new cluster and starts
    /// the controllers.
    fn start_in(self, environment: Environment, store: Store) -> Sandbox {
        let store = Arc::new(store);
        let server = Arc::new(Server {
            environment,
            authentication: self.authentication,
            policies: RbacCache::new(&store),
            store,
            kinds: Registry::default(),
            options: self.options,
            audit: self.audit,
            admission: AdmissionCache::default(),
            webhooks: self.webhooks,
            authorities: Mutex::default(),
        });
        bootstrap::fill(&server);
        let controllers = controller::start(&server);
        Sandbox { server, _controllers: Arc::new(controllers) }
    }
}
