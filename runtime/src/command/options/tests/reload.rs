//! Tests that a change of the log filter in the file takes effect while the process runs.

use super::load;
use crate::command::options::log_reload::LogReload;
use parking_lot::Mutex;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

/// The lines of a log.
#[derive(Clone, Default)]
pub(super) struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    pub(super) fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock())).unwrap()
    }
}

/// A process with a configuration file and the log of the current thread.
struct Process {
    _folder: tempfile::TempDir,
    path: PathBuf,
    lines: Lines,
    _log: DefaultGuard,
}

fn write(path: &Path, body: &str) {
    let header = "apiVersion: config.opgen.dev/v1alpha1\nkind: OperatorConfiguration";
    fs::write(path, format!("{header}\n{body}\n")).unwrap();
}

impl Process {
    /// Starts the log with a file and flags, and follows the file.
    fn start(body: &str, flags: &[&str]) -> (Self, LogReload) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        write(&path, body);
        let flags = flags.iter().map(|flag| (*flag).to_owned());
        let arguments: Vec<_> = [format!("--config={}", path.display())].into_iter().chain(flags).collect();
        let configuration = load(&arguments).unwrap();
        let lines = Lines::default();
        let writer = lines.clone();
        let (reload, layer) =
            LogReload::new(configuration.flags.log, configuration.file, move || writer.clone(), false).unwrap();
        let log = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        (Self { _folder: folder, path, lines, _log: log }, reload)
    }

    /// Changes the file, and waits until it has been read again.
    async fn change(&self, body: &str) -> String {
        self.lines.take();
        write(&self.path, body);
        tokio::time::advance(Duration::from_secs(6)).await;
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        self.lines.take()
    }

    /// Returns the levels at which the process logs.
    fn levels(&self) -> Vec<&'static str> {
        self.lines.take();
        tracing::debug!("a debug line");
        tracing::info!("an info line");
        tracing::warn!("a warn line");
        let text = self.lines.take();
        ["debug", "info", "warn"].into_iter().filter(|level| text.contains(&format!("{level} line"))).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_filter_takes_effect_and_a_wrong_file_changes_nothing() {
    let (process, reload) = Process::start("log: {filter: warn}", &[]);
    tokio::spawn(reload.follow_file());
    assert_eq!(process.levels(), ["warn"]);
    let said = process.change("log: {filter: debug}").await;
    assert!(said.contains("changed the log filter") && said.contains("debug"), "{said}");
    assert_eq!(process.levels(), ["debug", "info", "warn"]);
    let said = process.change("log: {filter: debug, formt: json}").await;
    assert!(said.contains("log.formt: unknown key") && said.contains("did you mean `log.format`?"), "{said}");
    assert_eq!(process.levels(), ["debug", "info", "warn"]);
    let said = process.change("controllers: {workers: 2}").await;
    assert!(said.contains("changed the log filter") && said.contains("take effect at the next start"), "{said}");
    assert_eq!(process.levels(), ["info", "warn"]);
    // A file that is missing while it is replaced changes nothing.
    fs::remove_file(&process.path).unwrap();
    let said = process.change("log: {filter: warn}\ncontrollers: {workers: 2}").await;
    assert_eq!((process.levels(), said.contains("failed")), (vec!["warn"], false), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_flag_overrides_the_filter_of_a_changed_file() {
    let (process, reload) = Process::start("log: {filter: debug}", &["--log=warn"]);
    tokio::spawn(reload.follow_file());
    assert_eq!(process.levels(), ["warn"]);
    process.change("log: {filter: trace}").await;
    assert_eq!(process.levels(), ["warn"]);
}

#[tokio::test(start_paused = true)]
async fn the_format_is_that_of_the_file() {
    let (process, _reload) = Process::start("log: {format: json}", &[]);
    tracing::info!(kind = "WebApp", "started");
    let line: serde_json::Value = serde_json::from_str(&process.lines.take()).unwrap();
    assert_eq!((&line["fields"]["message"], &line["level"]), (&"started".into(), &"INFO".into()));
}
