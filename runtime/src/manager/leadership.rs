//! `Leadership`: how the run of an operator gets the right to write: as the only replica, by leader election, or for the objects of its
//! shards.

use super::{
    health::{HasHealth, SYNC_TIMEOUT, wait_for_sync},
    operator::Operator,
    probed_lead::ProbedLead,
    run_error::RunError,
    sharded_lead::ShardedLead,
    wiring::Wiring,
};
use crate::{
    environment::Environment,
    lease::{
        election::{Election, Lock},
        elector::LeadLoss,
        guard,
        leads::Leads,
        options::{LeaderElection, LeaderElectionError},
    },
    metrics::Metrics,
    shard::{coordinator::MemberFacts, gate::Shards, hash::ShardCount},
};
use futures::future::join_all;
use std::sync::Arc;

/// The election of a run, if there is one.
pub(super) enum Leadership {
    /// This replica is the only one.
    Alone,
    /// One of several replicas writes.
    Elected(Box<ElectedLead>),
    /// Several replicas write, each the objects of its shards.
    Sharded(Box<ShardedLead>),
}

/// The lead of a run with election.
pub(super) struct ElectedLead {
    leads: Leads,
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

    /// Starts the election, and waits until this replica holds the Lease. The metrics then show that it leads.
    ///
    /// # Errors
    /// Fails if the Lease is lost at once, or the task of the election ends.
    async fn acquire(&mut self) -> Result<(), LeadLoss> {
        let lock = Lock {
            options: &self.options,
            client: self.client.clone(),
            operator: &self.operator,
            namespace: &self.namespace,
            environment: &self.environment,
        };
        let election = self.election.insert(Election::start(lock, self.leads.process().clone()));
        let acquired = election.wait_until_leading().await;
        self.set_leader(acquired.is_ok());
        acquired
    }

    /// Waits until the Lease is lost; forever if the election has not started.
    async fn wait_until_lost(&mut self) -> LeadLoss {
        let Some(election) = &mut self.election else { return std::future::pending().await };
        let loss = election.wait_until_lost().await;
        self.set_leader(false);
        loss
    }

    /// Ends the election, and releases the Lease if this replica holds it.
    async fn release(self) {
        self.set_leader(false);
        if let Some(election) = self.election {
            election.release().await;
        }
    }
}

impl Leadership {
    /// Prepares how the run gets the right to write: by shards if the operator has any, else by leader election if there are `options`,
    /// else as the only replica. The election starts later, and then keeps `leads` up to date, the state of the Leases that each write
    /// checks. `client` reads and writes the Leases.
    ///
    /// # Errors
    /// Fails if an option can't be used.
    pub(super) fn new(
        operator: &Operator,
        options: Option<&LeaderElection>,
        leads: Leads,
        client: kube::Client,
        namespace: &str,
    ) -> Result<Self, LeaderElectionError> {
        let count = operator.shards.and_then(ShardCount::new);
        let default = LeaderElection::default();
        // Shards have Leases also if leader election is off, so they have default options.
        let shard_options = count.map(|_| operator.shard_leases.as_ref().or(options).unwrap_or(&default));
        let Some(options) = shard_options.or(options) else { return Ok(Self::Alone) };
        options.check()?;
        if let Some(count) = count {
            let facts = MemberFacts {
                options: options.clone(),
                client,
                operator: operator.name.clone(),
                namespace: namespace.to_owned(),
                environment: operator.environment.clone(),
            };
            return Ok(Self::Sharded(Box::new(ShardedLead::new(facts, Shards::new(count, leads), &operator.metrics))));
        }
        let elected = ElectedLead {
            leads,
            election: None,
            options: options.clone(),
            client,
            operator: operator.name.clone(),
            namespace: namespace.to_owned(),
            environment: operator.environment.clone(),
            metrics: operator.metrics.clone(),
        };
        elected.set_leader(false);
        Ok(Self::Elected(Box::new(elected)))
    }

    /// Returns the state of the Leases that each write checks; `None` if this replica is the only one, without leader election and shards.
    pub(super) fn leads(&self) -> Option<&Leads> {
        match self {
            Self::Alone => None,
            Self::Elected(elected) => Some(&elected.leads),
            Self::Sharded(sharded) => Some(sharded.leads()),
        }
    }

    /// Returns the lead as the probes see it.
    pub(super) fn probed(&self) -> ProbedLead {
        ProbedLead { leads: self.leads().cloned(), shards: self.shards().cloned() }
    }

    /// Returns the shards that this replica holds; `None` for an operator without shards.
    pub(super) fn shards(&self) -> Option<&Shards> {
        match self {
            Self::Sharded(sharded) => Some(sharded.shards()),
            Self::Alone | Self::Elected(_) => None,
        }
    }

    /// Returns the runnable or the upgrade hook because of which the run must be refused; `None` if there is none. `part` names the first
    /// that needs the leader, and is called only with shards, because then no replica is the leader.
    pub(super) fn refused_part(&self, part: impl FnOnce() -> Option<String>) -> Option<String> {
        match self {
            Self::Sharded(_) => part(),
            Self::Alone | Self::Elected(_) => None,
        }
    }

    /// Wraps a client so that it refuses writes while this replica does not hold the Lease. Without leader election and shards, it returns
    /// the client itself.
    pub(super) fn guard(&self, client: kube::Client) -> kube::Client {
        match self.leads() {
            Some(leads) => guard::guard_writes(client, leads.clone()),
            None => client,
        }
    }

    /// Waits until the watches have synced, for at most [`SYNC_TIMEOUT`], and then until this replica leads; with shards, until it may
    /// take shards. Without leader election and shards, it returns at once. Requests to search for orphans are dropped meanwhile, since
    /// each controller requests a search of all children when it starts.
    ///
    /// # Errors
    /// Fails if the Lease of this replica is lost at once.
    pub(super) async fn acquire(
        &mut self,
        watches: &[Arc<dyn HasHealth>],
        wirings: &Arc<[Wiring]>,
    ) -> Result<(), RunError> {
        if matches!(self, Self::Alone) {
            return Ok(());
        }
        let acquired = async {
            // The leader should be a replica that can begin at once. A kind that can't be listed delays the others for the timeout only.
            let _ = tokio::time::timeout(SYNC_TIMEOUT, wait_for_sync(watches)).await;
            match self {
                Self::Alone => Ok(()),
                Self::Elected(elected) => elected.acquire().await,
                Self::Sharded(sharded) => {
                    let wirings = wirings.clone();
                    let on_open = move |shard| wirings.iter().for_each(|wiring| wiring.on_shard_open(shard));
                    sharded.join(Arc::new(on_open)).await
                }
            }
        };
        let drop_searches = join_all(wirings.iter().map(Wiring::drop_searches));
        tokio::select! {
            biased;
            acquired = acquired => acquired.map_err(RunError::LeadLost),
            // Never completes.
            _ = drop_searches => Ok(()),
        }
    }

    /// Drops the sender `led`, whose receiver then starts the runnables that need the leader. With shards it returns the sender instead, so
    /// that such runnables never start, also if they are added later: no replica is the leader.
    pub(super) fn announce<T>(&self, led: T) -> Option<T> {
        self.shards().map(|_| led)
    }

    /// Waits until a Lease is lost, while the operator runs; forever without leader election and shards. With shards, it takes and hands
    /// over shards meanwhile.
    pub(super) async fn hold(&mut self) -> RunError {
        match self {
            Self::Sharded(sharded) => RunError::LeadLost(sharded.hold().await),
            Self::Alone | Self::Elected(_) => self.wait_until_lost().await,
        }
    }

    /// Waits until a Lease is lost, during the shutdown; forever without leader election and shards. It takes no further shards.
    pub(super) async fn wait_until_lost(&mut self) -> RunError {
        let loss = match self {
            Self::Alone => std::future::pending().await,
            Self::Elected(elected) => elected.wait_until_lost().await,
            Self::Sharded(sharded) => sharded.wait_until_lost().await,
        };
        RunError::LeadLost(loss)
    }

    /// Releases the Leases, after the last write of the operator.
    pub(super) async fn release(self) {
        match self {
            Self::Alone => {}
            Self::Elected(elected) => elected.release().await,
            Self::Sharded(sharded) => sharded.release().await,
        }
    }
}
