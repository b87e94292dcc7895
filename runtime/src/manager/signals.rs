//! `StopSignals` waits for SIGINT and SIGTERM, or for the console events of Windows.

use futures::future::BoxFuture;
use std::{fmt::Debug, io};

/// Waits for signals that ask the process to end.
pub(crate) trait StopSignals: Debug + Send {
    /// Waits for the next signal.
    fn next(&mut self) -> BoxFuture<'_, ()>;
}

/// Registers for the stop signals of the operating system.
///
/// # Errors
/// If the operating system refuses the registration.
pub(crate) fn register() -> io::Result<Box<dyn StopSignals>> {
    Ok(Box::new(system::new()?))
}

#[cfg(unix)]
mod system {
    use crate::manager::signals::StopSignals;
    use futures::future::{BoxFuture, FutureExt};
    use std::io;
    use tokio::signal::unix::{Signal, SignalKind, signal};

    pub(super) fn new() -> io::Result<Signals> {
        Signals::new()
    }

    /// SIGINT and SIGTERM.
    #[derive(Debug)]
    pub(super) struct Signals {
        interrupt: Signal,
        terminate: Signal,
    }

    impl Signals {
        fn new() -> io::Result<Self> {
            Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
        }
    }

    impl StopSignals for Signals {
        /// Waits for the next SIGINT or SIGTERM.
        fn next(&mut self) -> BoxFuture<'_, ()> {
            async {
                tokio::select! {
                    _ = self.interrupt.recv() => {}
                    _ = self.terminate.recv() => {}
                }
            }
            .boxed()
        }
    }
}

#[cfg(windows)]
mod system {
    use crate::manager::signals::StopSignals;
    use futures::future::{BoxFuture, FutureExt};
    use std::io;
    use tokio::signal::windows::{
        CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
    };

    pub(super) fn new() -> io::Result<ConsoleEvents> {
        ConsoleEvents::new()
    }

    /// Ctrl-C, Ctrl-Break, the close of the console, and the shutdown of the system.
    #[derive(Debug)]
    pub(super) struct ConsoleEvents {
        interrupt: CtrlC,
        stop: CtrlBreak,
        close: CtrlClose,
        shutdown: CtrlShutdown,
    }

    impl ConsoleEvents {
        fn new() -> io::Result<Self> {
            Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
        }
    }

    impl StopSignals for ConsoleEvents {
        /// Waits for the next console event that ends the process.
        fn next(&mut self) -> BoxFuture<'_, ()> {
            async {
                tokio::select! {
                    _ = self.interrupt.recv() => {}
                    _ = self.stop.recv() => {}
                    _ = self.close.recv() => {}
                    _ = self.shutdown.recv() => {}
                }
            }
            .boxed()
        }
    }
}
