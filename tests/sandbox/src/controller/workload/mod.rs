//! Implements the workload controllers of kube-controller-manager, a scheduler and a kubelet.

use super::{Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult};

pub(super) use start::start;

mod claim;
mod cron_job;
mod daemon_set;
mod deployment;
mod disruption;
mod endpoints;
mod event;
mod indexes;
mod job;
mod job_pods;
mod job_status;
mod kubelet;
mod pods;
mod replica_set;
mod revision;
mod rollout;
mod scheduler;
mod slices;
mod start;
mod stateful_set;
