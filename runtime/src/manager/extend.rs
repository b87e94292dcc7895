//! The methods of `Operator` that add runnables, health checks and handlers of the metrics server.

use super::{checks::HealthCheck, operator::Operator, runnable::Runnable};
use crate::{error::Result, metrics::handler::MetricsHandler};

impl Operator {
    /// Adds a [`Runnable`]: work beside the controllers, such as a server or a periodic task. Each run of the operator starts it once.
    /// [`RunOptions::runnables`](crate::RunOptions::runnables) adds runnables to one run.
    #[must_use]
    pub fn runnable(mut self, mut runnable: Runnable) -> Self {
        runnable.operator = Some(self.name.clone());
        self.extensions.runnables.push(runnable);
        self
    }

    /// Adds a check of your own to `/readyz`, for example of a connection that the operator needs. While it fails, the operator is not
    /// ready. It is also served at `/readyz/<name>`. An error by which the operator waits ([`Error::Yield`](crate::Error::Yield)), or
    /// that a user can resolve, is part of the response; the text of an unexpected error is in the log only. A check that takes longer
    /// than five seconds fails.
    ///
    /// A name that occurs twice is an error of the run.
    ///
    /// ```
    /// # use opgen::prelude::*;
    /// # #[derive(Clone)] struct Queue;
    /// # impl Queue { async fn is_connected(&self) -> bool { true } }
    /// # let queue = Queue;
    /// let operator = Operator::new("teams").readyz_check("queue", move || {
    ///     let queue = queue.clone();
    ///     async move { if queue.is_connected().await { Ok(()) } else { yield_because("Disconnected", "the queue is not connected") } }
    /// });
    /// # drop(operator);
    /// ```
    #[must_use]
    pub fn readyz_check<F>(mut self, name: impl Into<String>, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.extensions.readyz.push(HealthCheck::new(name, check));
        self
    }

    /// Adds a check of your own to `/livez`, as [`Operator::readyz_check`] does to `/readyz`. While it fails, Kubernetes restarts the
    /// container: check only what a restart repairs.
    #[must_use]
    pub fn livez_check<F>(mut self, name: impl Into<String>, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.extensions.livez.push(HealthCheck::new(name, check));
        self
    }

    /// Serves a path of your own on the server of the metrics. Clients need the same token as for `/metrics`, and the right to the
    /// path: a rule with `nonResourceURLs: [<path>]` and the method in lower case as its verb. Bodies of requests may have at most
    /// 1 MiB.
    ///
    /// `/metrics` itself, and a path that occurs twice, are errors of the run.
    ///
    /// ```
    /// # use opgen::prelude::*;
    /// let operator = Operator::new("teams")
    ///     .metrics_handler("/debug/version", async |_request| http::Response::new(b"0.1.0".to_vec()));
    /// # drop(operator);
    /// ```
    #[must_use]
    pub fn metrics_handler<F>(
        mut self,
        path: impl Into<String>,
        handler: impl Fn(http::Request<Vec<u8>>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = http::Response<Vec<u8>>> + Send + 'static,
    {
        self.extensions.handlers.push(MetricsHandler::new(path, handler));
        self
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the error for the checks and handlers that `change` adds to an operator; `None` if they are valid.
    fn check(change: impl FnOnce(Operator) -> Operator) -> Option<String> {
        change(Operator::new("shop")).extensions.check().err().map(|error| error.to_string())
    }

    #[test]
    fn manager_m26_a_path_or_a_name_that_is_used_twice_is_an_error() {
        let ok = || std::future::ready(Ok(()));
        let page = |_| std::future::ready(http::Response::new(Vec::new()));
        assert_eq!(check(|o| o.readyz_check("queue", ok).livez_check("queue", ok)), None);
        assert_eq!(check(|o| o.metrics_handler("/a", page).metrics_handler("/a/b", page)), None);
        let error = check(|o| o.metrics_handler("/a", page).metrics_handler("/a", page)).unwrap();
        assert!(error.contains("two handlers of \"/a\""), "{error}");
        assert!(check(|o| o.metrics_handler("/metrics", page)).unwrap().contains("\"/metrics\""));
        for path in ["", "a", "/", "/a/", "/a b", "/{a}"] {
            assert!(check(|o| o.metrics_handler(path, page)).unwrap().contains("is no path"), "{path}");
        }
        let error = check(|o| o.readyz_check("queue", ok).readyz_check("queue", ok)).unwrap();
        assert!(error.contains("\"/readyz/queue\""), "{error}");
        assert!(check(|o| o.livez_check("tasks", ok)).unwrap().contains("\"/livez/tasks\""));
        assert!(check(|o| o.livez_check("a/b", ok)).unwrap().contains("no name"));
    }
}
