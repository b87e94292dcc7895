//! `opgen dev`: the operator runs while it is written, until Ctrl-C.

use std::process::ExitCode;

use tokio::runtime::Builder;

use crate::{
    args::Dev,
    dev::Session,
    error::{Explain as _, Result},
    serving::Signals,
    ui::Ui,
};

pub(super) fn run(args: &Dev, ui: Ui) -> Result<ExitCode> {
    let runtime = Builder::new_multi_thread().enable_all().build().or_failed(|| "the sandbox has no threads".into())?;
    let ended = runtime.block_on(develop(args, ui));
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

async fn develop(args: &Dev, ui: Ui) -> Result<()> {
    let mut signals = Signals::new()?;
    let mut session = Session::open(args, ui).await?;
    let ended = tokio::select! {
        ended = session.run() => ended,
        () = signals.next() => Ok(()),
    };
    // A second signal is for those who can't wait; what is left is killed when the session goes.
    tokio::select! {
        () = session.close() => {}
        () = signals.next() => {}
    }
    ended.and(session.report())
}
