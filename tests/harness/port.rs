//! Free ports on the loopback address.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::TcpListener,
};

/// Below the range from which Linux takes the local ports of outgoing connections: a port must still be free when a
/// server that was stopped starts again, and a client that knocks meanwhile must not come to talk to itself.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port that nobody listens on now.
pub(crate) fn free() -> u16 {
    let random = RandomState::new();
    (0..1_000_u16)
        .map(|attempt| FIRST + (random.hash_one(attempt) % u64::from(COUNT)) as u16)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("no free port on 127.0.0.1 in 1000 attempts")
}
