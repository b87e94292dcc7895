//! Stores the routes to webhooks: addresses of Services, in-process handlers, and pooled connections.

use std::{collections::BTreeMap, fmt, future::Future, net::SocketAddr, pin::Pin, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};

use super::{client::Connections, client_config::WebhookClientConfig};
use crate::fault::{ObservedWebhookCall, WebhookFault};

/// A handler that responds to webhook calls in the process.
pub(crate) type WebhookHandler =
    Arc<dyn Fn(Request<Bytes>) -> Pin<Box<dyn Future<Output = Response<Bytes>> + Send>> + Send + Sync>;

/// A function that chooses the fault of a webhook call.
type FaultChooser = Arc<dyn Fn(ObservedWebhookCall) -> Option<WebhookFault> + Send + Sync>;

/// The addresses and handlers by which the server reaches webhooks.
#[derive(Default)]
pub(crate) struct WebhookRoutes {
    /// The addresses of Services, by namespace and name.
    services: BTreeMap<(String, String), SocketAddr>,
    /// The handlers, by URL prefix.
    handlers: Vec<(String, WebhookHandler)>,
    pub(super) connections: Connections,
    fault_chooser: Option<FaultChooser>,
}

impl WebhookRoutes {
    /// Sets the address to which calls of a Service's webhooks connect.
    pub(crate) fn add_service(&mut self, namespace: &str, name: &str, address: SocketAddr) {
        self.services.insert((namespace.to_owned(), name.to_owned()), address);
    }

    /// Adds a handler for the calls to all webhook URLs that start with `url`.
    pub(crate) fn add_handler<F>(&mut self, url: &str, answer: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Response<Bytes>> + Send + 'static,
    {
        self.handlers.push((url.to_owned(), Arc::new(move |request| Box::pin(answer(request)))));
    }

    /// Sets the function that chooses the fault of each call.
    pub(crate) fn set_fault_chooser(
        &mut self,
        choose: impl Fn(ObservedWebhookCall) -> Option<WebhookFault> + Send + Sync + 'static,
    ) {
        self.fault_chooser = Some(Arc::new(choose));
    }

    /// Returns the fault of a call; `None` if it has none.
    pub(super) fn fault(&self, url: &str, is_conversion: bool) -> Option<WebhookFault> {
        self.fault_chooser.as_ref().and_then(|choose| choose(ObservedWebhookCall::new(url, is_conversion)))
    }

    /// Returns the handler of a URL; `None` if no prefix matches. The longest prefix wins.
    pub(super) fn handler(&self, url: &str) -> Option<WebhookHandler> {
        let matching = self.handlers.iter().filter(|(prefix, _)| url.starts_with(prefix));
        matching.max_by_key(|(prefix, _)| prefix.len()).map(|(_, handler)| handler.clone())
    }

    /// Returns the address of the Service that a `clientConfig` names; `None` if it contains a URL instead. Returns an error if the Service
    /// has no known address.
    pub(super) fn address(&self, target: &WebhookClientConfig) -> Result<Option<SocketAddr>, String> {
        let Some(service) = &target.service else { return Ok(None) };
        let address = self.services.get(service).copied();
        address.map(Some).ok_or_else(|| format!("service {:?} not found", service.1))
    }
}

impl fmt::Debug for WebhookRoutes {
    /// Shows the Services and the URL prefixes of the handlers, since functions can't be formatted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: Vec<_> = self.handlers.iter().map(|(url, _)| url).collect();
        f.debug_struct("WebhookRoutes")
            .field("services", &self.services)
            .field("handlers", &urls)
            .finish_non_exhaustive()
    }
}
