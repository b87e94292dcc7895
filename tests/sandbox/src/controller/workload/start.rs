//! Starts the workload controllers, the scheduler and the kubelet.

use std::sync::Arc;

use super::{
    claim, cron_job, daemon_set, deployment, disruption, endpoints, job, kubelet, replica_set, scheduler, slices,
    stateful_set,
};
use crate::{
    controller::{client::ControllerClient, tasks::Controllers},
    server::Server,
};

/// Starts the workload controllers, the scheduler and the kubelet on the current runtime.
pub(crate) fn start(all: &mut Controllers, server: &Arc<Server>) {
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
    all.add_as(ControllerClient::component(server, "system:kube-scheduler", "kube-scheduler"), scheduler::Scheduler);
    all.add_as(ControllerClient::component(server, kubelet::USER, "kubelet"), kubelet::Kubelet);
}
