//! Routes the requests of a Kubernetes client: the operator's process answers those for kinds in buckets, and the API server all others.

use super::api::BucketApi;
use axum::body::Body;
use http::Request;
use std::convert::Infallible;

/// The default namespace of a client without an API server.
const DEFAULT_NAMESPACE: &str = "default";

impl BucketApi {
    /// Returns a client that answers requests for the kinds in buckets in the process, and sends all others with `client`.
    pub(crate) fn wrap(self, client: kube::Client) -> kube::Client {
        let namespace = client.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let (api, client) = (self.clone(), client.clone());
            async move {
                if api.serves(request.uri().path()) {
                    return Ok(api.respond(request).await);
                }
                let response = client.send(request).await?;
                Ok::<_, kube::Error>(response.map(Body::new))
            }
        });
        kube::Client::new(service, namespace)
    }

    /// Returns a client without an API server. A request for a kind that is in no bucket is answered with 404.
    pub(crate) fn standalone_client(self) -> kube::Client {
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let api = self.clone();
            async move { Ok::<_, Infallible>(api.respond(request).await) }
        });
        kube::Client::new(service, DEFAULT_NAMESPACE)
    }
}
