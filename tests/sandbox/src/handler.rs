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
    /// Handles a request of a user, or of the user that its headers impersonate, and returns the response; a failure
    /// becomes a `Status`. The response is recorded in the audit log, and is ready only when its changes are in the
    /// file.
    pub(crate) async fn answer(&self, user: User, request: Request<Bytes>) -> ApiResponse {
        let impersonation = authentication::ImpersonationHeaders::parse(request.headers());
        let mut call = match Call::new(user, request) {
            Ok(call) => call,
            Err(failure) => return failure.into(),
        };
        let response = match authentication::impersonate(self, &mut call, impersonation) {
            Ok(()) => verb::answer(self, &call).await.unwrap_or_else(ApiResponse::from),
            Err(failure) => failure.into(),
        };
        let response = response.encoded(&call);
        // A response is sent only after the changes that it shows are in the file; a watch waits for each of its
        // events.
        let response = if call.verb == Verb::Watch || self.store.wait_until_persisted().await {
            response
        } else {
            Failure::internal("the data file can't be written").into()
        };
        self.audit.record(&call, &response);
        self.audit.observe_events(&call, response)
    }
}
