//! The API server as a value.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http::{Method, Request, Response};

use crate::{
    admission::Admission,
    answer::{Answer, Body, Content},
    audit::{Audit, Record},
    authentication::{self, Authentication},
    authorization::Policies,
    bootstrap,
    call::{Call, Verb},
    controller::{self, Controllers},
    environment::Environment,
    failure::Failure,
    fault::EventSeen,
    kind::Registry,
    store::Store,
    user::User,
    verb, webhook,
};

/// How many changes of each kind a watch can go back.
const HISTORY: usize = 4096;

/// An API server in the process. Clones are of the same one; the last one ends it.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub(crate) server: Arc<Server>,
    _controllers: Arc<Controllers>,
}

/// What the rooms of the sandbox work on.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) environment: Environment,
    pub(crate) store: Arc<Store>,
    pub(crate) kinds: Registry,
    pub(crate) authentication: Authentication,
    pub(crate) policies: Policies,
    pub(crate) options: Options,
    pub(crate) audit: Audit,
    pub(crate) admission: Admission,
    pub(crate) webhooks: webhook::Doors,
    /// The certificates, as PEM, by which clients trust it where it listens.
    authorities: Mutex<String>,
}

/// What the sandbox is to be like.
#[derive(Debug)]
pub(crate) struct Options {
    /// Whether Deployments, Jobs and Pods come to life.
    pub(crate) workloads: bool,
    /// Whether `blockOwnerDeletion` needs a right on the owner (`OwnerReferencesPermissionEnforcement`).
    pub(crate) owner_permissions: bool,
}

/// Builds a [`Sandbox`].
#[derive(Debug)]
pub struct Builder {
    seed: Option<u64>,
    history: usize,
    options: Options,
    audit: Audit,
    authentication: Authentication,
    webhooks: webhook::Doors,
}

impl Sandbox {
    /// A new one, empty but for what every cluster has: namespaces and default roles.
    ///
    /// # Panics
    /// Outside a tokio runtime: its controllers live there.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().start()
    }

    /// One with choices.
    #[must_use]
    pub fn builder() -> Builder {
        let options = Options { workloads: false, owner_permissions: false };
        Builder {
            seed: None,
            history: HISTORY,
            options,
            audit: Audit::default(),
            authentication: Authentication::default(),
            webhooks: webhook::Doors::default(),
        }
    }

    /// Answers a request of a user.
    pub async fn call(&self, user: User, request: Request<Bytes>) -> Response<Body> {
        let bodiless = request.method() == Method::HEAD;
        let mut answer = self.server.answer(user, request).await;
        if bodiless {
            answer.content = Content::Whole(Bytes::new());
        }
        answer.into_response()
    }

    /// A client with all rights.
    #[cfg(feature = "client")]
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.client_of(User::admin("admin"))
    }

    /// A client with the rights of a user. Its default namespace is that of a ServiceAccount, else `default`.
    #[cfg(feature = "client")]
    #[must_use]
    pub fn client_of(&self, user: User) -> kube::Client {
        crate::client::client(self.clone(), user)
    }

    /// The time, as this server takes it: it moves with tokio's clock.
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        self.server.environment.now()
    }

    /// A client with the rights of a user whose calls pass through [`Faults`](crate::fault::Faults), as the next life of
    /// whoever calls there: the clients before it are answered nothing any more.
    #[cfg(feature = "client")]
    #[must_use]
    pub fn client_through(&self, user: User, faults: &crate::fault::Faults) -> kube::Client {
        crate::client::client_through(self.clone(), user, faults)
    }

    /// Forgets the history: a watch from an older version is told 410.
    pub fn compact(&self) {
        self.server.store.compact();
    }
}

impl Sandbox {
    /// Writes the rest to the [file](Builder::open) and closes it, so that another may have it. What is written by clones
    /// of this one after that is refused. The last clone does it, too, but not before its controllers have let go.
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
    /// Time starts at 2026-01-01T00:00:00Z, uids and names follow from the seed. Without one they are the machine's.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// How many changes of each kind a watch can go back; 4096 by default.
    #[must_use]
    pub fn history(mut self, changes: usize) -> Self {
        self.history = changes;
        self
    }

    /// Whether Deployments, StatefulSets, Jobs and Pods come to life; off by default.
    #[must_use]
    pub fn workloads(mut self, on: bool) -> Self {
        self.options.workloads = on;
        self
    }

    /// Whether setting `blockOwnerDeletion` needs the right to update the owner's finalizers; off by default, as in Kubernetes.
    #[must_use]
    pub fn owner_permissions(mut self, on: bool) -> Self {
        self.options.owner_permissions = on;
        self
    }

    /// Who is told of each request after it was answered.
    #[must_use]
    pub fn audit(mut self, told: impl Fn(&Record) + Send + Sync + 'static) -> Self {
        self.audit.told = Some(Box::new(told));
        self
    }

    /// Who is told of each event of a watch as it goes out, with the request that began the watch; the event's own numbers
    /// are 0. Bookmarks are no events.
    #[must_use]
    pub fn events(mut self, told: impl Fn(&Record, EventSeen) + Send + Sync + 'static) -> Self {
        self.audit.event_told = Some(Arc::new(told));
        self
    }

    /// A user who is known by a bearer token.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>, user: User) -> Self {
        self.authentication.know(token.into(), user);
        self
    }

    /// Where the Pods of a Service listen; webhooks are called there.
    #[must_use]
    pub fn service(mut self, namespace: &str, name: &str, address: std::net::SocketAddr) -> Self {
        self.webhooks.add_service(namespace, name, address);
        self
    }

    /// Answers calls to webhooks without a socket: those to URLs that begin so. A Service is
    /// `https://NAME.NAMESPACE.svc:PORT`.
    #[must_use]
    pub fn webhook<F>(mut self, url: &str, answer: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Bytes>> + Send + 'static,
    {
        self.webhooks.add_stand_in(url, answer);
        self
    }

    /// Starts it on the current tokio runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn start(self) -> Sandbox {
        let store = Store::new(self.history);
        self.start_with(store)
    }

    /// Starts it with what a file holds, and keeps everything there, too: the objects, and the key that signs the tokens of
    /// ServiceAccounts, unless a seed says which one it is. Only one sandbox can have a file at a time.
    ///
    /// # Errors
    /// If the file is another's, or no data file, or can't be written.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open(mut self, file: impl AsRef<Path>) -> io::Result<Sandbox> {
        let store = Store::new(self.history);
        let key = store.keep(file.as_ref(), || Authentication::fresh_key().map_err(io::Error::other))?;
        if self.seed.is_none() {
            self.authentication.keep(&key).map_err(io::Error::other)?;
        }
        Ok(self.start_with(store))
    }

    pub(crate) fn start_with(self, store: Store) -> Sandbox {
        let store = Arc::new(store);
        let server = Arc::new(Server {
            environment: Environment::new(self.seed),
            authentication: self.authentication,
            policies: Policies::new(&store),
            store,
            kinds: Registry::default(),
            options: self.options,
            audit: self.audit,
            admission: Admission::default(),
            webhooks: self.webhooks,
            authorities: Mutex::default(),
        });
        bootstrap::fill(&server);
        let controllers = controller::start(&server);
        Sandbox { server, _controllers: Arc::new(controllers) }
    }
}

impl Server {
    /// The certificates by which it is trusted; none of a sandbox that never listened.
    pub(crate) fn authorities(&self) -> String {
        self.authorities.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds one, and gives all.
    pub(crate) fn trust(&self, authority: &str) -> String {
        let mut authorities = self.authorities.lock().unwrap_or_else(PoisonError::into_inner);
        authorities.push_str(authority);
        authorities.clone()
    }

    pub(crate) async fn answer(&self, user: User, request: Request<Bytes>) -> Answer {
        let wanted = authentication::Wanted::of(request.headers());
        let mut call = match Call::new(user, request) {
            Ok(call) => call,
            Err(failure) => return failure.into(),
        };
        let answer = match authentication::impersonate(self, &mut call, wanted) {
            Ok(()) => verb::answer(self, &call).await.unwrap_or_else(Answer::from),
            Err(failure) => failure.into(),
        };
        let answer = answer.formed(&call);
        // What a read has seen is in the file as well before it is told; a watch waits for each of its events.
        let answer = if call.verb == Verb::Watch || self.store.settled().await {
            answer
        } else {
            Failure::internal("the data file can't be written").into()
        };
        self.audit.record(&call, &answer);
        self.audit.overheard(&call, answer)
    }
}
