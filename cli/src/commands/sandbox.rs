//! `opgen sandbox`: an API server in this process, until it is told to end.

use std::{net::Ipv4Addr, path::PathBuf, process::ExitCode};

use opgen_sandbox::{Sandbox as Server, ServeOptions};
use serde_json::json;
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::{
    args::Sandbox,
    error::{Error, Explain as _, Result},
    ui::Ui,
};

pub(super) fn run(args: &Sandbox, ui: Ui) -> Result<ExitCode> {
    let runtime = Builder::new_multi_thread().enable_all().build().or_failed(|| "the sandbox has no threads".into())?;
    // Where nobody says a folder, the kubeconfig goes with the server.
    let (folder, temporary) = match &args.folder {
        Some(folder) => (folder.clone(), None),
        None => {
            let temporary = tempfile::Builder::new().prefix("opgen-sandbox-").tempdir();
            let temporary = temporary.or_failed(|| "there is no place for the kubeconfig".into())?;
            (temporary.path().to_owned(), Some(temporary))
        }
    };
    let ended = runtime.block_on(serve(args, folder, ui));
    drop(temporary);
    ended.map(|()| ExitCode::SUCCESS)
}

async fn serve(args: &Sandbox, folder: PathBuf, ui: Ui) -> Result<()> {
    let handler = |kind| signal(kind).or_failed(|| "signals can't be listened to".to_owned());
    let (mut interrupt, mut terminate) = (handler(SignalKind::interrupt())?, handler(SignalKind::terminate())?);
    let builder = Server::builder().workloads(!args.no_workloads).owner_permissions(args.owner_permissions);
    let server = match &args.data {
        None => builder.start(),
        Some(data) => builder.open(data).map_err(|cause| {
            let what = format!("{} can't be used", data.display());
            Error::failed(what).because(cause).hint("name another file with `--data`, or none")
        })?,
    };
    let address = (Ipv4Addr::LOCALHOST, args.port).into();
    let options = ServeOptions { address, folder: Some(folder), ..ServeOptions::default() };
    let serving = server.serve(options).await.map_err(|cause| {
        let what = format!("port {} can't be listened on", args.port);
        Error::failed(what).because(cause).hint("leave `--port` out to get a free one")
    })?;
    let kubeconfig = serving.path().map(|path| path.display().to_string()).unwrap_or_default();
    ui.data(&format!("export KUBECONFIG={}", quoted(&kubeconfig)));
    ui.json(&json!({"kubeconfig": kubeconfig, "url": serving.url()}));
    ui.status("Serving", &format!("{}; Ctrl-C ends it", serving.url()));
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    serving.stop().await;
    Ok(())
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
