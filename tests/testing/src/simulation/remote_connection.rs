//! `Connections`: the connections of an operator to other simulated clusters, which can be interrupted. `Credentials`: the credentials for
//! such a cluster.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::Response;
use http_body_util::{BodyExt as _, StreamBody};
use kube::client::Body;
use serde_json::json;
use tokio::{
    sync::{Notify, futures::OwnedNotified},
    time::Instant,
};

/// What distinguishes the credentials of a cluster: its number, which is in its certificate authority, and the number of its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Credentials {
    pub(super) cluster: u64,
    token: u64,
}

impl Credentials {
    /// Returns other credentials for the same cluster.
    pub(super) fn rotated(self) -> Self {
        Self { token: self.token + 1, ..self }
    }

    pub(super) fn token(self) -> String {
        format!("{}-{}", self.cluster, self.token)
    }

    /// Returns a kubeconfig with these credentials for the API server at a host.
    pub(super) fn kubeconfig(self, host: &str) -> String {
        let authority = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", self.number());
        let cluster = json!({"server": format!("https://{host}"), "certificate-authority-data": base64(&authority)});
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "trial",
            "clusters": [{"name": "trial", "cluster": cluster}],
            "users": [{"name": "trial", "user": {"token": self.token()}}],
            "contexts": [{"name": "trial", "context": {"cluster": "trial", "user": "trial"}}],
        });
        kubeconfig.to_string()
    }

    /// Returns the number of the cluster in base64, as the content of its certificate.
    fn number(self) -> String {
        base64(&format!("{:03}", self.cluster))
    }
}

fn base64(text: &str) -> String {
    let bytes = k8s_openapi::ByteString(text.as_bytes().to_vec());
    serde_json::to_value(bytes).ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The connections to all clusters.
#[derive(Clone, Default)]
pub(super) struct Connections(Arc<ConnectionState>);

#[derive(Default)]
struct ConnectionState {
    /// The number of clusters that each host has had.
    clusters: Mutex<BTreeMap<String, u64>>,
    /// Until when no connection works.
    cut_until: Mutex<Option<Instant>>,
    /// Ends the open responses.
    cut: Arc<Notify>,
}

/// The error of a connection.
#[derive(Debug)]
pub(super) struct ConnectionLost;

impl std::fmt::Display for ConnectionLost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection is lost")
    }
}

impl std::error::Error for ConnectionLost {}

impl From<ConnectionLost> for kube::Error {
    fn from(lost: ConnectionLost) -> Self {
        Self::Service(Box::new(lost))
    }
}

impl Connections {
    /// Returns the credentials of a new cluster at a host, which have the number of clusters that the host has had.
    pub(super) fn new_cluster(&self, host: &str) -> Credentials {
        let mut clusters = self.0.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        let number = clusters.entry(host.to_owned()).or_default();
        *number += 1;
        Credentials { cluster: *number, token: 0 }
    }

    /// Ends all connections at once, and makes new calls fail for a time.
    pub(super) fn cut(&self, time: Duration) {
        *self.0.cut_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + time);
        self.0.cut.notify_waiters();
    }

    /// Returns whether the connections are interrupted at the moment.
    pub(super) fn is_cut(&self) -> bool {
        let until = *self.0.cut_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }
}

/// A response body.
pub(super) type ResponseBody =
    http_body_util::combinators::UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

impl Connections {
    /// Makes a call and returns its response. If the connections are cut meanwhile, fails, although the cluster may have processed the
    /// call; if they are cut later, the body of the response ends with an error.
    ///
    /// # Errors
    /// If the connection is lost, or the call fails.
    pub(super) async fn carry(
        &self,
        call: impl Future<Output = kube::Result<Response<Body>>>,
    ) -> kube::Result<Response<ResponseBody>> {
        let mut cut = Box::pin(self.0.cut.clone().notified_owned());
        let response = call.await?;
        if (&mut cut).now_or_never().is_some() {
            return Err(ConnectionLost.into());
        }
        Ok(response.map(|body| until_cut(body, cut)))
    }
}

/// Returns a body with the data of `body` that ends with an error when `cut` is notified: when the connections are cut.
fn until_cut(body: Body, cut: Pin<Box<OwnedNotified>>) -> ResponseBody {
    let data = body.into_data_stream().map(|data| data.map(http_body::Frame::data).map_err(Into::into));
    let data = stream::unfold(Some((Box::pin(data), cut)), async |state| {
        let (mut data, mut cut) = state?;
        tokio::select! {
            biased;
            () = &mut cut => Some((Err(ConnectionLost.into()), None)),
            next = data.next() => next.map(|next| (next, Some((data, cut)))),
        }
    });
    StreamBody::new(data).boxed_unsync()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cut_loses_the_response_to_the_call_during_which_it_happens() {
        let connections = Connections::default();
        let respond = || Ok(Response::new(Body::from(b"response".to_vec())));
        let response = connections.carry(async { respond() }).await.unwrap();
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "response");
        let cut_and_respond = async {
            connections.cut(Duration::ZERO);
            respond()
        };
        assert!(connections.carry(cut_and_respond).await.is_err());
        let later = connections.carry(async { respond() }).await.unwrap();
        connections.cut(Duration::ZERO);
        assert!(later.into_body().collect().await.is_err());
    }
}
