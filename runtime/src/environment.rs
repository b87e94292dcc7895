//! Defines `Environment`: what an operator takes from outside, all replaceable in tests: the clock, the random numbers, the observers of
//! reconcile passes, the clients of other clusters and the program `helm`.

use crate::{cd::helm::HelmProgram, kind::Kind};
use k8s_openapi::jiff::Timestamp;
use std::{fmt, sync::Arc};

/// A pass over an object, which an [observer](Environment::observed) gets when the pass begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PassStart<'a> {
    /// The kind of the object.
    pub kind: &'a Kind,
    /// The namespace of the object, if its kind has any.
    pub namespace: Option<&'a str>,
    /// The name of the object.
    pub name: &'a str,
}

/// A callback with the outcome of a pass, in words such as `next pass on a change`. It is dropped without a call if the
/// process ends during the pass.
pub type OnPassEnd = Box<dyn FnOnce(&'static str) + Send>;

type Observer = dyn Fn(PassStart<'_>) -> OnPassEnd + Send + Sync;
type Clusters = dyn Fn(&kube::Config) -> Option<kube::Client> + Send + Sync;
type PanicObserver = dyn Fn(PassStart<'_>, &str) + Send + Sync;

/// The clock, the source of random numbers, the observers and the other programs of an operator.
#[derive(Clone)]
pub struct Environment {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
    observer: Option<Arc<Observer>>,
    panic_observer: Option<Arc<PanicObserver>>,
    clusters: Option<Arc<Clusters>>,
    helm: HelmProgram,
}

impl Environment {
    /// Returns an environment with the system clock and random numbers that differ between processes.
    pub fn system() -> Self {
        Self {
            now: Arc::new(Timestamp::now),
            random: Arc::new(|| fastrand::u64(..)),
            observer: None,
            panic_observer: None,
            clusters: None,
            helm: HelmProgram::default(),
        }
    }

    /// Returns an environment with your own clock and random numbers, for repeatable tests.
    pub fn new(
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        random: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self { now: Arc::new(now), random: Arc::new(random), ..Self::system() }
    }

    /// Calls `observer` when a pass of any controller begins, and calls the returned callback when the pass ends. For tests
    /// that record the passes of an operator; there is no observer by default.
    #[must_use]
    pub fn observed(mut self, observer: impl Fn(PassStart<'_>) -> OnPassEnd + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Calls `observer` for each panic in a node of a tree, with the pass and the path of the node: first for the innermost
    /// node, then for the groups around it. For tests that name the node; there is no observer by default.
    #[must_use]
    pub fn panics_observed(mut self, observer: impl Fn(PassStart<'_>, &str) + Send + Sync + 'static) -> Self {
        self.panic_observer = Some(Arc::new(observer));
        self
    }

    /// Uses the client that `clusters` returns for the kubeconfig of another cluster; for `None`, the operator connects over the network.
    /// For tests with several clusters in one process. By default the operator always connects.
    #[must_use]
    pub fn clusters(
        mut self,
        clusters: impl Fn(&kube::Config) -> Option<kube::Client> + Send + Sync + 'static,
    ) -> Self {
        self.clusters = Some(Arc::new(clusters));
        self
    }

    /// Uses this program to deploy charts, see [`cd::helm`](crate::cd::helm). For tests with a program or a cluster of their own. By
    /// default the operator runs the `helm` of the `PATH`.
    #[must_use]
    pub fn helm(mut self, program: HelmProgram) -> Self {
        self.helm = program;
        self
    }

    /// Returns the program that deploys charts.
    pub(crate) fn helm_program(&self) -> &HelmProgram {
        &self.helm
    }

    /// Returns the client that [`Environment::clusters`] has for this configuration; `None` if the operator has to connect.
    pub(crate) fn client_of(&self, config: &kube::Config) -> Option<kube::Client> {
        self.clusters.as_ref()?(config)
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Returns a random number.
    pub fn random(&self) -> u64 {
        (self.random)()
    }

    /// Reports the start of a pass to the observer, and returns the callback for its end; `None` without an observer.
    pub(crate) fn begin_pass(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Option<OnPassEnd> {
        self.observer.as_ref().map(|observer| observer(PassStart { kind, namespace, name }))
    }

    /// Calls the observer of [`Environment::panics_observed`], if one is set, for a panic in the node with the path `node`.
    pub(crate) fn node_panicked(&self, pass: PassStart<'_>, node: &str) {
        if let Some(observer) = &self.panic_observer {
            observer(pass, node);
        }
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}
