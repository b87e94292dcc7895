//! Somebody else who writes at the worst moment.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use http::Request;
use kube::{Client, client::Body};

/// A client with somebody, the `other`, who once changes an object by a JSON patch just before the client patches it, as soon as
/// there is what is to be changed. The object is the one whose path ends so.
pub(crate) fn meddled_with(client: Client, other: Client, suffix: &'static str, change: String) -> Client {
    let (namespace, done) = (client.default_namespace().to_owned(), Arc::new(AtomicBool::new(false)));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, other, done, change) = (client.clone(), other.clone(), done.clone(), change.clone());
        async move {
            let path = request.uri().path().to_owned();
            if request.method() == "PATCH" && path.ends_with(suffix) && !done.load(Ordering::Relaxed) {
                let first = Request::patch(&path).header("content-type", "application/json-patch+json");
                let answer = other.send(first.body(Body::from(change.into_bytes())).unwrap()).await?;
                done.store(answer.status().is_success(), Ordering::Relaxed);
            }
            client.send(request).await
        }
    });
    Client::new(service, namespace)
}
