//! Observes a program: its passes, the nodes that panic, and the nodes that it writes for.

use http::{Method, Request};
use kube::client::Body;
use opgen::{Passed, Passing};
use opgen_sandbox::fault::Faults;

use crate::writes::Writes;

/// A client that tells of the nodes by which what it writes is annotated.
pub(crate) fn noting_nodes(client: kube::Client, writes: Writes) -> kube::Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, writes) = (client.clone(), writes.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            if matches!(head.method, Method::POST | Method::PUT | Method::PATCH) {
                writes.note_node(head.uri.path(), &body);
            }
            client.send(Request::from_parts(head, Body::from(body))).await
        }
    });
    kube::Client::new(service, namespace)
}

/// Tells a timeline of the passes.
pub(crate) fn passes_into(faults: Faults) -> impl Fn(Passing<'_>) -> Passed + Send + Sync + 'static {
    move |pass| {
        let (faults, kind) = (faults.clone(), pass.kind.full_name());
        let number = faults.pass_begins(&kind, pass.namespace.unwrap_or_default(), pass.name);
        Box::new(move |outcome| faults.pass_ends(number, outcome))
    }
}

/// The object of a pass.
pub(crate) fn over(pass: Passing<'_>) -> String {
    let namespace = pass.namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{} {namespace}{}", pass.kind.kind, pass.name)
}
