//! `ApiServer`: answers the requests of a test's administrator, from a sandbox or, for kinds whose objects are in buckets (key-value
//! stores), from these.

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use kube::client::Body;
use opgen_sandbox::{Sandbox, User};

use crate::stored_kind::StoredKind;

/// The user name, user agent and field manager of the administrator.
pub(crate) const ADMIN: &str = "person";

/// Answers the requests of the administrator.
pub(crate) trait RequestHandler: Send + Sync {
    /// Answers a request: the status code, and the body. The code is 0 if there is no answer; then the body is the reason.
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, (u16, Bytes)>;
}

impl RequestHandler for Sandbox {
    /// Sends the request to the sandbox as a cluster administrator, and returns the status code and the body of the response.
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, (u16, Bytes)> {
        async move {
            let (parts, body) = self.call(User::admin(ADMIN), request).await.into_parts();
            let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes);
            (parts.status.as_u16(), body)
        }
        .boxed()
    }
}

/// A sandbox, and the buckets (key-value stores) with the objects of the kinds that are not in the sandbox. Clones share all of them.
#[derive(Clone)]
pub(crate) struct ApiServer {
    sandbox: Sandbox,
    stored: Option<StoredObjects>,
}

/// The kinds in buckets, with the client that serves their objects.
#[derive(Clone)]
struct StoredObjects {
    kinds: Vec<StoredKind>,
    client: kube::Client,
}

impl ApiServer {
    /// Returns the server of a sandbox without buckets.
    pub(crate) fn of(sandbox: Sandbox) -> Self {
        Self { sandbox, stored: None }
    }

    /// Returns a server that sends requests for `kinds`, whose objects are in buckets, to `client`, and all others to the sandbox.
    pub(crate) fn with_buckets(sandbox: Sandbox, kinds: Vec<StoredKind>, client: kube::Client) -> Self {
        Self { sandbox, stored: Some(StoredObjects { kinds, client }) }
    }

    /// Returns whether the objects at the path of a request are in a bucket, and not in the sandbox.
    pub(crate) fn is_in_bucket(&self, path: &str) -> bool {
        self.client_of(path).is_some()
    }

    /// Returns the client for the objects at the path of a request if their kind is in a bucket; `None` if they are in the sandbox.
    fn client_of(&self, path: &str) -> Option<&kube::Client> {
        let stored = self.stored.as_ref()?;
        stored.kinds.iter().any(|kind| kind.has_path(path)).then_some(&stored.client)
    }
}

impl RequestHandler for ApiServer {
    /// Sends the request to the client of the buckets if its path is of a kind in a bucket, otherwise to the sandbox.
    fn handle(&self, request: Request<Bytes>) -> BoxFuture<'_, (u16, Bytes)> {
        match self.client_of(request.uri().path()) {
            Some(client) => send(client.clone(), request).boxed(),
            None => self.sandbox.handle(request),
        }
    }
}

/// Sends a request by a client, and returns the status code and the body of the response. The code is 0 if there is no response, and 502 if
/// the body of the response is not complete; then the body is the error as text.
async fn send(client: kube::Client, request: Request<Bytes>) -> (u16, Bytes) {
    let response = match client.send(request.map(Body::from)).await {
        Ok(response) => response,
        Err(error) => return (0, error.to_string().into()),
    };
    let (parts, body) = response.into_parts();
    match body.collect_bytes().await {
        Ok(body) => (parts.status.as_u16(), body),
        Err(error) => (StatusCode::BAD_GATEWAY.as_u16(), error.to_string().into()),
    }
}
