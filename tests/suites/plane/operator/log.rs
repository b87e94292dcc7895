//! What operators in this process log.

use std::{
    io,
    sync::{Mutex, Once, PoisonError},
};

static LOG: Mutex<String> = Mutex::new(String::new());

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).push_str(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps what is logged from now on.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let log = tracing_subscriber::fmt().with_writer(|| Writer).with_ansi(false);
        log.with_env_filter("info,opgen=trace,opgen::trace=off,kube_runtime=error").init();
    });
}

/// The lines that have all of these words.
pub(crate) fn lines_with(words: &[&str]) -> Vec<String> {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    log.lines().filter(|line| words.iter().all(|word| line.contains(word))).map(str::to_owned).collect()
}
