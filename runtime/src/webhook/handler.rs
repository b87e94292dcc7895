//! `AdmissionHandler`: one webhook of an operator, with its settings and its function.

use super::{
    review::{AdmissionAnswer, AdmissionRequest},
    settings::WebhookDescription,
};
use crate::client::Client;
use crate::panic::{Closure, Panicked};
use futures::{FutureExt, future::BoxFuture};
use std::{fmt, panic::AssertUnwindSafe, sync::Arc};
use tokio::time::timeout;

/// The function of a webhook, which decodes the objects itself. The client is for its reads.
pub(crate) type AdmissionFunction =
    Arc<dyn Fn(Arc<AdmissionRequest>, &Client) -> BoxFuture<'static, AdmissionAnswer> + Send + Sync>;

/// A webhook of an operator.
#[derive(Clone)]
pub(crate) struct AdmissionHandler {
    pub(crate) description: WebhookDescription,
    function: AdmissionFunction,
}

/// Why a webhook has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AdmissionFailure {
    #[error(transparent)]
    Panicked(#[from] Panicked),
    #[error("the webhook did not answer within {seconds} s")]
    TimedOut { seconds: u64 },
    #[error("{0}")]
    Failed(String),
}

impl AdmissionHandler {
    pub(crate) fn new(description: WebhookDescription, function: AdmissionFunction) -> Self {
        Self { description, function }
    }

    /// Calls the function of the webhook and returns its answer. Allows a write without a call if it only removes finalizers of an object
    /// that is being deleted, so that a failing webhook can't block the deletion.
    ///
    /// # Errors
    /// Fails if the function panics, reports a failure, or takes longer than the timeout of the webhook.
    pub(super) async fn answer(
        &self,
        request: AdmissionRequest,
        client: &Client,
    ) -> Result<AdmissionAnswer, AdmissionFailure> {
        if request.is_removal_of_finalizers() {
            return Ok(AdmissionAnswer::default());
        }
        let (limit, request) = (self.description.webhook.timeout, Arc::new(request));
        let answer = AssertUnwindSafe(async { (self.function)(request, client).await }).catch_unwind();
        let answer = match timeout(limit, answer).await {
            Ok(answer) => answer.map_err(|payload| Panicked::new(Closure::Webhook, &*payload))?,
            Err(_) => return Err(AdmissionFailure::TimedOut { seconds: limit.as_secs() }),
        };
        match answer.denied {
            Some(failure) if failure.is_failure => Err(AdmissionFailure::Failed(failure.to_string())),
            _ => Ok(answer),
        }
    }
}

impl fmt::Debug for AdmissionHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AdmissionHandler").field(&self.description).finish()
    }
}
