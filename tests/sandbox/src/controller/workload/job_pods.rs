//! Groups the Pods of a Job by phase.

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
    pub(super) fn of(client: &ControllerClient, job: &Value) -> Result<Self, ApiError> {
        let mut own = Self::default();
        for pod in
            pods::controlled_objects(client, &*client.served_kind(PODS)?, object::namespace(job), object::uid(job))
        {
            match object::text(&pod, &["status", "phase"]) {
                "Succeeded" => own.succeeded.push(pod),
                "Failed" => own.failed.push(pod),
                _ if object::is_deleting(&pod) => own.failed.push(pod),
                _ => own.active.push(pod),
            }
        }
        Ok(own)
    }

    pub(super) fn ended(&self) -> impl Iterator<Item = &Value> {
        self.succeeded.iter().chain(&self.failed)
    }
}
