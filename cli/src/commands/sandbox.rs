//! `opgen sandbox`: an API server in this process, until it is told to end.

use std::{path::PathBuf, process::ExitCode};

use opgen_sandbox::Sandbox as Server;
use tokio::runtime::Builder;

use crate::{
    args::Sandbox,
    error::{Error, Explain as _, Result},
    serving::{self, Signals},
    ui::{self, Ui},
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
    let mut signals = Signals::new()?;
    let builder = Server::builder().workloads(!args.no_workloads).owner_permissions(args.owner_permissions);
    let server = match &args.data {
        None => builder.start(),
        Some(data) => builder.open(data).map_err(|cause| {
            let what = format!("{} can't be used", data.display());
            Error::failed(what).because(cause).hint("name another file with `--data`, or none")
        })?,
    };
    let serving = serving::serve(&server, args.port, folder).await?;
    serving::announce(serving.path().unwrap_or(std::path::Path::new("")), &serving.url(), ui);
    // Without that line nobody finds the server.
    ui::all_handed_out()?;
    ui.status("Serving", &format!("{}; Ctrl-C ends it", serving.url()));
    signals.next().await;
    serving.stop().await;
    Ok(())
}
