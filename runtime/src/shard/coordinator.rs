//! `ShardCoordinator`: makes this replica a member of the group that shares the shards, and acquires and releases the Leases of shards.

use super::{
    assignment,
    claim::{OnShardOpen, ShardClaim},
    gate::Shards,
    members::SHARDS_LABEL,
    membership::Membership,
};
use crate::{
    environment::Environment,
    error::ErrorChain,
    lease::{
        election::{Election, Lock},
        elector::LeadLoss,
        identity::CandidateIdentity,
        lead::Lead,
        options::LeaderElection,
    },
};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, api::DeleteParams};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use tokio::{
    sync::oneshot,
    task::{JoinError, JoinSet},
    time::timeout,
};

/// The maximum time of the deletion of the own Lease at the end.
const DELETION_TIMEOUT: Duration = Duration::from_secs(2);

/// The facts of a member that its elections need.
pub(crate) struct MemberFacts {
    /// The options of leader election; the names of all Leases begin with its name.
    pub(crate) options: LeaderElection,
    pub(crate) client: kube::Client,
    pub(crate) operator: String,
    /// The namespace of the operator.
    pub(crate) namespace: String,
    pub(crate) environment: Environment,
}

/// A member of the group of replicas that share the shards.
pub(crate) struct ShardCoordinator {
    facts: MemberFacts,
    shards: Shards,
    identity: CandidateIdentity,
    /// The election of the own Lease, for which there is no other candidate.
    member: Election,
    /// The name of the own Lease.
    own_lease: String,
    /// The prefix of the names of all members' Leases.
    lease_prefix: String,
    /// The members, once this one has joined them.
    membership: Option<Membership>,
    on_open: OnShardOpen,
    /// The tasks that hold or try to acquire a shard, by shard: a task hands its shard over when its sender is dropped. `None` if that has
    /// begun.
    claims: BTreeMap<u16, Option<oneshot::Sender<()>>>,
    tasks: JoinSet<Result<u16, LeadLoss>>,
}

impl MemberFacts {
    /// Returns the name from which the names of all Leases are made.
    pub(crate) fn lease_name(&self) -> String {
        self.options.name_of(&self.operator)
    }

    /// Returns the API of the Leases in the namespace of the leader election.
    fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.client.clone(), &self.options.namespace_or(&self.namespace))
    }

    /// Starts a candidate for the Lease that `options` name. It publishes to `lead` whether it holds the Lease. `ended` are the identities
    /// of replicas that have ended: a Lease that one of them holds is free.
    fn elect(
        &self,
        options: LeaderElection,
        lead: Lead,
        identity: &CandidateIdentity,
        ended: BTreeSet<String>,
    ) -> Election {
        let lock = Lock {
            options: &options,
            client: self.client.clone(),
            operator: &self.operator,
            namespace: &self.namespace,
            environment: &self.environment,
        };
        Election::start_as(lock, lead, identity.clone(), ended)
    }
}

impl ShardCoordinator {
    /// Creates the coordinator, and starts to acquire the Lease by which the other replicas see this one as a member. `on_open` is called
    /// for each shard that this member has acquired, once its objects are cached.
    pub(crate) fn start(facts: MemberFacts, shards: Shards, on_open: OnShardOpen) -> Self {
        let identity = CandidateIdentity::of_process(&facts.environment);
        let prefix = format!("{}-member-", facts.lease_name());
        let own_lease = format!("{prefix}{}", identity.member_name());
        let options =
            facts.options.clone().lease_name(&own_lease).label(SHARDS_LABEL, shards.count().get().to_string());
        let member = facts.elect(options, shards.leads().process().clone(), &identity, BTreeSet::new());
        let (claims, tasks) = Default::default();
        Self {
            facts,
            shards,
            identity,
            member,
            own_lease,
            lease_prefix: prefix,
            membership: None,
            on_open,
            claims,
            tasks,
        }
    }

    /// Waits until this member holds its own Lease, and until all live members are configured with the same number of shards. After that,
    /// it may acquire shards.
    ///
    /// # Errors
    /// Fails if the own Lease is lost.
    pub(crate) async fn join(&mut self) -> Result<(), LeadLoss> {
        self.member.wait_until_leading().await?;
        // The other members are listed after the own Lease exists. So if two members start at once with different numbers of shards, at
        // least one of them sees the other.
        let (facts, shards) = (&self.facts, &self.shards);
        let names = (self.own_lease.clone(), self.lease_prefix.clone());
        let mut membership = Membership::new(facts.leases(), names, shards.count(), &facts.options);
        let mut last_reason = None;
        let agreed = membership.wait_until_same_shard_count(|reason| {
            if last_reason.as_ref() != Some(&reason) {
                tracing::info!("{reason}");
                shards.set_waiting(Some(reason.clone()));
                last_reason = Some(reason);
            }
        });
        tokio::select! {
            biased;
            loss = self.member.wait_until_lost() => return Err(loss),
            () = agreed => {}
        }
        shards.set_waiting(None);
        self.membership = Some(membership);
        Ok(())
    }

    /// Acquires the shards that this member should hold and hands over the others, whenever the live members change, until a Lease is lost.
    /// The future may be dropped, and the function called again.
    pub(crate) async fn run(&mut self) -> LeadLoss {
        loop {
            self.update_claims();
            let Self { membership: Some(membership), member, tasks, claims, .. } = self else {
                return self.wait_until_lost().await;
            };
            tokio::select! {
                biased;
                ended = end_of_claim(member, tasks, claims) => if let Err(loss) = ended {
                    return loss;
                },
                () = membership.changed() => {}
            }
        }
    }

    /// Waits until a Lease is lost, during the shutdown of the operator. Ends the candidates for shards that are not held yet. The held
    /// shards stay held until [`ShardCoordinator::release`].
    pub(crate) async fn wait_until_lost(&mut self) -> LeadLoss {
        for (shard, stop) in &mut self.claims {
            if !self.shards.holds(*shard) {
                drop(stop.take());
            }
        }
        loop {
            if let Err(loss) = end_of_claim(&mut self.member, &mut self.tasks, &mut self.claims).await {
                return loss;
            }
        }
    }

    /// Releases all Leases, after the last write of the operator, and deletes the own one. The own Lease is released before those of the
    /// shards, so that the other members already are candidates for the shards when these are released.
    pub(crate) async fn release(mut self) {
        let (leases, own) = (self.facts.leases(), self.own_lease);
        self.member.release().await;
        self.claims.clear();
        while self.tasks.join_next().await.is_some() {}
        match timeout(DELETION_TIMEOUT, leases.delete(&own, &DeleteParams::default())).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(lease = own, "failed to delete the Lease: {}", ErrorChain(&error)),
            Err(_) => tracing::warn!(lease = own, "failed to delete the Lease within {DELETION_TIMEOUT:?}"),
        }
    }

    /// Starts a candidate for each shard that this member should hold by the assignment to the live members, and begins to hand over the
    /// other shards. A shard that is still being handed over gets a new candidate at the next call after the handover.
    fn update_claims(&mut self) {
        let Some(membership) = &self.membership else { return };
        let (wanted, ended) =
            (assignment::shards_of(&self.own_lease, &membership.live(), self.shards.count()), membership.ended());
        for (shard, stop) in &mut self.claims {
            if !wanted.contains(*shard) {
                drop(stop.take());
            }
        }
        for shard in wanted.iter() {
            if self.claims.contains_key(&shard) {
                continue;
            }
            let (stop, stopped) = oneshot::channel();
            let lead = Lead::new();
            let name = format!("{}-shard-{shard}", self.facts.lease_name());
            let options = self.facts.options.clone().lease_name(name);
            let election = self.facts.elect(options, lead.clone(), &self.identity, ended.clone());
            let (shards, on_open) = (self.shards.clone(), self.on_open.clone());
            self.tasks.spawn(ShardClaim { shard, shards, lead, election, on_open }.run(stopped));
            self.claims.insert(shard, Some(stop));
        }
    }
}

/// Waits until the task of a shard has ended, after it has released the Lease of the shard, and removes it from `claims`. The future may be
/// dropped, and the function called again.
///
/// # Errors
/// Fails if the own Lease or that of a shard is lost.
async fn end_of_claim(
    member: &mut Election,
    tasks: &mut JoinSet<Result<u16, LeadLoss>>,
    claims: &mut BTreeMap<u16, Option<oneshot::Sender<()>>>,
) -> Result<(), LeadLoss> {
    tokio::select! {
        biased;
        loss = member.wait_until_lost() => Err(loss),
        Some(ended) = tasks.join_next() => shard_of_ended(ended).map(|shard| drop(claims.remove(&shard))),
    }
}

/// Returns the shard whose task has ended, from the result of the task.
///
/// # Errors
/// Fails if the task has lost the Lease of the shard, or has panicked.
fn shard_of_ended(ended: Result<Result<u16, LeadLoss>, JoinError>) -> Result<u16, LeadLoss> {
    ended.unwrap_or_else(|error| {
        tracing::error!(%error, "the task of a shard ended unexpectedly");
        Err(LeadLoss::Stopped)
    })
}
