//! How webhooks are reached: addresses of Services, stand-ins in the process, connections that are kept.

use std::{collections::BTreeMap, fmt, future::Future, net::SocketAddr, pin::Pin, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};

use super::client::Connections;

/// Answers requests in the place of a webhook.
pub(crate) type StandIn =
    Arc<dyn Fn(Request<Bytes>) -> Pin<Box<dyn Future<Output = Response<Bytes>> + Send>> + Send + Sync>;

/// What the sandbox knows of webhooks.
#[derive(Default)]
pub(crate) struct Doors {
    /// By namespace and name.
    services: BTreeMap<(String, String), SocketAddr>,
    /// By the beginning of the URL.
    stand_ins: Vec<(String, StandIn)>,
    pub(super) connections: Connections,
}

impl Doors {
    pub(crate) fn add_service(&mut self, namespace: &str, name: &str, address: SocketAddr) {
        self.services.insert((namespace.to_owned(), name.to_owned()), address);
    }

    pub(crate) fn add_stand_in<F>(&mut self, url: &str, answer: impl Fn(Request<Bytes>) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Response<Bytes>> + Send + 'static,
    {
        self.stand_ins.push((url.to_owned(), Arc::new(move |request| Box::pin(answer(request)))));
    }

    /// Whoever answers in the process for a URL; the longest beginning wins.
    pub(super) fn stand_in(&self, url: &str) -> Option<StandIn> {
        let known = self.stand_ins.iter().filter(|(begin, _)| url.starts_with(begin));
        known.max_by_key(|(begin, _)| begin.len()).map(|(_, answer)| answer.clone())
    }

    pub(super) fn service(&self, namespace: &str, name: &str) -> Option<SocketAddr> {
        self.services.get(&(namespace.to_owned(), name.to_owned())).copied()
    }
}

impl fmt::Debug for Doors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: Vec<_> = self.stand_ins.iter().map(|(url, _)| url).collect();
        f.debug_struct("Doors").field("services", &self.services).field("stand_ins", &urls).finish_non_exhaustive()
    }
}
