//! Forwards the data of one TCP connection through a proxy, or holds back, loses or delays it as the state of the proxy says.

use std::{
    future::pending,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Notify, mpsc},
    time::{Instant, sleep_until},
};

use super::state::{Direction, State};

/// Data on its way, with the time at which it is forwarded.
type Delayed = (Instant, Vec<u8>);

/// A connection between a client and the server.
pub(super) struct ProxiedConnection {
    state: Arc<State>,
    start_period: u64,
    /// The number of bytes from the server that may still be forwarded.
    limit: AtomicU64,
    /// Notified when data was lost.
    lost: Notify,
}

impl ProxiedConnection {
    /// Returns a connection that begins now. If the proxy is silent (its period has an odd number), the connection forwards only the number
    /// of bytes from the server that the proxy still lets pass.
    pub(super) fn new(state: Arc<State>) -> Self {
        let start_period = state.period();
        let limit = if start_period.is_multiple_of(2) { u64::MAX } else { state.passes.load(Ordering::SeqCst) };
        Self { state, start_period, limit: AtomicU64::new(limit), lost: Notify::new() }
    }

    /// Forwards the data of both directions until one side closes the connection, or until the network heals after data was lost.
    pub(super) async fn forward(&self, client: TcpStream, server: SocketAddr) -> io::Result<()> {
        let server = TcpStream::connect(server).await?;
        let (client_reader, client_writer) = client.into_split();
        let (server_reader, server_writer) = server.into_split();
        let healed = async {
            self.lost.notified().await;
            self.state.wait_until_healed().await;
        };
        tokio::select! {
            ended = self.pump(Direction::Up, client_reader, server_writer) => ended,
            ended = self.pump(Direction::Down, server_reader, client_writer) => ended,
            () = healed => Ok(()),
        }
    }

    /// Forwards the data of one direction until the sender closes it. Reading and writing are apart, so that data waits for its delay in a
    /// channel while more is read.
    async fn pump(&self, direction: Direction, from: OwnedReadHalf, to: OwnedWriteHalf) -> io::Result<()> {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::try_join!(self.read(direction, from, sender), self.write(direction, to, receiver))?;
        Ok(())
    }

    /// Reads the data of one direction, and sends it to the writer with the time at which it is due. Drops the data while the proxy loses
    /// the data of this direction. Returns at the end of the data.
    async fn read(
        &self,
        direction: Direction,
        mut from: OwnedReadHalf,
        sender: mpsc::UnboundedSender<Delayed>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 16_384];
        loop {
            let count = from.read(&mut buffer).await?;
            self.stop_if_silent().await;
            if self.state.is_cut(direction) {
                self.lost.notify_one();
                if count == 0 {
                    // The end of the connection is lost too, so the other side stays connected.
                    pending::<()>().await;
                }
                continue;
            }
            if count == 0 {
                return Ok(());
            }
            // The receiver lives as long as this function runs.
            let _ = sender.send((self.state.due(), buffer[..count].to_vec()));
        }
    }

    /// Writes the data of one direction when its delay is over. Data from the server is cut off at the limit of a connection that began
    /// while the proxy was silent.
    async fn write(
        &self,
        direction: Direction,
        mut to: OwnedWriteHalf,
        mut receiver: mpsc::UnboundedReceiver<Delayed>,
    ) -> io::Result<()> {
        while let Some((due, data)) = receiver.recv().await {
            sleep_until(due).await;
            self.stop_if_silent().await;
            let limit = usize::try_from(self.limit.load(Ordering::SeqCst)).unwrap_or(usize::MAX);
            let count = if direction == Direction::Down { data.len().min(limit) } else { data.len() };
            to.write_all(&data[..count]).await?;
            if direction == Direction::Down && limit != usize::MAX {
                self.limit.store((limit - count) as u64, Ordering::SeqCst);
            }
        }
        Ok(())
    }

    /// Waits forever if the proxy no longer forwards the data of this connection: it fell silent, even if it speaks to new connections
    /// again, or the limit of bytes is reached. Then neither side notices that the other one closes its connection.
    async fn stop_if_silent(&self) {
        if self.state.period() != self.start_period || self.limit.load(Ordering::SeqCst) == 0 {
            pending::<()>().await;
        }
    }
}
