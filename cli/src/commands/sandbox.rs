//! Implements `opgen sandbox`: serves an API server from this process until a signal.

use std::{path::PathBuf, process::ExitCode};

use opgen_sandbox::Sandbox as Server;
use tokio::runtime::Builder;

use crate::{
    args::Sandbox,
    error::{Error, Result, ResultExt as _},
    sandbox_server,
    shutdown::ShutdownSignals,
    ui::{self, Ui},
};

/// Runs `opgen sandbox`: serves a sandbox on a new tokio runtime until a signal.
pub(super) fn run(args: &Sandbox, ui: Ui) -> Result<ExitCode> {
    let runtime =
        Builder::new_multi_thread().enable_all().build().or_failed(|| "failed to start the sandbox".into())?;
    // Without `--folder`, the kubeconfig is in a temporary folder.
    let (folder, temporary) = match &args.folder {
        Some(folder) => (folder.clone(), None),
        None => {
            let temporary = tempfile::Builder::new().prefix("opgen-sandbox-").tempdir();
            let temporary = temporary.or_failed(|| "failed to create a folder for the kubeconfig".into())?;
            (temporary.path().to_owned(), Some(temporary))
        }
    };
    let result = runtime.block_on(serve(args, folder, ui));
    drop(temporary);
    result.map(|()| ExitCode::SUCCESS)
}

/// Starts the sandbox, with its data if a file is given, prints its kubeconfig, and serves it until a signal.
async fn serve(args: &Sandbox, folder: PathBuf, ui: Ui) -> Result<()> {
    let mut signals = ShutdownSignals::new()?;
    let builder = Server::builder().workloads(!args.no_workloads).owner_permissions(args.owner_permissions);
    let server = match &args.data {
        None => builder.start(),
        Some(data) => builder.open(data).map_err(|cause| {
            let problem = format!("failed to use {}", data.display());
            Error::failed(problem).because(cause).hint("use another file with `--data`, or remove `--data`")
        })?,
    };
    let serving = sandbox_server::serve(&server, args.port, folder).await?;
    sandbox_server::print_kubeconfig(serving.path().unwrap_or(std::path::Path::new("")), &serving.url(), ui);
    // The user needs this line to find the server.
    ui::flush_stdout()?;
    ui.status("Serving", &format!("{}; press Ctrl-C to stop", serving.url()));
    signals.next().await;
    serving.stop().await;
    Ok(())
}
