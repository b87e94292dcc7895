//! Implements the subcommand `opgen dev`: runs the loop that rebuilds and restarts an operator after changes, until Ctrl-C.

use std::process::ExitCode;

use tokio::runtime::Builder;

use crate::{
    args::Dev,
    dev::Session,
    error::{Result, ResultExt as _},
    shutdown::ShutdownSignals,
    ui::Ui,
};

/// Runs `opgen dev` on a new tokio runtime until a signal or an error.
pub(super) fn run(args: &Dev, ui: Ui) -> Result<ExitCode> {
    let runtime =
        Builder::new_multi_thread().enable_all().build().or_failed(|| "failed to start the sandbox".into())?;
    let result = runtime.block_on(develop(args, ui));
    runtime.shutdown_background();
    result.map(|()| ExitCode::SUCCESS)
}

/// Opens a session of `opgen dev`, runs it until a signal or an error, and closes it. Writes the report of `--report` in both cases.
async fn develop(args: &Dev, ui: Ui) -> Result<()> {
    let mut signals = ShutdownSignals::new()?;
    let mut session = Session::open(args, ui).await?;
    let result = tokio::select! {
        result = session.run() => result,
        () = signals.next() => Ok(()),
    };
    // A second signal skips the orderly end; the drop of the session kills the remaining processes.
    tokio::select! {
        () = session.close() => {}
        () = signals.next() => {}
    }
    result.and(session.report())
}
