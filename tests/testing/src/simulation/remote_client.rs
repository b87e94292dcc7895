//! Builds the clients with which the operator calls other simulated clusters, with injected faults and a check of the credentials.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use kube::client::Body;
use opgen_sandbox::{User, fault::Faults};
use serde_json::json;

use super::{
    remote_clusters::RemoteClusters,
    remote_connection::{ConnectionLost, ResponseBody},
};

impl RemoteClusters {
    /// Returns a client for the cluster of a kubeconfig, whose calls pass through the faults; `None` for a cluster that is none of
    /// these.
    pub(super) fn client(&self, config: &kube::Config, faults: &Faults) -> Option<kube::Client> {
        use secrecy::ExposeSecret as _;
        let host = config.cluster_url.host()?.to_owned();
        let token = config.auth_info.token.as_ref()?.expose_secret().to_owned();
        let sandbox = self.lock().get(&host)?.sandbox.clone();
        // The rights of the program are those of the kubeconfig.
        let client = sandbox.client_in_same_life(User::admin("program"), faults);
        let client = self.observe(client, &sandbox, Some(&host));
        let (clusters, faults) = (self.clone(), faults.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (clusters, faults, client) = (clusters.clone(), faults.clone(), client.clone());
            let (host, token) = (host.clone(), token.clone());
            async move {
                let known = clusters.lock().get(&host).map(|cluster| cluster.credentials);
                // Another cluster at this address has another certificate.
                let is_same = known.is_some_and(|known| token.starts_with(&format!("{}-", known.cluster)));
                if !is_same || clusters.connections.is_cut() {
                    // The program is not at rest: it will try again.
                    faults.stir();
                    return Err(ConnectionLost.into());
                }
                if known.is_some_and(|known| known.token() != token) {
                    faults.stir();
                    return Ok(unauthorized());
                }
                // A cut may happen just before a call, and then it ends the connection of this call.
                clusters.connections.carry(client.send(request)).await.inspect_err(|_| faults.stir())
            }
        });
        Some(kube::Client::new(service, "default"))
    }
}

/// Returns the response of an API server that refuses the credentials of a request.
fn unauthorized() -> Response<ResponseBody> {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 401, "reason": "Unauthorized",
        "message": "Unauthorized",
    });
    let body = http_body_util::Full::new(Bytes::from(status.to_string())).map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response
}
