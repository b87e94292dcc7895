//! Records the reconciles of an operator under test, and the tree node that each of its writes belongs to.

use http::{Method, Request};
use kube::client::Body;
use opgen::environment::{OnPassEnd, PassStart};
use opgen_sandbox::fault::Faults;

use super::write_log::WriteLog;

/// Returns a client that sends each request unchanged by `client`. Before a request other than a GET, it calls `observe` with the method,
/// the path and the body. Before a POST, PUT or PATCH, it records in `writes` the tree node that an annotation of the written object names.
pub(super) fn record_nodes(
    client: kube::Client,
    writes: WriteLog,
    observe: impl Fn(&Method, &str, &[u8]) + Clone + Send + Sync + 'static,
) -> kube::Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, writes, observe) = (client.clone(), writes.clone(), observe.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            if matches!(head.method, Method::POST | Method::PUT | Method::PATCH) {
                writes.record_node(head.uri.path(), &body);
            }
            if head.method != Method::GET {
                observe(&head.method, head.uri.path(), &body);
            }
            client.send(Request::from_parts(head, Body::from(body))).await
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns an observer of reconcile passes that records the begin and the end of each pass in the timeline of the faults.
pub(super) fn record_passes(faults: Faults) -> impl Fn(PassStart<'_>) -> OnPassEnd + Send + Sync + 'static {
    move |pass| {
        let (faults, kind) = (faults.clone(), pass.kind.full_name());
        let number = faults.pass_begins(&kind, pass.namespace.unwrap_or_default(), pass.name);
        Box::new(move |outcome| faults.pass_ends(number, outcome))
    }
}

/// Returns the kind, namespace and name of the object that a pass reconciles, for messages.
pub(super) fn object_of(pass: PassStart<'_>) -> String {
    let namespace = pass.namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{} {namespace}{}", pass.kind.kind, pass.name)
}
