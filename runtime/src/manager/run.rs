//! From an operator to a running one.
//!
//! # Flow
//! Hooks run first. Then all watches begin; when each has its first list, or is known to have none (its kind is missing, or
//! the role doesn't allow it), the workers start. At a signal no new pass begins; those in flight end;
//! then the events that wait are written, as long as the time for the end allows; then the watches.

use super::{operator::Operator, probes, sweep::Broom};
use crate::{client::Client, error::Error, kind::Kind, provisioner::document::Malformed};
use std::{net::SocketAddr, time::Duration};
use tokio::{task::JoinSet, time::Instant};

/// What may be said when an operator is started.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Watches this namespace only. Default: all, or the operator's own if it is [namespaced](Operator::namespaced).
    pub namespace: Option<String>,
    /// Where `/healthz` and `/readyz` are served. Default: nowhere.
    pub probes: Option<SocketAddr>,
}

/// Why an operator ended, other than by being asked to.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no usable kubeconfig and no service account.
    #[error("failed to find out how to reach the cluster")]
    Config(#[source] kube::config::InferConfigError),
    /// The configuration can't be used.
    #[error("failed to make a client for the cluster")]
    Client(#[source] kube::Error),
    /// A hook of a factory failed; nothing was started.
    #[error("failed to prepare the controller of {kind}: {error}")]
    Hook {
        /// The kind.
        kind: Kind,
        /// What the hook said.
        error: Error,
    },
    /// A tree has a manifest that can't be read; nothing was started.
    #[error("failed to read a manifest of the tree of {kind}")]
    Manifest {
        /// The kind.
        kind: Kind,
        /// What is wrong, and where.
        #[source]
        source: Malformed,
    },
    /// The address for probes is taken, or not this machine's.
    #[error("failed to listen on {address}")]
    Probes {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Signals can't be listened to.
    #[error("failed to listen to signals")]
    Signals(#[source] std::io::Error),
    /// Work in flight did not end in time.
    #[error("work in flight did not end within {} s", .0.as_secs())]
    Timeout(Duration),
    /// A second signal came while work in flight was waited for.
    #[error("ended at once by a second signal")]
    Interrupted,
}

impl Operator {
    /// Runs until SIGINT or SIGTERM, in the cluster that the environment says.
    ///
    /// # Errors
    /// As [`RunError`] lists.
    pub async fn run(&self, options: RunOptions) -> Result<(), RunError> {
        let mut config = kube::Config::infer().await.map_err(RunError::Config)?;
        // A failed call is the pass's to schedule; kube would hold it for minutes.
        config.default_retry = false;
        let client = kube::Client::try_from(config).map_err(RunError::Client)?;
        let mut signals = super::signals::Signals::new().map_err(RunError::Signals)?;
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

    /// Runs with a client of the caller's until `stop` ends.
    ///
    /// # Errors
    /// As [`RunError`] lists.
    pub async fn run_with(
        &self,
        client: kube::Client,
        options: RunOptions,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), RunError> {
        for factory in &self.factories {
            factory.shape().check().map_err(|source| RunError::Manifest { kind: factory.kind(), source })?;
        }
        for factory in &self.factories {
            let hook = |error| RunError::Hook { kind: factory.kind(), error };
            factory.upgrade(client.clone()).await.map_err(hook)?;
            factory.initialize(client.clone()).await.map_err(hook)?;
        }
        let home = std::env::var("POD_NAMESPACE").unwrap_or_else(|_| client.default_namespace().to_owned());
        let namespace = options.namespace.or_else(|| self.namespaced.then(|| home.clone()));
        let mut tasks = JoinSet::new();
        let (broom, searches) = Broom::new();
        let floor = self.floor(Client::new(client), home, namespace, broom, &mut tasks);
        let probes = probes::bind(options.probes).await?;
        let started = probes::Started::default();
        if let Some(listener) = probes {
            tasks.spawn(probes::serve(listener, floor.health(), started.clone()));
        }
        tracing::info!(operator = self.name, version = self.version, "starting");
        floor.follow(&mut tasks);
        floor.sweep(searches, &mut tasks);

        tokio::pin!(stop);
        tokio::select! {
            biased;
            () = floor.decided() => {}
            () = &mut stop => return Ok(()),
        }
        started.set();
        let mut work = JoinSet::new();
        for controller in &floor.controllers {
            work.spawn(controller.clone().work());
        }
        floor.broom.on_recovery();
        stop.await;
        for controller in &floor.controllers {
            controller.stop();
        }
        let deadline = Instant::now() + self.shutdown;
        let ended = tokio::time::timeout_at(deadline, async { while work.join_next().await.is_some() {} }).await;
        ended.map_err(|_| RunError::Timeout(self.shutdown))?;
        if tokio::time::timeout_at(deadline, floor.recorder.flush()).await.is_err() {
            tracing::warn!("some events were not recorded: there was no time left for them");
        }
        tracing::info!("stopped");
        Ok(())
    }
}
