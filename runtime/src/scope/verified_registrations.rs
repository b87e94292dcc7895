//! `VerifiedRegistrations`: for each Secret that registers another cluster with a continuous delivery system, what was verified last, and
//! when.

use crate::{
    cache::{ObjectKey, ResourceVersion},
    shape::ClusterCredentials,
};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::time::Instant;

/// How long a registration with a CD system counts as verified.
pub(super) const VERIFY_PERIOD: Duration = Duration::from_secs(60);

/// The registrations of the cluster with CD systems, by their Secrets.
pub(super) type VerifiedRegistrations = HashMap<ObjectKey, VerifiedRegistration>;

/// A registration, as it was verified last.
pub(super) struct VerifiedRegistration {
    pub(super) credentials: Arc<ClusterCredentials>,
    /// The version of the Secret.
    pub(super) version: ResourceVersion,
    pub(super) time: Instant,
}
