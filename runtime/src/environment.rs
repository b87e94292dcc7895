//! Where time and chance come from: from the system, or from a test, which may also be told of each pass.

use crate::kind::Kind;
use k8s_openapi::jiff::Timestamp;
use std::{fmt, sync::Arc};

/// A pass over an object, as an [observer](Environment::observed) is told of it when it begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Passing<'a> {
    /// The kind of the object.
    pub kind: &'a Kind,
    /// The namespace of the object, if its kind has any.
    pub namespace: Option<&'a str>,
    /// The name of the object.
    pub name: &'a str,
}

/// What is told how a pass ended, in words such as `again when something changes`. Of a pass that is cut short, because the
/// process ends, it is dropped.
pub type Passed = Box<dyn FnOnce(&'static str) + Send>;

type Observer = dyn Fn(Passing<'_>) -> Passed + Send + Sync;
type PanicObserver = dyn Fn(Passing<'_>, &str) + Send + Sync;

/// The clock and the dice of an operator.
#[derive(Clone)]
pub struct Environment {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
    observer: Option<Arc<Observer>>,
    panic_observer: Option<Arc<PanicObserver>>,
}

impl Environment {
    /// The system's clock, and chance that differs from process to process.
    pub fn system() -> Self {
        Self {
            now: Arc::new(Timestamp::now),
            random: Arc::new(|| fastrand::u64(..)),
            observer: None,
            panic_observer: None,
        }
    }

    /// A clock and chance of one's own, for tests that must be repeatable.
    pub fn new(
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        random: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self { now: Arc::new(now), random: Arc::new(random), observer: None, panic_observer: None }
    }

    /// Tells of each pass of each controller when it begins, and, by what that gives, when it ends. For tests that show what
    /// an operator does; nobody is told without it.
    #[must_use]
    pub fn observed(mut self, observer: impl Fn(Passing<'_>) -> Passed + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Tells of each panic in a node of a tree: the pass, and the path of the node. The innermost node comes first, then the
    /// groups that the panic ends. For tests that name the node; nobody is told without it.
    #[must_use]
    pub fn panics_observed(mut self, observer: impl Fn(Passing<'_>, &str) + Send + Sync + 'static) -> Self {
        self.panic_observer = Some(Arc::new(observer));
        self
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// A random number.
    pub fn random(&self) -> u64 {
        (self.random)()
    }

    /// A pass begins; what is given is to be told how it ends.
    pub(crate) fn begin_pass(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Option<Passed> {
        self.observer.as_ref().map(|observer| observer(Passing { kind, namespace, name }))
    }

    /// A node has panicked in a pass.
    pub(crate) fn node_panicked(&self, pass: Passing<'_>, node: &str) {
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
