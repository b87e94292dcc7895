//! Finds free addresses of the loopback interface and sends HTTP requests to them, for tests.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::atomic::{AtomicU8, Ordering},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Returns `N` loopback addresses with ports that are free now. On Linux, each call uses another IP address, `127.0.1.1` and so on, so that
/// no other test of the process can bind the ports.
///
/// # Errors
/// Fails if a port of the IP address can't be bound.
pub(crate) async fn free_addresses<const N: usize>() -> io::Result<[SocketAddr; N]> {
    static CALLS: AtomicU8 = AtomicU8::new(1);
    let host =
        if cfg!(target_os = "linux") { [127, 0, 1, CALLS.fetch_add(1, Ordering::Relaxed)] } else { [127, 0, 0, 1] };
    // All listeners are open at the same time, so that the ports differ; they are closed at the end of the function.
    let mut listeners = Vec::new();
    for _ in 0..N {
        listeners.push(TcpListener::bind((IpAddr::from(host), 0)).await?);
    }
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>()?;
    addresses.try_into().map_err(|_| io::Error::other("an address is missing"))
}

/// Sends a GET request over plain HTTP/1.1, and returns the whole response with its status line.
///
/// # Errors
/// Fails if no server listens at the address, and if the connection breaks.
pub(crate) async fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: operator\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    Ok(response)
}
