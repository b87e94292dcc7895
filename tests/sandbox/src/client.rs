//! The sandbox as a `kube::Client`, without a socket.

use http::Request;
use tower::service_fn;

use crate::{Sandbox, User};

pub(crate) fn client(sandbox: Sandbox, user: User) -> kube::Client {
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let (sandbox, user) = (sandbox.clone(), user.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            Ok::<_, kube::Error>(sandbox.call(user, Request::from_parts(head, body)).await)
        }
    });
    kube::Client::new(service, "default")
}
