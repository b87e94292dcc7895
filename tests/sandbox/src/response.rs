//! `ApiResponse`: the response to a request, whole or streamed.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream::BoxStream};
use http::{HeaderValue, Response, StatusCode, header};
use http_body::{Frame, SizeHint};
use http_body_util::{Full, StreamBody};
use serde_json::{Value, json};

use crate::{failure::Failure, json};

/// The response to a request, whole or streamed.
pub(crate) struct ApiResponse {
    pub(crate) code: StatusCode,
    pub(crate) content_type: &'static str,
    /// The texts of the `Warning` headers (RFC 9111 code 299), which kubectl prints.
    pub(crate) warnings: Vec<String>,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) content: Content,
}

/// The content of a response.
pub(crate) enum Content {
    Whole(Bytes),
    /// A stream of text: watch events or log lines.
    Stream(BoxStream<'static, Bytes>),
}

pub(crate) const JSON: &str = "application/json";

impl ApiResponse {
    /// Returns a 200 response with an object.
    pub(crate) fn object(object: &Value) -> Self {
        Self::json(StatusCode::OK, line(object))
    }

    /// Returns a response with encoded JSON.
    pub(crate) fn json(code: StatusCode, json: Bytes) -> Self {
        Self::of(code, JSON, Content::Whole(json))
    }

    /// Returns a 201 response with a `Status` of success, for a request that creates no object.
    pub(crate) fn created() -> Self {
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        Self { code: StatusCode::CREATED, ..Self::object(&status) }
    }

    /// Returns a 200 response with plain text.
    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::of(StatusCode::OK, "text/plain; charset=utf-8", Content::Whole(text.into()))
    }

    /// Returns a 200 response with a stream.
    pub(crate) fn stream(pieces: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self::of(StatusCode::OK, JSON, Content::Stream(pieces.boxed()))
    }

    /// Returns a response without warnings and headers.
    fn of(code: StatusCode, content_type: &'static str, content: Content) -> Self {
        Self { code, content_type, warnings: Vec::new(), headers: Vec::new(), content }
    }

    /// Adds warnings.
    pub(crate) fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// Calls a function with each piece of a streamed response; does nothing for a response that is not streamed.
    pub(crate) fn inspect(mut self, mut observe: impl FnMut(&Bytes) + Send + 'static) -> Self {
        if let Content::Stream(pieces) = self.content {
            self.content = Content::Stream(pieces.inspect(move |piece| observe(piece)).boxed());
        }
        self
    }

    /// Converts the response into an HTTP response. Its default `Cache-Control` is `no-cache, private`, as kube-apiserver's.
    pub(crate) fn into_response(self) -> Response<Body> {
        let body = match self.content {
            Content::Whole(bytes) => Body(Inner::Whole(Full::new(bytes))),
            Content::Stream(pieces) => {
                let frames = pieces.map((|piece| Ok(Frame::data(piece))) as fn(Bytes) -> Result<Frame<Bytes>, Never>);
                Body(Inner::Stream(StreamBody::new(frames)))
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.code;
        let headers = response.headers_mut();
        if !self.content_type.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        if !self.headers.iter().any(|(name, _)| *name == "cache-control") {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        }
        for warning in self.warnings {
            let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"").replace(['\r', '\n'], " ");
            if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
                headers.append(header::WARNING, value);
            }
        }
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(name, value);
            }
        }
        response
    }
}

impl From<Failure> for ApiResponse {
    /// Returns the response with the `Status` of a failure, and with `Retry-After` if the failure has `retryAfterSeconds`.
    fn from(failure: Failure) -> Self {
        let code = StatusCode::from_u16(failure.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Self::json(code, line(&failure.status()));
        if let Some(seconds) = failure.details.get("retryAfterSeconds") {
            response.headers.push(("retry-after", seconds.to_string()));
        }
        response
    }
}

/// Encodes a value as one line of JSON with a line break at the end, as Go's encoder does.
pub(crate) fn line(value: &Value) -> Bytes {
    let mut text = Vec::with_capacity(1024);
    json::append(&mut text, value);
    text.push(b'\n');
    text.into()
}

/// The error of a body, which cannot occur.
pub type Never = std::convert::Infallible;

type Pieces = futures::stream::Map<BoxStream<'static, Bytes>, fn(Bytes) -> Result<Frame<Bytes>, Never>>;

/// The body of a response.
pub struct Body(Inner);

enum Inner {
    Whole(Full<Bytes>),
    Stream(StreamBody<Pieces>),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Never;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Never>>> {
        match &mut self.get_mut().0 {
            Inner::Whole(body) => Pin::new(body).poll_frame(cx),
            Inner::Stream(body) => Pin::new(body).poll_frame(cx),
        }
    }

    /// Returns whether a whole body was sent. The end of a stream shows only when it is polled.
    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Whole(body) => body.is_end_stream(),
            Inner::Stream(_) => false,
        }
    }

    /// Returns the length of a whole body; the length of a stream is unknown.
    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(body) => body.size_hint(),
            Inner::Stream(_) => SizeHint::default(),
        }
    }
}
