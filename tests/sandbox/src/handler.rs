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
    /// Handles a request of an authenticated user, or of the user that its headers impersonate, and returns the response;
    /// a failure becomes a `Status`. Waits until the changes of the request are in the data file, if there is one, and
    /// passes the request and the response to the audit observers.
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
        // A client must not see a change that a restart of the sandbox could lose. A watch waits before it sends events.
        let response = if call.verb == Verb::Watch || self.store.wait_until_persisted().await {
            response
        } else {
            Failure::internal("the data file can't be written").into()
        };
        self.audit.record(&call, &response);
        self.audit.observe_events(&call, response)
    }
}
