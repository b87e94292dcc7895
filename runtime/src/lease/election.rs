//! `Election`: a candidate of a leader election that runs in a task, with functions that wait until the leadership is won or lost, and
//! release it.

use super::{
    candidate::Candidate,
    elector::{Elector, LeadLoss},
    identity::CandidateIdentity,
    lead::Lead,
    options::LeaderElection,
};
use crate::environment::Environment;
use kube::Api;
use std::collections::BTreeSet;
use tokio::{
    sync::oneshot,
    task::{JoinError, JoinSet},
};

/// A running candidate. Its drop ends it without a release.
pub(crate) struct Election {
    lead: Lead,
    task: JoinSet<Result<(), LeadLoss>>,
    stop: Option<oneshot::Sender<()>>,
}

/// The lock of an election, and the client that reads and writes it.
pub(crate) struct Lock<'a> {
    pub(crate) options: &'a LeaderElection,
    /// A client without the layers of the operator's own: the election has timeouts of its own, and writes without the lead.
    pub(crate) client: kube::Client,
    pub(crate) operator: &'a str,
    /// The namespace of the operator.
    pub(crate) namespace: &'a str,
    pub(crate) environment: &'a Environment,
}

impl Election {
    /// Starts a candidate with an identity of its own, which publishes the state of the leadership to `lead`.
    pub(crate) fn start(lock: Lock<'_>, lead: Lead) -> Self {
        let identity = CandidateIdentity::of_process(lock.environment);
        Self::start_as(lock, lead, identity, BTreeSet::new())
    }

    /// Starts a candidate for one of the Leases of a process, whose candidates have the same identity. A Lease whose holder is in `ended`,
    /// the identities of processes that are known to have ended, is free.
    pub(crate) fn start_as(lock: Lock<'_>, lead: Lead, identity: CandidateIdentity, ended: BTreeSet<String>) -> Self {
        let candidate = Candidate {
            elector: Elector::new(identity, lock.options).with_ended(ended),
            leases: Api::namespaced(lock.client, &lock.options.namespace_or(lock.namespace)),
            name: lock.options.name_of(lock.operator),
            operator: lock.operator.to_owned(),
            lead: lead.clone(),
            environment: lock.environment.clone(),
            watch: None,
            reopen_at: None,
            last_failure: None,
        };
        let (stop, stopped) = oneshot::channel();
        let mut task = JoinSet::new();
        // Only a message stops the candidate. When the `Election` is dropped, the sender is dropped without one, and the task is aborted.
        task.spawn(candidate.run(async {
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        }));
        Self { lead, task, stop: Some(stop) }
    }

    /// Waits until this replica leads.
    ///
    /// # Errors
    /// Fails if the leadership is lost before, or if the task of the candidate panics.
    pub(crate) async fn wait_until_leading(&mut self) -> Result<(), LeadLoss> {
        let lead = self.lead.clone();
        tokio::select! {
            biased;
            loss = self.wait_until_lost() => Err(loss),
            () = lead.wait_until_held() => Ok(()),
        }
    }

    /// Waits until the leadership is lost, or the task of the candidate ends.
    pub(crate) async fn wait_until_lost(&mut self) -> LeadLoss {
        loss_from_end(self.task.join_next().await)
    }

    /// Stops the candidate, which releases the Lease if it holds it, and waits until it has ended. The caller must not write anything after
    /// this call.
    pub(crate) async fn release(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        // The candidate limits its own requests.
        let _ = self.task.join_next().await;
    }
}

/// Converts the result of the ended task of a candidate to the reason why the leadership was lost. A task that panics, or that ends without
/// a loss, counts as stopped.
fn loss_from_end(result: Option<Result<Result<(), LeadLoss>, JoinError>>) -> LeadLoss {
    match result {
        Some(Ok(Err(loss))) => loss,
        Some(Err(error)) => {
            tracing::error!(%error, "the election ended unexpectedly");
            LeadLoss::Stopped
        }
        Some(Ok(Ok(()))) | None => LeadLoss::Stopped,
    }
}
