//! Reads a request from the network, authenticates it, and sends the response.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures::{FutureExt as _, future::BoxFuture};
use http::{HeaderMap, Request, Response, header};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use tokio::{sync::watch, time::timeout};

use super::backend::Backend;
use crate::{
    User,
    failure::Failure,
    response::{ApiResponse, Body, Never},
};

/// The maximum size of a body, the same as kube-apiserver's.
const MAX_BODY: usize = 3 * 1024 * 1024;

/// The maximum number of bytes read from a body that is too large, so that its sender receives the response.
const MAX_DRAINED: usize = 16 * MAX_BODY;

/// The timeout for a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Authenticates a request, passes it to the sandbox and returns the response. A streamed response, such as a watch, ends
/// when `stop` becomes true.
pub(super) async fn answer(
    backend: &Backend,
    request: Request<Incoming>,
    stop: watch::Receiver<bool>,
) -> Response<ResponseBody> {
    let result = match identify(backend, request.headers()) {
        Ok(user) => call_sandbox(backend, user, request).await,
        Err(failure) => Err(failure),
    };
    let response = result.unwrap_or_else(|failure| ApiResponse::from(failure).into_response());
    response.map(|body| ResponseBody::new(body, stop))
}

/// Reads the body of a request and passes the request to the sandbox. Returns a timeout error if the body does not
/// arrive in time.
async fn call_sandbox(backend: &Backend, user: User, request: Request<Incoming>) -> Result<Response<Body>, Failure> {
    let (parts, body) = request.into_parts();
    let body = timeout(BODY_TIMEOUT, read_body(body)).await;
    let body =
        body.unwrap_or_else(|_| Err(Failure::timeout("request did not complete within the allotted timeout")))?;
    // The future of a call is large; boxing it avoids moving it.
    Ok(Box::pin(backend.sandbox.call(user, Request::from_parts(parts, body))).await)
}

/// Reads a whole body. Returns a 413 error if it is too large, but first reads up to `MAX_DRAINED` more bytes and discards
/// them: a client that is still sending may not read the response.
async fn read_body(mut body: Incoming) -> Result<Bytes, Failure> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let too_large = || Failure::too_large(format!("Request entity too large: limit is {MAX_BODY}"));
    // The `Content-Length`; 0 if the request has none.
    let announced_length = body.size_hint().lower();
    if announced_length <= MAX_BODY as u64 {
        match Limited::new(&mut body, MAX_BODY).collect().await {
            Ok(collected) => return Ok(collected.to_bytes()),
            Err(error) if !error.is::<http_body_util::LengthLimitError>() => {
                return Err(Failure::bad_request(format!("unable to read the body: {error}")));
            }
            // The body is too large.
            Err(_) => {}
        }
    }
    let mut drained = 0;
    while let Some(Ok(frame)) = body.frame().await {
        drained += frame.data_ref().map_or(0, Bytes::len);
        if drained > MAX_DRAINED {
            break;
        }
    }
    Err(too_large())
}

/// Returns the user of a request by its bearer token, which may be that of the kubeconfig; the anonymous user if the
/// request has no token. Returns a 401 error if the token is invalid.
fn identify(backend: &Backend, headers: &HeaderMap) -> Result<User, Failure> {
    let (token, administrator) = &backend.administrator;
    let is_administrator = headers.get(header::AUTHORIZATION).is_some_and(|value| {
        value.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")) == Some(token.as_str())
    });
    if is_administrator { Ok(administrator.clone()) } else { backend.sandbox.server.authenticate(headers) }
}

/// The maximum size of a piece into which available stream data is joined: a busy watch has many small events.
const MAX_PIECE: usize = 16 * 1024;

/// The body of a response. A stream, such as a watch, ends when the server stops.
pub(super) struct ResponseBody {
    body: Body,
    /// The stop signal; only for streams.
    stop: Option<BoxFuture<'static, ()>>,
    /// Whether a stream has reached its end.
    ended: bool,
}

impl ResponseBody {
    /// Creates the body of a response. If the length of `body` is unknown, it is a stream, which `stop` ends.
    fn new(body: Body, mut stop: watch::Receiver<bool>) -> Self {
        let is_stream = body.size_hint().exact().is_none();
        // An error means that the sender is dropped, which also stops the server.
        let stop = is_stream.then(|| async move { drop(stop.wait_for(|stopped| *stopped).await) }.boxed());
        Self { body, stop, ended: false }
    }

    /// Returns the data of a stream that is available now, joined to one piece until it has `MAX_PIECE` bytes; `None` at the
    /// end of the stream.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut piece = BytesMut::new();
        while !self.ended && piece.len() < MAX_PIECE {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => piece.extend_from_slice(&frame.into_data().unwrap_or_default()),
                Poll::Ready(None) => self.ended = true,
                Poll::Pending if piece.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready((!piece.is_empty()).then(|| piece.freeze()))
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Never;

    /// Returns the next data of the body; `None` at its end. A stream also ends if the server stops while no data is
    /// available.
    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Never>>> {
        let this = self.get_mut();
        // Not a stream.
        if this.stop.is_none() {
            return Pin::new(&mut this.body).poll_frame(cx);
        }
        if let Poll::Ready(piece) = this.poll_piece(cx) {
            return Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))));
        }
        let Some(stop) = &mut this.stop else { return Poll::Pending };
        ready!(stop.poll_unpin(cx));
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
