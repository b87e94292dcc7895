//! Serves the sandbox, an API server inside the process, over HTTPS, and prints the kubeconfig for it.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use opgen_sandbox::{Sandbox, ServeOptions, Serving};
use serde_json::json;

use crate::{
    error::{Error, Result},
    ui::Ui,
};

/// Serves the sandbox on a port of the loopback interface (0 is any free port), and writes an administrator's kubeconfig to a folder.
pub(crate) async fn serve(sandbox: &Sandbox, port: u16, folder: PathBuf) -> Result<Serving> {
    let address = (Ipv4Addr::LOCALHOST, port).into();
    let options = ServeOptions::default().address(address).folder(folder);
    sandbox.serve(options).await.map_err(|cause| {
        let problem = format!("failed to listen on port {port}");
        Error::failed(problem).because(cause).hint("remove `--port` to use a free port")
    })
}

/// Prints the `export KUBECONFIG` line for a shell, or the path and the URL as JSON.
pub(crate) fn print_kubeconfig(kubeconfig: &Path, url: &str, ui: Ui) {
    let kubeconfig = kubeconfig.display().to_string();
    ui.data(&format!("export KUBECONFIG={}", quoted(&kubeconfig)));
    ui.json(&json!({"kubeconfig": kubeconfig, "url": url}));
}

/// Quotes a word for a shell.
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
