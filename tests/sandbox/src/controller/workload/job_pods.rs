//! `JobPods`: the Pods of a Job, grouped by phase.

use serde_json::Value;

use super::{
    ApiError, ControllerClient,
    pods::{self, PODS},
};
use crate::object;

/// The Pods of a Job, grouped by phase.
#[derive(Debug, Default)]
pub(super) struct JobPods {
    pub(super) active: Vec<Value>,
    pub(super) succeeded: Vec<Value>,
    pub(super) failed: Vec<Value>,
}

impl JobPods {
    /// Lists the Pods of a Job. A terminating Pod that has not succeeded counts as failed.
    pub(super) fn list(client: &ControllerClient, job: &Value) -> Result<Self, ApiError> {
        let mut pods = Self::default();
        for pod in
            pods::controlled_objects(client, &*client.served_kind(PODS)?, object::namespace(job), object::uid(job))
        {
            match object::text(&pod, &["status", "phase"]) {
                "Succeeded" => pods.succeeded.push(pod),
                "Failed" => pods.failed.push(pod),
                _ if object::is_deleting(&pod) => pods.failed.push(pod),
                _ => pods.active.push(pod),
            }
        }
        Ok(pods)
    }

    /// Returns the succeeded and the failed Pods.
    pub(super) fn finished(&self) -> impl Iterator<Item = &Value> {
        self.succeeded.iter().chain(&self.failed)
    }
}
