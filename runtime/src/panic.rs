//! Turns panics of user code into errors. `Closure` is the kind of user function that panicked, for example a map or an index function.

use std::{any::Any, fmt, panic::AssertUnwindSafe};

/// User code that the operator calls, by the public function or trait that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Closure {
    /// A node of a tree: a build function, a condition, or a hand-written provisioner.
    Provisioner,
    /// Decoding an object, or reading whether it is paused and what it references.
    Object,
    /// The map function of [`Controller::watches`](crate::Controller::watches) or [`Enqueue`](crate::Enqueue).
    Watches,
    /// The projection of [`Controller::lister`](crate::Controller::lister) or of `metadata_lister`.
    Projection,
    /// The map function of [`Controller::lister`](crate::Controller::lister) or of `metadata_lister`.
    ProjectionMap,
    /// The index function of [`Lister::indexed`](crate::Lister::indexed).
    Index,
    /// The function of [`Predicate::of`](crate::Predicate::of).
    Predicate,
    /// The function of [`Controller::resync_period_by`](crate::Controller::resync_period_by).
    ResyncPeriod,
    /// The work of a [`Runnable`](crate::manager::Runnable).
    Runnable,
    /// The function of [`Operator::readyz_check`](crate::Operator::readyz_check) or of `livez_check`.
    HealthCheck,
    /// The function of [`Operator::metrics_handler`](crate::Operator::metrics_handler).
    MetricsHandler,
    /// The function of [`Operator::validates`](crate::Operator::validates) or of `defaults`.
    Webhook,
    /// A function of the [`Environment`](crate::environment::Environment), or the runtime itself.
    Runtime,
}

impl Closure {
    /// All variants.
    pub const ALL: [Self; 13] = [
        Self::Provisioner,
        Self::Object,
        Self::Watches,
        Self::Projection,
        Self::ProjectionMap,
        Self::Index,
        Self::Predicate,
        Self::ResyncPeriod,
        Self::Runnable,
        Self::HealthCheck,
        Self::MetricsHandler,
        Self::Webhook,
        Self::Runtime,
    ];

    /// Returns a short name, for example for the label of a metric.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provisioner => "provisioner",
            Self::Object => "object",
            Self::Watches => "watches",
            Self::Projection => "projection",
            Self::ProjectionMap => "projection_map",
            Self::Index => "index",
            Self::Predicate => "predicate",
            Self::ResyncPeriod => "resync_period_by",
            Self::Runnable => "runnable",
            Self::HealthCheck => "health_check",
            Self::MetricsHandler => "metrics_handler",
            Self::Webhook => "webhook",
            Self::Runtime => "runtime",
        }
    }

    /// Returns a noun phrase for the user code, for messages: `the predicate`.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Provisioner => "a provisioner",
            Self::Object => "the type of the object",
            Self::Watches => "the map function of `watches`",
            Self::Projection => "the projection of `lister`",
            Self::ProjectionMap => "the map function of `lister`",
            Self::Index => "the index function of the lister",
            Self::Predicate => "the predicate",
            Self::ResyncPeriod => "the function of `resync_period_by`",
            Self::Runnable => "a runnable",
            Self::HealthCheck => "a health check",
            Self::MetricsHandler => "a handler of the metrics server",
            Self::Webhook => "the function of the webhook",
            Self::Runtime => "the operator's runtime",
        }
    }
}

impl fmt::Display for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error of user code that panicked.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{} panicked: {message}", closure.noun())]
pub(crate) struct Panicked {
    pub(crate) closure: Closure,
    message: String,
}

impl Panicked {
    /// Creates the error from the payload of a panic, which is a text unless the code called `panic_any`.
    pub(crate) fn new(closure: Closure, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self { closure, message: text.unwrap_or_else(|| "without a message".to_owned()) }
    }
}

/// Runs user code, and turns a panic into an error.
pub(crate) fn catch<T>(closure: Closure, run: impl FnOnce() -> T) -> Result<T, Panicked> {
    std::panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Panicked::new(closure, &*payload))
}

/// The panics that occurred while an informer handled one object.
#[derive(Debug, Default)]
pub(crate) struct Panics(pub(crate) Vec<Panicked>);

impl Panics {
    /// Runs user code; records a panic and returns `None`.
    pub(crate) fn catch<T>(&mut self, closure: Closure, run: impl FnOnce() -> T) -> Option<T> {
        catch(closure, run).map_err(|panicked| self.0.push(panicked)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_names_the_closure_and_the_message() {
        let error: Result<(), Panicked> = catch(Closure::Watches, || panic!("no {}", "label"));
        assert_eq!(
            error.map_err(|e| e.to_string()),
            Err("the map function of `watches` panicked: no label".to_owned())
        );
        let mut panics = Panics::default();
        assert_eq!(panics.catch(Closure::Index, || 1), Some(1));
        assert_eq!(panics.catch(Closure::Index, || std::panic::panic_any(7_u8)), None::<()>);
        assert_eq!(panics.0[0].to_string(), "the index function of the lister panicked: without a message");
    }

    #[test]
    fn every_closure_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = Closure::ALL.iter().map(|closure| closure.as_str()).collect();
        assert_eq!(names.len(), Closure::ALL.len());
        // The number of a variant is its index in `ALL`.
        assert!(Closure::ALL.iter().enumerate().all(|(index, closure)| *closure as usize == index));
    }
}
