//! Defines `Proxy`, a TCP proxy that can stop forwarding, lose the data of one direction, and delay it.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{
    net::TcpListener,
    task::{JoinHandle, JoinSet},
};

pub use state::Cut;

use self::{connection::ProxiedConnection, state::State};

mod connection;
mod state;

/// A proxy in front of a server. Dropping it closes all connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a new port and forwards all data to `server`.
    ///
    /// # Errors
    /// Fails if there is no free port.
    pub async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let (address, state) = (listener.local_addr()?, Arc::<State>::default());
        let task = tokio::spawn(accept(listener, server, state.clone()));
        Ok(Self { address, state, task })
    }

    /// Returns the address of the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops forwarding, for open and for new connections.
    pub fn fall_silent(&self) {
        self.fall_silent_after(0);
    }

    /// Stops forwarding the data of open connections. Each new connection still forwards this number of bytes from the server, and then
    /// stops.
    pub fn fall_silent_after(&self, bytes: u64) {
        self.state.passes.store(bytes, Ordering::SeqCst);
        // Times with and without forwarding alternate, and are numbered: an odd number means silence. An open connection compares the
        // number with the one at its start.
        if self.state.period().is_multiple_of(2) {
            self.state.period.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Forwards the data of new connections again. The connections from before stay silent, since the number of their period is older.
    pub fn speak(&self) {
        // The proxy is silent while the number of the period is odd.
        if !self.state.period().is_multiple_of(2) {
            self.state.period.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Loses data from now on, for open and for new connections. A side does not notice that the other one closes a connection
    /// whose data is lost. [`Cut::Nothing`] heals the network: the connections that lost data are closed, and the others go on.
    pub fn cut(&self, cut: Cut) {
        self.state.cut.send_replace(cut);
    }

    /// Delays the data of both directions, for open and for new connections. The order of the data is preserved.
    pub fn delay(&self, delay: Duration) {
        self.state.delay.store(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Accepts connections and forwards them to the server, until the listener fails.
async fn accept(listener: TcpListener, server: SocketAddr, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let connection = ProxiedConnection::new(state.clone());
        connections.spawn(async move { connection.forward(client, server).await });
        // Removes ended tasks, which would accumulate.
        while connections.try_join_next().is_some() {}
    }
}
