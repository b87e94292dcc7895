//! Handles a request: impersonation, authorization, the verb, and the audit record.

use bytes::Bytes;
use http::Request;

use crate::{
    authentication,
    call::{Call, Verb},
    failure::Failure,
    response::ApiResponse,
    server::Server,
    user::User,
    verb,
};

impl Server {
    /// Handles a request of a user, and records it.
    pub(crate) async fn answer(&self, user: User, request: Request<Bytes>) -> ApiResponse {
        let wanted = authentication::ImpersonationHeaders::parse(request.headers());
        let mut call = match Call::new(user, request) {
            Ok(call) => call,
            Err(failure) => return failure.into(),
        };
        let answer = match authentication::impersonate(self, &mut call, wanted) {
            Ok(()) => verb::answer(self, &call).await.unwrap_or_else(ApiResponse::from),
            Err(failure) => failure.into(),
        };
        let answer = answer.encoded(&call);
        // A response is sent only after the changes that it shows are in the file; a watch waits for each of its
        // events.
        let answer = if call.verb == Verb::Watch || self.store.wait_until_persisted().await {
            answer
        } else {
            Failure::internal("the data file can't be written").into()
        };
        self.audit.record(&call, &answer);
        self.audit.observe_events(&call, answer)
    }
}
