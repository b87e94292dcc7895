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
    /// Returns a client for the simulated cluster of a kubeconfig, whose calls have the faults of the run. They fail while the connections
    /// are interrupted and after the cluster has ended or been replaced, and get a 401 for a former token. `None` for a cluster that is not
    /// simulated.
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
                // A cluster that has replaced the one of the kubeconfig has another certificate, so there is no TLS connection.
                let is_same = known.is_some_and(|known| token.starts_with(&format!("{}-", known.cluster)));
                if !is_same || clusters.connections.is_cut() {
                    // The program will try again: restarts the period after which it counts as idle.
                    faults.stir();
                    return Err(ConnectionLost.into());
                }
                if known.is_some_and(|known| known.token() != token) {
                    faults.stir();
                    return Ok(unauthorized());
                }
                // An interruption may begin during the call, and then ends its connection.
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
