//! The sandbox behind HTTPS, as the commands start and announce it.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use opgen_sandbox::{Sandbox, ServeOptions, Serving};
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    error::{Error, Explain as _, Result},
    ui::Ui,
};

/// Listens on a port of the loopback (0 is any that is free), and writes a kubeconfig with all rights to a folder.
pub(crate) async fn serve(sandbox: &Sandbox, port: u16, folder: PathBuf) -> Result<Serving> {
    let address = (Ipv4Addr::LOCALHOST, port).into();
    let options = ServeOptions::default().address(address).folder(folder);
    sandbox.serve(options).await.map_err(|cause| {
        let what = format!("port {port} can't be listened on");
        Error::failed(what).because(cause).hint("leave `--port` out to get a free one")
    })
}

/// Says how others get there.
pub(crate) fn announce(kubeconfig: &Path, url: &str, ui: Ui) {
    let kubeconfig = kubeconfig.display().to_string();
    ui.data(&format!("export KUBECONFIG={}", quoted(&kubeconfig)));
    ui.json(&json!({"kubeconfig": kubeconfig, "url": url}));
}

/// What asks a command to end: Ctrl-C, and SIGTERM.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn new() -> Result<Self> {
        let handler = |kind| signal(kind).or_failed(|| "signals can't be listened to".to_owned());
        Ok(Self { interrupt: handler(SignalKind::interrupt())?, terminate: handler(SignalKind::terminate())? })
    }

    /// The next of either.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_path_survives_a_shell() {
        assert_eq!(quoted("/tmp/a-b.c"), "/tmp/a-b.c");
        assert_eq!(quoted("/tmp/it's here"), r"'/tmp/it'\''s here'");
    }
}
