//! `WebhookResponder` responds to the calls of an API server in the same process, through the code of the server.

use super::{conversion::Converter, dispatch::Dispatcher, names::WebhookNames};
use crate::client::Client;
use crate::manager::operator::Operator;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;

/// The webhooks of an operator without a server: admission, and the conversion of its kinds. For a simulated API server.
///
/// ```
/// # use opgen::{Operator, testing::WebhookResponder};
/// assert!(WebhookResponder::new(&Operator::new("shop")).is_none(), "it has no webhooks");
/// ```
#[derive(Clone, Debug)]
pub struct WebhookResponder {
    dispatcher: Dispatcher,
    service: String,
}

impl WebhookResponder {
    /// Returns the webhooks of an operator; `None` if it has none. Webhooks that read other objects fail; see
    /// [`WebhookResponder::with_client`].
    pub fn new(operator: &Operator) -> Option<Self> {
        let handlers = operator.extensions.webhooks.iter().cloned();
        let converter = Converter::new(operator.converted_kinds());
        let dispatcher = Dispatcher::new(handlers, converter, operator.counters(), None);
        // The name of the Service does not depend on that of the configurations.
        let names = WebhookNames::new(&operator.name, &operator.name);
        operator.has_webhooks().then(|| Self { dispatcher, service: names.service })
    }

    /// Sets the client of webhooks that read other objects.
    #[must_use]
    pub fn with_client(mut self, client: kube::Client) -> Self {
        self.dispatcher = self.dispatcher.with_client(Client::new(client));
        self
    }

    /// Returns the name of the Service in the manifests, through which an API server calls the webhooks.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Returns the response to the call of a webhook.
    pub async fn respond(&self, request: Request<Bytes>) -> Response<Bytes> {
        let response = self.dispatcher.respond(request.map(Full::new)).await;
        let (parts, body) = response.into_parts();
        // The body is complete in memory, and never fails.
        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        Response::from_parts(parts, body)
    }
}
