//! Captures the log lines of the current thread, so that a test can compare them.

use parking_lot::Mutex;
use std::{io, sync::Arc};
use tracing::subscriber::DefaultGuard;

/// The log lines of the current thread since [`Log::capture`], without times and modules.
pub(crate) struct Log {
    buffer: LogBuffer,
    _default: DefaultGuard,
}

#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Captures the log of the current thread until the returned value is dropped.
    pub(crate) fn capture() -> Self {
        let buffer = LogBuffer::default();
        let writer = buffer.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).without_time().with_target(false);
        let subscriber = subscriber.with_writer(move || writer.clone()).finish();
        Self { buffer, _default: tracing::subscriber::set_default(subscriber) }
    }

    /// Returns the lines that were logged so far, without surrounding spaces.
    pub(crate) fn lines(&self) -> Vec<String> {
        let buffer = self.buffer.0.lock();
        String::from_utf8_lossy(&buffer).lines().map(|line| line.trim().to_owned()).collect()
    }
}

impl io::Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
