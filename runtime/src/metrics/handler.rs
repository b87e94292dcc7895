//! `MetricsHandler`: a path of the user on the server of the metrics.

use super::reviews::METRICS_PATH;
use crate::{
    counters::Counters,
    panic::{Closure, Panicked},
};
use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use std::{fmt, panic::AssertUnwindSafe, sync::Arc};

/// The path of a CPU profile, where `go tool pprof` and collectors of profiles look for it.
pub(crate) const PROFILE_PATH: &str = "/debug/pprof/profile";
/// The path of the memory statistics.
pub(crate) const MEMORY_PATH: &str = "/debug/memory";

/// The function of a handler.
type Respond = Arc<dyn Fn(Request<Vec<u8>>) -> BoxFuture<'static, Response<Vec<u8>>> + Send + Sync>;

/// Responds to the requests of one path.
#[derive(Clone)]
pub(crate) struct MetricsHandler {
    path: String,
    respond: Respond,
}

impl MetricsHandler {
    /// The paths of the server itself.
    pub(crate) const RESERVED: [&'static str; 3] = [METRICS_PATH, PROFILE_PATH, MEMORY_PATH];

    /// Creates a handler that answers the requests of `path` with the result of an async function.
    pub(crate) fn new<F>(
        path: impl Into<String>,
        handler: impl Fn(Request<Vec<u8>>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response<Vec<u8>>> + Send + 'static,
    {
        Self { path: path.into(), respond: Arc::new(move |request| handler(request).boxed()) }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the response of the handler's function to a request. If the function panics, the panic is logged and counted, and the method
    /// returns `None`.
    pub(super) async fn respond(&self, request: Request<Vec<u8>>, counters: &Counters) -> Option<Response<Vec<u8>>> {
        let response = AssertUnwindSafe(async { (self.respond)(request).await }).catch_unwind().await;
        let report_panic = |payload: Box<dyn std::any::Any + Send>| {
            counters.count_panic(Closure::MetricsHandler);
            let error = Panicked::new(Closure::MetricsHandler, &*payload);
            tracing::error!(path = self.path, %error, "a handler failed");
        };
        response.map_err(report_panic).ok()
    }
}

impl fmt::Debug for MetricsHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MetricsHandler").field(&self.path).finish()
    }
}
