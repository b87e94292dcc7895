//! `CallSpan`: the span of one request to the API server, whose context the request carries.

use super::{bridge, pass::record_error, target::TARGET};
use http::{Request, Response};
use serde::Deserialize;
use std::borrow::Cow;
use tracing::{Instrument as _, Span, field::Empty};

/// The span of a call; disabled outside of a recorded pass. Clones are the same span, which ends with the last of them.
#[derive(Clone, Debug)]
pub(crate) struct CallSpan(Span);

/// The part of an object that has its version.
#[derive(Deserialize)]
struct Versioned<'a> {
    #[serde(borrow, default)]
    metadata: VersionedMetadata<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct VersionedMetadata<'a> {
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
}

impl CallSpan {
    /// Starts the span of a request to the API server below the current span, and puts the context of the span into the request headers.
    /// Without a current span, as for watches and leases, it returns a disabled span. In a trace that is not sampled it returns a disabled
    /// span as well, but the headers have the context of the current span, so that the API server does not record the trace either.
    pub(crate) fn begin<B>(request: &mut Request<B>, verb: &str, resource: &str) -> Self {
        let current = Span::current();
        if current.is_disabled() {
            return Self(Span::none());
        }
        let parent = bridge::context_of(&current);
        if let Some(unsampled) = parent.filter(|context| !context.is_sampled) {
            unsampled.inject(request.headers_mut());
            return Self(Span::none());
        }
        let (namespace, name) = object_of(request.uri().path());
        let span = tracing::debug_span!(
            target: TARGET,
            "call",
            otel.name = format!("{verb} {resource}"),
            otel.kind = "client",
            http.request.method = request.method().as_str(),
            url.path = request.uri().path(),
            opgen.verb = verb,
            opgen.resource = resource,
            k8s.namespace.name = namespace,
            opgen.object.name = name,
            opgen.object.resource_version = Empty,
            http.response.status_code = Empty,
            error.type = Empty,
            otel.status_code = Empty,
            otel.status_description = Empty,
        );
        if let Some(context) = bridge::context_of(&span) {
            context.inject(request.headers_mut());
        }
        Self(span)
    }

    /// Sends the request within the span, and records the result: the status code, or the error. The response carries the span in its
    /// extensions, so that the span ends when the body has been read.
    pub(crate) async fn run<B>(
        self,
        send: impl Future<Output = Result<Response<B>, kube::Error>>,
    ) -> Result<Response<B>, kube::Error> {
        if self.0.is_disabled() {
            return send.await;
        }
        let mut response = send.instrument(self.0.clone()).await;
        match &mut response {
            Ok(response) => {
                let status = response.status();
                self.0.record("http.response.status_code", status.as_u16());
                if !status.is_success() {
                    let reason = status.canonical_reason().unwrap_or_default();
                    record_error(&self.0, status.as_str(), &reason);
                }
                response.extensions_mut().insert(self);
            }
            Err(error) => record_error(&self.0, "no_response", &error),
        }
        response
    }

    /// Returns the span of a response; `None` if its request has none.
    pub(crate) fn of<B>(response: &Response<B>) -> Option<Self> {
        response.extensions().get().cloned()
    }

    /// Records the resourceVersion of the object in the body of a response; does nothing if the body has none.
    pub(crate) fn record_version(&self, body: &[u8]) {
        let version = serde_json::from_slice::<Versioned<'_>>(body).map(|object| object.metadata.resource_version);
        if let Ok(version) = version
            && !version.is_empty()
        {
            self.0.record("opgen.object.resource_version", &*version);
        }
    }
}

/// Returns the namespace and the name of the object in the URL path of a request to the API server; `None` for a part that the path lacks.
fn object_of(path: &str) -> (Option<&str>, Option<&str>) {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    // Skips the version, or the group and the version.
    match parts.next() {
        Some("api") => drop(parts.next()),
        Some("apis") => drop((parts.next(), parts.next())),
        _ => return (None, None),
    }
    match (parts.next(), parts.next(), parts.next()) {
        // The Namespace itself, or a subresource of it.
        (Some("namespaces"), name, None | Some("status" | "finalize")) => (None, name),
        (Some("namespaces"), namespace, Some(_)) => (namespace, parts.next()),
        (_, name, _) => (None, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_follows_from_the_path() {
        let deployment = "/apis/apps/v1/namespaces/shop/deployments/web";
        for (path, object) in [
            (deployment, (Some("shop"), Some("web"))),
            (&format!("{deployment}/status"), (Some("shop"), Some("web"))),
            ("/api/v1/namespaces/shop/pods", (Some("shop"), None)),
            ("/api/v1/namespaces/shop", (None, Some("shop"))),
            ("/api/v1/namespaces/shop/finalize", (None, Some("shop"))),
            ("/api/v1/nodes/one", (None, Some("one"))),
            ("/version", (None, None)),
        ] {
            assert_eq!(object_of(path), object, "{path}");
        }
    }
}
