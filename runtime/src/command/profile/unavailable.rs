//! Takes the place of `fetch` in a build without the feature `profiling`.

use crate::command::profile::{error::ProfileError, request::PodRequest};
use std::time::Duration;

/// Fails, since ports can't be forwarded without the feature.
#[expect(clippy::unused_async, reason = "with the feature it waits")]
pub(super) async fn send(request: &PodRequest<'_>, _: kube::Client, _: Duration) -> Result<Vec<u8>, ProfileError> {
    let PodRequest { port: _, path: _, token: _, account: _, .. } = request;
    Err(ProfileError::NoFeature { pod: request.pod_name() })
}
