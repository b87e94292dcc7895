//! `Leadership`: the leader election of a run, or the lead of an operator that runs without election.

use super::{
    health::{HasHealth, SYNC_TIMEOUT, wait_for_sync},
    operator::Operator,
    run_error::RunError,
    wiring::Wiring,
};
use crate::{
    environment::Environment,
    lease::{
        election::{Election, Lock},
        guard,
        lead::Lead,
        options::{LeaderElection, LeaderElectionError},
    },
    metrics::Metrics,
};
use futures::future::join_all;
use std::sync::Arc;

/// The election of a run, if there is one.
pub(super) struct Leadership(Option<ElectedLead>);

/// The lead of a run with election.
struct ElectedLead {
    lead: Lead,
    election: Option<Election>,
    options: LeaderElection,
    client: kube::Client,
    operator: String,
    namespace: String,
    environment: Environment,
    metrics: Metrics,
}

impl ElectedLead {
    /// Shows in the metrics whether this process leads.
    fn set_leader(&self, leads: bool) {
        self.metrics.set_leader(&self.options.name_of(&self.operator), leads);
    }
}

impl Leadership {
    /// Prepares the election of `lead` with these options, if there are any. `client` reads and writes the Lease.
    ///
    /// # Errors
    /// Fails if an option can't be used.
    pub(super) fn new(
        operator: &Operator,
        options: Option<&LeaderElection>,
        lead: Lead,
        client: kube::Client,
        namespace: &str,
    ) -> Result<Self, LeaderElectionError> {
        let Some(options) = options else { return Ok(Self(None)) };
        options.check()?;
        let elected = ElectedLead {
            lead,
            election: None,
            options: options.clone(),
            client,
            operator: operator.name.clone(),
            namespace: namespace.to_owned(),
            environment: operator.environment.clone(),
            metrics: operator.metrics.clone(),
        };
        elected.set_leader(false);
        Ok(Self(Some(elected)))
    }

    /// Returns the lead; `None` without leader election.
    pub(super) fn lead(&self) -> Option<Lead> {
        self.0.as_ref().map(|elected| elected.lead.clone())
    }

    /// Wraps a client so that it writes only with the lead.
    pub(super) fn guard(&self, client: kube::Client) -> kube::Client {
        match &self.0 {
            Some(elected) => guard::wrap(client, elected.lead.clone()),
            None => client,
        }
    }

    /// Waits for the watches, at most for [`SYNC_TIMEOUT`], and then for the lead. Requested searches for orphans are dropped
    /// meanwhile: with the lead, all children are searched. Returns at once without leader election.
    ///
    /// # Errors
    /// Fails if the lead is lost at once.
    pub(super) async fn acquire(&mut self, watches: &[Arc<dyn HasHealth>], wirings: &[Wiring]) -> Result<(), RunError> {
        let Some(elected) = &mut self.0 else { return Ok(()) };
        let acquired = async {
            // The leader should be a replica that can begin at once. But a kind that can't be listed delays no other.
            let _ = tokio::time::timeout(SYNC_TIMEOUT, wait_for_sync(watches)).await;
            let lock = Lock {
                options: &elected.options,
                client: elected.client.clone(),
                operator: &elected.operator,
                namespace: &elected.namespace,
                environment: &elected.environment,
            };
            let election = elected.election.insert(Election::start(lock, elected.lead.clone()));
            let acquired = election.wait_until_leading().await;
            elected.set_leader(acquired.is_ok());
            acquired
        };
        let drop_searches = join_all(wirings.iter().map(Wiring::drop_searches));
        tokio::select! {
            biased;
            acquired = acquired => acquired.map_err(RunError::LeadLost),
            _ = drop_searches => Ok(()),
        }
    }

    /// Waits until the lead is lost; forever without leader election.
    pub(super) async fn wait_until_lost(&mut self) -> RunError {
        let Some(elected) = &mut self.0 else { return std::future::pending().await };
        let Some(election) = &mut elected.election else { return std::future::pending().await };
        let loss = election.wait_until_lost().await;
        elected.set_leader(false);
        RunError::LeadLost(loss)
    }

    /// Releases the lead, after the last write of the operator.
    pub(super) async fn release(self) -> Result<(), RunError> {
        let Some(elected) = self.0 else { return Ok(()) };
        elected.set_leader(false);
        if let Some(election) = elected.election {
            election.release().await;
        }
        Ok(())
    }
}
