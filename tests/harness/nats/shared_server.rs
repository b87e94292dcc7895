//! Keeps one nats-server that all test cases of this process share.

use std::net::SocketAddr;

use tokio::sync::Mutex;

use super::server::{NatsServer, NatsServerOptions};

static SHARED: Mutex<Option<NatsServer>> = Mutex::const_new(None);

/// Returns the address of the server that the cases of this process share. Each case uses buckets with names of its own, and doesn't
/// stop the server. The first call starts it.
///
/// # Panics
/// If there is no nats-server, or if it is not ready in time.
pub async fn shared_address() -> SocketAddr {
    let mut shared = SHARED.lock().await;
    if let Some(server) = &*shared {
        return server.address();
    }
    let server = NatsServer::start(&NatsServerOptions::default()).await;
    shared.insert(server).address()
}

/// Stops the shared server, if it was started. It must not be called within a runtime.
pub(crate) fn stop_shared() {
    drop(SHARED.blocking_lock().take());
}
