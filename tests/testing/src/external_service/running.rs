//! `OperatorWithService`: starts an operator with a new simulated external service for each run of a test, injects events into the service,
//! and lists the things that the service stores as objects of a snapshot.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures::future::BoxFuture;
use opgen::{Operator, bucket::OpenBuckets, environment::Environment};
use opgen_sandbox::fault::Faults;
use serde::Serialize;
use serde_json::Value;

use super::{contents::ServiceContents, service::SimulatedService, settings::ServiceSettings};
use crate::{
    program::{run_operator, watched_namespace},
    service_event::ServiceEvent,
};

/// An operator that uses an external service, of which each run has a new one.
pub(crate) trait ProgramWithService: Send + Sync {
    /// Returns a new service for a run with a seed.
    fn start(&self, seed: u64) -> Arc<dyn RunningService>;

    /// Returns the events that can happen to the service between two calls.
    fn events(&self) -> Vec<ServiceEvent>;
}

/// The service of one run.
pub(crate) trait RunningService: Send + Sync {
    /// Starts a new process of the operator, whose calls to the service have the faults of the run. `buckets` opens the buckets (key-value
    /// stores) of its kinds; `None` if it has no kinds in buckets.
    fn run(
        &self,
        faults: &Faults,
        client: kube::Client,
        environment: Environment,
        buckets: Option<Arc<dyn OpenBuckets>>,
    ) -> BoxFuture<'static, Result<(), String>>;

    /// Returns the things as objects of a snapshot.
    fn objects(&self, manager: &str) -> Vec<Value>;

    /// Applies an event to all things, such as their deletion by another client; ignores the events of single calls.
    fn disturb(&self, event: ServiceEvent);

    /// Ends [`ServiceEvent::Quota`].
    fn restore_quota(&self);

    /// Returns the number of creations that the quota has rejected.
    fn refused_creations(&self) -> usize;

    /// Returns the number of things that another client has changed or deleted and the program has not repaired yet.
    fn unrepaired(&self) -> usize;

    /// Returns what the program did wrong so far: a second thing with a token that is in use, or an update that removed a foreign change.
    fn violations(&self) -> Vec<String>;
}

/// The function that builds an operator over its service.
type Build<T> = Arc<dyn Fn(SimulatedService<T>) -> Operator + Send + Sync>;

/// An operator over a [`SimulatedService`].
pub(crate) struct OperatorWithService<T> {
    settings: ServiceSettings<T>,
    build: Build<T>,
    /// The namespace that the operator watches; `None` for all.
    namespace: OnceLock<Option<String>>,
}

impl<T: Clone + Serialize + Send + 'static> OperatorWithService<T> {
    pub(crate) fn new(settings: ServiceSettings<T>, build: Build<T>) -> Self {
        Self { settings, build, namespace: OnceLock::new() }
    }
}

impl<T: Clone + Serialize + Send + Sync + 'static> ProgramWithService for OperatorWithService<T> {
    /// Returns a new service with only the existing things of the settings. Builds an operator once to find the namespace that it watches.
    fn start(&self, seed: u64) -> Arc<dyn RunningService> {
        let operator = || (self.build)(SimulatedService::new(self.settings.clone()));
        let namespace = self.namespace.get_or_init(|| watched_namespace(&operator()));
        let contents = ServiceContents::new(self.settings.clone(), seed);
        Arc::new(ServiceRun {
            contents: Arc::new(Mutex::new(contents)),
            path: self.settings.path().into(),
            build: self.build.clone(),
            namespace: namespace.clone(),
        })
    }

    /// Returns the events that concern all things, as far as the settings define how another client changes things.
    fn events(&self) -> Vec<ServiceEvent> {
        let mut events = vec![ServiceEvent::Loss, ServiceEvent::Quota];
        if self.settings.drift.is_some() {
            events.push(ServiceEvent::Drift);
            events.extend(self.settings.foreign_change.as_ref().map(|_| ServiceEvent::ForeignChange));
        }
        events
    }
}

/// The service of one run.
struct ServiceRun<T> {
    contents: Arc<Mutex<ServiceContents<T>>>,
    path: Arc<str>,
    build: Build<T>,
    namespace: Option<String>,
}

impl<T> ServiceRun<T> {
    fn contents(&self) -> MutexGuard<'_, ServiceContents<T>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone + Serialize + Send + 'static> RunningService for ServiceRun<T> {
    /// Builds an operator with a handle of the service, whose calls have the faults, and with the buckets, and runs it.
    fn run(
        &self,
        faults: &Faults,
        client: kube::Client,
        environment: Environment,
        buckets: Option<Arc<dyn OpenBuckets>>,
    ) -> BoxFuture<'static, Result<(), String>> {
        let service = SimulatedService::attached((self.contents.clone(), self.path.clone()), faults);
        // Adds the buckets to the operator if there are any.
        let operator = buckets.into_iter().fold((self.build)(service), Operator::buckets);
        run_operator(operator, self.namespace.clone(), client, environment)
    }

    fn objects(&self, manager: &str) -> Vec<Value> {
        self.contents().objects(manager)
    }

    fn disturb(&self, event: ServiceEvent) {
        self.contents().disturb(event);
    }

    fn restore_quota(&self) {
        self.contents().restore_quota();
    }

    fn refused_creations(&self) -> usize {
        self.contents().refused_creations()
    }

    fn unrepaired(&self) -> usize {
        self.contents().unrepaired()
    }

    fn violations(&self) -> Vec<String> {
        self.contents().violations().to_vec()
    }
}
