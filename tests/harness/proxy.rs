//! A TCP proxy that can fall silent: its connections stay open, and nothing passes any more.

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
    /// Odd while the proxy is silent: a connection that was open in another period than now stays silent for ever.
    period: AtomicU64,
    /// How many bytes of the server a connection of a silent period still passes on.
    passes: AtomicU64,
}

impl State {
    fn period(&self) -> u64 {
        self.period.load(Ordering::SeqCst)
    }
}

impl Proxy {
    /// Listens on a port of its own and passes everything on to `server`.
    ///
    /// # Errors
    /// If there is no port.
    pub async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let (address, state) = (listener.local_addr()?, Arc::<State>::default());
        let task = tokio::spawn(accept(listener, server, state.clone()));
        Ok(Self { address, state, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on nothing passes, in connections that are open, and in those that are made.
    pub fn fall_silent(&self) {
        self.fall_silent_after(0);
    }

    /// As [`Proxy::fall_silent`], but each connection that is made passes on that many bytes of the server first.
    pub fn fall_silent_after(&self, bytes: u64) {
        self.state.passes.store(bytes, Ordering::SeqCst);
        if self.state.period().is_multiple_of(2) {
            self.state.period.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Lets pass what comes in connections that are made from now on. The old ones stay silent.
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

/// Passes on what comes in one connection, as long as it may.
async fn pass(mut client: TcpStream, server: SocketAddr, state: Arc<State>) -> io::Result<()> {
    let born = state.period();
    let mut left = if born.is_multiple_of(2) { u64::MAX } else { state.passes.load(Ordering::SeqCst) };
    let mut server = TcpStream::connect(server).await?;
    let (mut up, mut down) = (vec![0; 16_384], vec![0; 16_384]);
    loop {
        let (from_client, count) = tokio::select! {
            count = client.read(&mut up) => (true, count?),
            count = server.read(&mut down) => (false, count?),
        };
        if state.period() != born || left == 0 {
            // What comes is swallowed, and neither side hears that the other one has gone.
            std::future::pending::<()>().await;
        }
        if count == 0 {
            return Ok(());
        }
        if from_client {
            server.write_all(&up[..count]).await?;
        } else {
            let passed = count.min(usize::try_from(left).unwrap_or(usize::MAX));
            client.write_all(&down[..passed]).await?;
            left -= passed as u64;
        }
    }
}
