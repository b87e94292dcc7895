//! `Dispatcher`: calls the webhook that the path of an HTTP request of an API server names, and returns the response.

use super::{
    conversion::{CONVERSION_PATH, Converter},
    handler::{AdmissionFailure, AdmissionHandler},
    review::AdmissionRequest,
};
use crate::{client::Client, counters::Counters, error::BoxError, panic::Closure};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body, Bytes};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// The maximum size of the body of a request. A review has an object twice, and objects have up to 3 MiB on their way to etcd.
const MAX_BODY: usize = 8 << 20;

/// The maximum size of the body of a conversion. An API server converts up to 10,000 objects of a list at once.
const MAX_CONVERSION_BODY: usize = 128 << 20;

/// The maximum size of the bodies of all conversions at a time, in MiB. Further ones wait.
const MAX_CONVERSIONS: u32 = 192;

/// Larger conversions run on a thread of their own, so that they do not delay other tasks.
const LARGE_CONVERSION: usize = 64 << 10;

/// How long a body may take to arrive: the longest time that an API server waits for an answer.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The webhooks of a process.
#[derive(Clone, Debug)]
pub(crate) struct Dispatcher {
    handlers: Arc<BTreeMap<String, AdmissionHandler>>,
    converter: Converter,
    counters: Counters,
    /// The client of webhooks that read other objects; without one, these webhooks fail.
    client: Option<Client>,
    /// A permit for each MiB of the bodies of conversions.
    conversions: Arc<Semaphore>,
}

impl Dispatcher {
    /// Creates a dispatcher that calls the admission webhooks in `handlers`, which have different paths, and converts objects by
    /// `converter`. `client` is for webhooks that read other objects.
    pub(crate) fn new(
        handlers: impl IntoIterator<Item = AdmissionHandler>,
        converter: Converter,
        counters: Counters,
        client: Option<Client>,
    ) -> Self {
        let handlers = handlers.into_iter().map(|handler| (handler.description.path(), handler)).collect();
        let conversions = Arc::new(Semaphore::new(MAX_CONVERSIONS as usize));
        Self { handlers: Arc::new(handlers), converter, counters, client, conversions }
    }

    /// Sets the client of webhooks that read other objects.
    pub(super) fn with_client(self, client: Client) -> Self {
        Self { client: Some(client), ..self }
    }

    /// Returns the response to an HTTP request of an API server: the review with the answer of the webhook at the path of the request, or
    /// an HTTP error for an invalid request. After an HTTP error the API server decides about the write by the failure policy of the
    /// webhook.
    pub(crate) async fn respond<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>>,
    {
        let path = request.uri().path();
        let is_conversion = path == CONVERSION_PATH && !self.converter.is_empty();
        let handler = self.handlers.get(path);
        if handler.is_none() && !is_conversion {
            return text(
                StatusCode::NOT_FOUND,
                "there is no webhook at this path; apply the manifests of this version",
            );
        }
        if request.method() != Method::POST {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "only POST is allowed");
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return response;
        }
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = content_type.and_then(|value| value.split(';').next()).map(str::trim);
        if !media_type.is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json")) {
            return text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");
        }
        let limit = if is_conversion { MAX_CONVERSION_BODY } else { MAX_BODY };
        let permit = if is_conversion { Some(self.conversion_permit(request.headers()).await) } else { None };
        // `Some(None)` is a conversion that has waited too long for its permit.
        if let Some(None) = permit {
            return text(StatusCode::SERVICE_UNAVAILABLE, "too many large conversions run at a time");
        }
        let body = match timeout(BODY_TIMEOUT, Limited::new(request.into_body(), limit).collect()).await {
            Ok(body) => body,
            Err(_) => return text(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"),
        };
        let body = match body {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                return text(StatusCode::PAYLOAD_TOO_LARGE, &format!("the body is larger than {} MiB", limit >> 20));
            }
            Err(error) => return text(StatusCode::BAD_REQUEST, &format!("the body is incomplete: {error}")),
        };
        let Some(handler) = handler else { return self.convert(body).await };
        match AdmissionRequest::parse(&body) {
            Ok(request) => self.call(handler, request).await,
            Err(problem) => text(StatusCode::BAD_REQUEST, &problem),
        }
    }

    /// Waits until the body of a conversion fits in the memory for the bodies of all conversions: acquires one permit for each MiB of its
    /// `Content-Length`, or those for the maximum size if the header is missing. Returns `None` if that takes longer than `BODY_TIMEOUT`.
    async fn conversion_permit(&self, headers: &HeaderMap) -> Option<OwnedSemaphorePermit> {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        let mebibytes = length.unwrap_or(MAX_CONVERSION_BODY).min(MAX_CONVERSION_BODY).div_ceil(1 << 20).max(1);
        let permits = self.conversions.clone().acquire_many_owned(u32::try_from(mebibytes).unwrap_or(1));
        timeout(BODY_TIMEOUT, permits).await.ok()?.ok()
    }

    /// Returns the response to a `ConversionReview` with the body `body`. Converts a large body on a blocking thread, so that other tasks
    /// are not delayed.
    async fn convert(&self, body: Bytes) -> Response<Full<Bytes>> {
        let (converter, counters) = (self.converter.clone(), self.counters.clone());
        let answer = if body.len() > LARGE_CONVERSION {
            let answer = tokio::task::spawn_blocking(move || converter.answer(&body, &counters)).await;
            answer.unwrap_or_else(|_| Err("the conversion panicked".to_owned()))
        } else {
            converter.answer(&body, &counters)
        };
        match answer {
            Ok(review) => response(StatusCode::OK, "application/json", review),
            Err(problem) => text(StatusCode::BAD_REQUEST, &problem),
        }
    }

    /// Calls an admission webhook and returns the response. If the webhook fails, panics or does not answer in time, the response has the
    /// status 500. The text of a failure or panic is only logged, since it may contain details of the operator.
    async fn call(&self, handler: &AdmissionHandler, request: AdmissionRequest) -> Response<Full<Bytes>> {
        let (uid, name) = (request.uid.clone(), request.name.clone());
        let namespace = request.namespace.clone().unwrap_or_default();
        let failed = |error: &dyn std::fmt::Display, sentence: &str| {
            let (webhook, kind) = (handler.description.name(), &handler.description.kind);
            tracing::error!(webhook, %kind, namespace, name, %error, "a webhook failed");
            text(StatusCode::INTERNAL_SERVER_ERROR, sentence)
        };
        let client = self.client.clone().unwrap_or_else(Client::disconnected);
        let answer = match handler.answer(request, &client).await {
            Ok(answer) => answer.to_review(&uid).and_then(|review| serde_json::to_vec(&review)),
            Err(error @ AdmissionFailure::Panicked(_)) => {
                self.counters.count_panic(Closure::Webhook);
                return failed(
                    &error,
                    "the function of the webhook panicked; the reason is in the log of the operator",
                );
            }
            Err(error @ AdmissionFailure::TimedOut { .. }) => return failed(&error, &error.to_string()),
            Err(error) => return failed(&error, "the webhook failed; the reason is in the log of the operator"),
        };
        match answer {
            Ok(review) => response(StatusCode::OK, "application/json", review),
            Err(error) => failed(&error, "the answer of the webhook can't be written as JSON"),
        }
    }
}

/// Returns a response with one line of text.
fn text(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    response(status, "text/plain; charset=utf-8", format!("{text}\n").into_bytes())
}

/// Returns a response with a body.
fn response(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
