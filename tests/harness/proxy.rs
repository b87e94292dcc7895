//! Defines `Proxy`, a TCP proxy that can stop forwarding while its connections stay open.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

/// A proxy in front of a server. Dropping it closes all connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the period; odd while the proxy is silent. A connection from an earlier period stays silent forever.
    period: AtomicU64,
    /// The number of bytes from the server that a connection from a silent period still forwards.
    passes: AtomicU64,
}

impl State {
    fn period(&self) -> u64 {
        self.period.load(Ordering::SeqCst)
    }
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

    /// As [`Proxy::fall_silent`], but each new connection forwards this number of bytes from the server first.
    pub fn fall_silent_after(&self, bytes: u64) {
        self.state.passes.store(bytes, Ordering::SeqCst);
        if self.state.period().is_multiple_of(2) {
            self.state.period.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Forwards the data of new connections again. The old connections stay silent.
    pub fn speak(&self) {
        if !self.state.period().is_multiple_of(2) {
            self.state.period.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(pass(client, server, state.clone()));
    }
}

/// Forwards the data of one connection in both directions, until the proxy falls silent.
async fn pass(mut client: TcpStream, server: SocketAddr, state: Arc<State>) -> io::Result<()> {
    let start_period = state.period();
    let mut limit = if start_period.is_multiple_of(2) { u64::MAX } else { state.passes.load(Ordering::SeqCst) };
    let mut server = TcpStream::connect(server).await?;
    let (mut up, mut down) = (vec![0; 16_384], vec![0; 16_384]);
    loop {
        let (from_client, count) = tokio::select! {
            count = client.read(&mut up) => (true, count?),
            count = server.read(&mut down) => (false, count?),
        };
        if state.period() != start_period || limit == 0 {
            // The data is dropped, and neither side notices if the other one closes its connection.
            std::future::pending::<()>().await;
        }
        if count == 0 {
            return Ok(());
        }
        if from_client {
            server.write_all(&up[..count]).await?;
        } else {
            let forwarded = count.min(usize::try_from(limit).unwrap_or(usize::MAX));
            client.write_all(&down[..forwarded]).await?;
            limit -= forwarded as u64;
        }
    }
}
