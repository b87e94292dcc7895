//! Defines the state of a TCP proxy: whether it holds back all data, the direction whose data it loses (`Cut`), and the delay of the rest.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

/// The data that a [`Proxy`](super::Proxy) loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// No data is lost.
    #[default]
    Nothing,
    /// The data from the client to the server is lost.
    Requests,
    /// The data from the server to the client is lost.
    Responses,
    /// The data of both directions is lost.
    Both,
}

/// The direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

/// The state of a proxy, shared by its connections.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The number of the period; odd while the proxy is silent. A connection from an earlier period stays silent forever.
    pub(super) period: AtomicU64,
    /// The number of bytes from the server that a connection from a silent period still forwards.
    pub(super) passes: AtomicU64,
    pub(super) cut: watch::Sender<Cut>,
    /// The delay of all data, in milliseconds.
    pub(super) delay: AtomicU64,
}

impl State {
    /// Returns the number of the period.
    pub(super) fn period(&self) -> u64 {
        self.period.load(Ordering::SeqCst)
    }

    /// Returns the time at which data that was read now is forwarded.
    pub(super) fn due(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.delay.load(Ordering::SeqCst))
    }

    /// Returns whether the proxy loses the data of a direction.
    pub(super) fn is_cut(&self, direction: Direction) -> bool {
        match *self.cut.borrow() {
            Cut::Nothing => false,
            Cut::Requests => direction == Direction::Up,
            Cut::Responses => direction == Direction::Down,
            Cut::Both => true,
        }
    }

    /// Waits until no data is lost.
    pub(super) async fn wait_until_healed(&self) {
        // The sender lives as long as `self`.
        let _ = self.cut.subscribe().wait_for(|cut| *cut == Cut::Nothing).await;
    }
}
