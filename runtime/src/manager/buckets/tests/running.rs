//! Runs an operator in a task of a test.

use crate::{Operator, RunError, RunOptions};
use tokio::{sync::oneshot, task::JoinHandle};

/// An operator that runs.
pub(super) struct Running {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), RunError>>,
}

impl Running {
    pub(super) fn start(operator: &Operator, client: kube::Client) -> Self {
        Self::start_with(operator, client, RunOptions::default())
    }

    pub(super) fn start_with(operator: &Operator, client: kube::Client, options: RunOptions) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let operator = operator.clone();
        let task = tokio::spawn(async move {
            let stop = async { drop(stopped.await) };
            operator.run_with(client, options, stop).await
        });
        Self { stop, task }
    }

    pub(super) async fn stop(self) {
        drop(self.stop);
        self.task.await.unwrap().unwrap();
    }
}
