//! Brings workloads to life: what kube-controller-manager, the scheduler and a kubelet would do.

use super::{Actor, Controllers, Key, Refused, Seen};
use crate::sandbox::Server;
use std::sync::Arc;

mod claim;
mod cron_job;
mod daemon_set;
mod deployment;
mod disruption;
mod endpoints;
mod event;
mod indexes;
mod job;
mod job_status;
mod kubelet;
mod pods;
mod replica_set;
mod revision;
mod rollout;
mod scheduler;
mod slices;
mod stateful_set;

/// Starts them all.
pub(super) fn start(all: &mut Controllers, server: &Arc<Server>) {
    all.add(server, "deployment-controller", deployment::Deployments);
    all.add(server, "replicaset-controller", replica_set::ReplicaSets::SETS);
    all.add(server, "replication-controller", replica_set::ReplicaSets::CONTROLLERS);
    all.add(server, "statefulset-controller", stateful_set::StatefulSets);
    all.add(server, "daemon-set-controller", daemon_set::DaemonSets);
    all.add(server, "job-controller", job::Jobs::default());
    all.add(server, "cronjob-controller", cron_job::CronJobs);
    all.add(server, "persistent-volume-binder", claim::Claims);
    all.add(server, "disruption-controller", disruption::Budgets);
    all.add(server, "endpoint-controller", endpoints::Endpoints::default());
    all.add(server, "endpointslice-controller", slices::Slices::default());
    all.add_as(Actor::component(server, "system:kube-scheduler", "kube-scheduler"), scheduler::Scheduler);
    all.add_as(Actor::component(server, kubelet::USER, "kubelet"), kubelet::Kubelet);
}
