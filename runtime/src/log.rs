//! Captures what a test logs.

use parking_lot::Mutex;
use std::{io, sync::Arc};
use tracing::subscriber::DefaultGuard;

/// What the thread of a test logs from here on, without times and modules.
pub(crate) struct Log {
    written: LogBuffer,
    _default: DefaultGuard,
}

#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn capture() -> Self {
        let written = LogBuffer::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).without_time().with_target(false);
        let subscriber = subscriber.with_writer(move || writer.clone()).finish();
        Self { written, _default: tracing::subscriber::set_default(subscriber) }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let written = self.written.0.lock();
        String::from_utf8_lossy(&written).lines().map(|line| line.trim().to_owned()).collect()
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
