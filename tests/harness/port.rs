//! Reserves free ports on the loopback address.

use std::{
    env::temp_dir,
    fs::{File, create_dir_all},
    hash::{BuildHasher as _, RandomState},
    net::{Ipv4Addr, SocketAddr, TcpListener},
};

/// The first port. The range is below the local ports of outgoing connections on Linux: a port has to be free when a stopped
/// server starts again, and a client that reconnects in the meantime must not connect to itself.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A free port that no other plane or program of these suites uses while the value is alive. It is reserved because its server
/// binds it later, and again after an outage.
#[derive(Debug)]
pub struct Port {
    pub(crate) number: u16,
    _reserved: File,
}

impl Port {
    /// Reserves a random port.
    ///
    /// # Panics
    /// If 1,000 random ports are in use.
    pub fn reserve() -> Self {
        let random = RandomState::new();
        (0..1_000_u16)
            .map(|attempt| FIRST + (random.hash_one(attempt) % u64::from(COUNT)) as u16)
            .find_map(Self::reserve_one)
            .expect("no free port on 127.0.0.1 in 1000 attempts")
    }

    /// Returns the address of a server on the port.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.number).into()
    }

    /// Reserves a port by a locked file; `None` if another process has reserved it, or listens on it.
    fn reserve_one(number: u16) -> Option<Self> {
        let folder = temp_dir().join("opgen-test-ports");
        create_dir_all(&folder).expect("a folder for reserved ports");
        let reserved = File::create(folder.join(number.to_string())).ok()?;
        // The operating system releases the lock when the process ends.
        reserved.try_lock().ok()?;
        TcpListener::bind(("127.0.0.1", number)).ok()?;
        Some(Self { number, _reserved: reserved })
    }
}
