//! The sandbox as a `kube::Client`, without a socket.

use http::Request;
use tower::service_fn;

use crate::{
    Sandbox, User,
    fault::{self, Faults},
};

pub(crate) fn client(sandbox: Sandbox, user: User) -> kube::Client {
    let namespace = user.home().unwrap_or("default").to_owned();
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let (sandbox, user) = (sandbox.clone(), user.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            Ok::<_, kube::Error>(sandbox.call(user, Request::from_parts(head, body)).await)
        }
    });
    kube::Client::new(service, namespace)
}

/// One whose calls pass through faults: the next life of whoever calls.
pub(crate) fn client_through(sandbox: Sandbox, user: User, faults: &Faults) -> kube::Client {
    let (faults, life) = (faults.clone(), faults.begin());
    let namespace = user.home().unwrap_or("default").to_owned();
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let (sandbox, user, faults) = (sandbox.clone(), user.clone(), faults.clone());
        async move {
            let (head, body) = request.into_parts();
            let request = Request::from_parts(head, body.collect_bytes().await?);
            let answer = fault::call(&sandbox, user, (&faults, life), request).await;
            answer.map_err(|broken| kube::Error::Service(Box::new(broken)))
        }
    });
    kube::Client::new(service, namespace)
}
