//! Waits for the signals that end `opgen dev` and `opgen sandbox`.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{Result, ResultExt as _};

/// The signals SIGINT (Ctrl-C) and SIGTERM.
#[derive(Debug)]
pub(crate) struct ShutdownSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl ShutdownSignals {
    pub(crate) fn new() -> Result<Self> {
        let handler = |kind| signal(kind).or_failed(|| "failed to listen to signals".to_owned());
        Ok(Self { interrupt: handler(SignalKind::interrupt())?, terminate: handler(SignalKind::terminate())? })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
