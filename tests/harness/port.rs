//! Free ports on the loopback address.

use std::{
    env::temp_dir,
    fs::{File, create_dir_all},
    hash::{BuildHasher as _, RandomState},
    net::{Ipv4Addr, SocketAddr, TcpListener},
};

/// Below the range from which Linux takes the local ports of outgoing connections: a port must still be free when a
/// server that was stopped starts again, and a client that knocks meanwhile must not come to talk to itself.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port that nobody listens on, and that no other plane or program of these suites takes while this is alive. That it is
/// free now is not enough: its server binds it a moment later, and once more after an outage.
#[derive(Debug)]
pub struct Port {
    pub(crate) number: u16,
    _reserved: File,
}

impl Port {
    /// Takes one by chance.
    ///
    /// # Panics
    /// If a thousand in a row are taken.
    pub fn reserve() -> Self {
        let random = RandomState::new();
        (0..1_000_u16)
            .map(|attempt| FIRST + (random.hash_one(attempt) % u64::from(COUNT)) as u16)
            .find_map(Self::reserve_one)
            .expect("no free port on 127.0.0.1 in 1000 attempts")
    }

    /// Where a server on it is found.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.number).into()
    }

    fn reserve_one(number: u16) -> Option<Self> {
        let folder = temp_dir().join("opgen-test-ports");
        create_dir_all(&folder).expect("a folder for reserved ports");
        let reserved = File::create(folder.join(number.to_string())).ok()?;
        // The lock goes with the process, however it ends.
        reserved.try_lock().ok()?;
        TcpListener::bind(("127.0.0.1", number)).ok()?;
        Some(Self { number, _reserved: reserved })
    }
}
