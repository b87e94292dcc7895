//! From an operator to a running one.
//!
//! # Flow
//! Hooks run first. Then all watches begin. The workers of a controller start when each watch that it needs has its first list, or
//! is known to have none (its kind is missing, or the role doesn't allow it); so a kind that can't be listed holds up only the
//! controllers that need it. At a signal no new pass begins; those in flight end; then the events that wait are written, as long
//! as the time for the end allows; then the watches.

use crate::{
    client::Client, controller::worker::Running, manager::run_error::RunError, provisioner::schedule::guarded,
};
use futures::FutureExt;
use std::{net::SocketAddr, sync::Arc};
use tokio::{task::JoinSet, time::Instant};
use {
    super::{
        conditions::check_stored,
        health::{AsHealth, decided},
        operator::Operator,
        probes::{self, Probed},
        tasks::{OnEnd, Tasks},
    },
    crate::garbage::orphans::Broom,
};

/// What may be said when an operator is started.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Watches this namespace only. Default: all, or the operator's own if it is [namespaced](Operator::namespaced).
    pub namespace: Option<String>,
    /// Where `/healthz` and `/readyz` are served. Default: nowhere.
    pub probes: Option<SocketAddr>,
}

impl RunOptions {
    /// Watches this namespace only.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Serves `/healthz` and `/readyz` at this address.
    #[must_use]
    pub fn probes(mut self, address: SocketAddr) -> Self {
        self.probes = Some(address);
        self
    }
}

impl Operator {
    /// Runs until SIGINT or SIGTERM, in the cluster that the environment says.
    ///
    /// # Errors
    /// As [`RunError`] lists.
    pub async fn run(&self, options: RunOptions) -> Result<(), RunError> {
        let config = kube::Config::infer().await.map_err(RunError::Config)?;
        let client = self.timeouts.client(config).map_err(RunError::Client)?;
        let mut signals = super::signals::of_this_system().map_err(RunError::Signals)?;
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = self.run_with(client, options, async {
            // A dropped sender is a stop as well.
            let _ = stopped.await;
        });
        tokio::pin!(running);
        tokio::select! {
            biased;
            ended = &mut running => return ended,
            () = signals.next() => tracing::info!("stopping; a second signal ends at once"),
        }
        drop(stop);
        tokio::select! {
            biased;
            ended = running => ended,
            () = signals.next() => Err(RunError::Interrupted),
        }
    }

    /// Runs with a client of the caller's until `stop` ends. Its calls end by the operator's
    /// [timeouts](Operator::timeouts), but for that for connecting; [`Timeouts::client`](crate::Timeouts::client) makes one with all.
    ///
    /// # Errors
    /// As [`RunError`] lists.
    pub async fn run_with(
        &self,
        client: kube::Client,
        options: RunOptions,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), RunError> {
        self.check_conditions().map_err(RunError::Conditions)?;
        let client = self.timeouts.bound(client, self.counters.clone());
        for factory in &self.factories {
            factory.shape().check().map_err(|source| RunError::Manifest { kind: factory.kind(), source })?;
        }
        for factory in &self.factories {
            let hook = |error| RunError::Hook { kind: factory.kind(), error };
            guarded(async { factory.upgrade(client.clone()).await }).await.map_err(hook)?;
            guarded(async { factory.initialize(client.clone()).await }).await.map_err(hook)?;
        }
        let home = std::env::var("POD_NAMESPACE").unwrap_or_else(|_| client.default_namespace().to_owned());
        let namespace = options.namespace.or_else(|| self.namespaced.then(|| home.clone()));
        let mut tasks = Tasks::new(self.counters.clone());
        let (broom, searches) = Broom::new();
        let client = Client::throttled(client, self.environment.clone(), self.counters.clone());
        let client = client.with_page_size(self.page_size);
        let floor = self.floor(client.clone(), home, namespace, broom, &mut tasks);
        if let Some(listener) = probes::bind(options.probes).await? {
            let probed = Probed::new(&floor, tasks.down());
            let listener = Arc::new(listener);
            tasks
                .spawn("probes", None, OnEnd::Restart, move || probes::serve(listener.clone(), probed.clone()).boxed());
        }
        tracing::info!(operator = self.name, version = self.version, "starting");
        floor.follow(&mut tasks);
        floor.sweep(searches, &mut tasks);
        let mut work = JoinSet::new();
        for controller in &floor.controllers {
            let needs = floor.needs(controller);
            let check = (client.clone(), self.name.clone(), floor.controllers.clone());
            work.spawn(work_when_decided(controller.clone(), needs, floor.broom.clone(), check));
        }
        tokio::select! {
            biased;
            refused = refusal(&mut work) => return Err(refused),
            () = stop => {}
        }
        for controller in &floor.controllers {
            controller.stop();
        }
        let began = Instant::now();
        let ended = tokio::time::timeout(self.shutdown, async { while work.join_next().await.is_some() {} }).await;
        ended.map_err(|_| RunError::Timeout(self.shutdown))?;
        let left = self.shutdown.saturating_sub(began.elapsed());
        if tokio::time::timeout(left, floor.recorder.flush()).await.is_err() {
            tracing::warn!("some events were not recorded: there was no time left for them");
        }
        tracing::info!("stopped");
        Ok(())
    }
}

/// Lets a controller work as soon as it has what it needs and may write what it writes, until it is stopped.
async fn work_when_decided(
    controller: Arc<Running>,
    needs: Vec<Arc<dyn AsHealth>>,
    broom: Broom,
    (client, operator, all): (Client, String, Vec<Arc<Running>>),
) -> Result<(), RunError> {
    let checked = async {
        decided(&needs).await;
        check_stored(&client, &operator, &controller, &all).await
    };
    tokio::select! {
        biased;
        () = controller.stopped() => return Ok(()),
        checked = checked => checked.map_err(RunError::Conditions)?,
    }
    // Orphans of its kind can be told from children only now.
    broom.on_recovery();
    controller.work().await;
    Ok(())
}

/// Why a controller may not work or has ended, as soon as one may not or has; else nothing, for ever.
async fn refusal(work: &mut JoinSet<Result<(), RunError>>) -> RunError {
    while let Some(ended) = work.join_next().await {
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(refused)) => return refused,
            // Its objects would be left alone without a word; the next run has them all.
            Err(error) => {
                tracing::error!(%error, "a controller ended unexpectedly");
                return RunError::Controller(error);
            }
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_controller_that_panics_ends_the_run_with_an_error() {
        let mut work = JoinSet::new();
        work.spawn(async { panic!("torn") });
        let ended = refusal(&mut work).await;
        assert!(matches!(ended, RunError::Controller(_)), "{ended:?}");
    }

    #[tokio::test]
    async fn the_longest_time_to_end_is_no_panic() {
        let operator = Operator::new("idle").shutdown_timeout(Duration::MAX);
        let ended = operator.run_with(Client::none().kube(), RunOptions::default(), async {}).await;
        assert!(ended.is_ok(), "{ended:?}");
    }
}
