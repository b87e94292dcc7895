//! Replaces the module `fetch` in a build without the feature `profiling`: each request for a profile fails.

use crate::command::profile::{error::ProfileError, request::PodRequest};
use std::time::Duration;

/// Fails, since ports can't be forwarded without the feature.
pub(super) async fn send(_: &PodRequest<'_>, _: kube::Client, _: Duration) -> Result<Vec<u8>, ProfileError> {
    Err(ProfileError::NoFeature)
}
