//! Passes the bytes of response bodies to a function, whose error aborts the response.

use http::Request;
use http_body::{Body as HttpBody, Frame, SizeHint};
use kube::client::Body;
use std::{
    error::Error,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Returns a client that passes the bytes of response bodies to a function. `begin` is called for each request, and returns the function
/// that inspects the response to the request, as the bytes arrive. An error of this function ends the response with the error.
pub(crate) fn inspect_responses<I, E>(
    client: kube::Client,
    begin: impl Fn(&Request<Body>) -> I + Clone + Send + Sync + 'static,
) -> kube::Client
where
    I: FnMut(&[u8]) -> Result<(), E> + Send + Unpin + 'static,
    E: Error + Send + Sync + 'static,
{
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, inspect) = (client.clone(), begin(&request));
        async move {
            let response = client.send(request).await?;
            Ok::<_, kube::Error>(response.map(|body| InspectedBody { body, inspect, is_ended: false }))
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns whether a request is a watch.
pub(crate) fn is_watch(request: &Request<Body>) -> bool {
    has_parameter(request, &["watch=true", "watch=1"])
}

/// Returns whether the query of a request has one of these parameters.
pub(super) fn has_parameter(request: &Request<Body>, parameters: &[&str]) -> bool {
    request.uri().query().unwrap_or_default().split('&').any(|parameter| parameters.contains(&parameter))
}

/// A response body whose bytes are inspected.
struct InspectedBody<I> {
    body: Body,
    inspect: I,
    is_ended: bool,
}

impl<I, E> HttpBody for InspectedBody<I>
where
    I: FnMut(&[u8]) -> Result<(), E> + Unpin,
    E: Error + Send + Sync + 'static,
{
    type Data = <Body as HttpBody>::Data;
    type Error = Box<dyn Error + Send + Sync>;

    /// Returns the next frame after `inspect` has seen its bytes. If `inspect` fails, its error replaces the frame and the body ends.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = &mut *self;
        if this.is_ended {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(bytes) = frame.data_ref()
            && let Err(error) = (this.inspect)(bytes)
        {
            this.is_ended = true;
            return Poll::Ready(Some(Err(error.into())));
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
