//! Limits the size of responses, for API servers that are not trusted.

use super::inspected_body::{inspect_responses, is_watch};

/// The maximum size of a response, and of one event of a watch. The largest object of an API server has about 3 MiB as JSON, and the
/// lists of a client with this limit have at most [`LIMITED_PAGE_SIZE`] objects on a page.
///
/// Source: the limits of etcd (1.5 MiB for a request) and of kube-apiserver (3 MiB for a body).
pub(crate) const MAX_RESPONSE: usize = 64 << 20;
/// The page size of a client with a limit. A page of the largest objects would still be too large; they are rare.
pub(crate) const LIMITED_PAGE_SIZE: u32 = 100;

/// The error of a response that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the API server sent more than {} MiB", .max >> 20)]
pub(crate) struct TooLarge {
    /// The maximum number of bytes.
    pub(crate) max: usize,
}

/// Returns a client whose responses end with an error after more than `max` bytes. For a watch, the limit applies to each event.
pub(crate) fn limit_responses(client: kube::Client, max: usize) -> kube::Client {
    inspect_responses(client, move |request| {
        // `size` is the number of bytes so far: of the response, or of the current event of a watch. Each line of a watch is one event.
        let (is_watch, mut size) = (is_watch(request), 0_usize);
        move |bytes: &[u8]| {
            // The bytes up to the first line feed continue the current event; each further line is another event. Other responses are not
            // split.
            let mut lines = bytes.split(|byte| is_watch && *byte == b'\n');
            size = size.saturating_add(lines.next().unwrap_or_default().len());
            let mut largest = size;
            for line in lines {
                size = line.len();
                largest = largest.max(size);
            }
            if largest > max { Err(TooLarge { max }) } else { Ok(()) }
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures::{StreamExt as _, stream};
    use http::{Request, Response};
    use http_body_util::BodyExt as _;
    use kube::client::Body;
    use std::convert::Infallible;

    /// Returns a client whose server sends these frames, and then an endless stream of bytes.
    fn client(frames: &'static [&'static str], max: usize) -> kube::Client {
        let service = tower::service_fn(move |_: Request<Body>| async move {
            let frames = stream::iter(frames).map(|frame| Ok::<_, Infallible>(*frame));
            let body = axum::body::Body::from_stream(frames.chain(stream::repeat_with(|| Ok("............"))));
            Ok::<_, Infallible>(Response::new(body))
        });
        limit_responses(kube::Client::new(service, "default"), max)
    }

    /// Returns the number of bytes that a client gets, and the error that ends the response.
    async fn read(client: &kube::Client, query: &str) -> (usize, String) {
        let request = Request::get(format!("/api/v1/pods{query}")).body(Body::empty()).unwrap();
        let mut frames = client.send(request).await.unwrap().into_body().into_data_stream();
        let mut size = 0;
        while let Some(frame) = frames.next().await {
            match frame {
                Ok(bytes) => size += bytes.len(),
                Err(error) => return (size, crate::error::ErrorChain(&error).to_string()),
            }
        }
        (size, String::new())
    }

    #[tokio::test]
    async fn an_endless_response_ends_at_the_limit() {
        let (size, error) = read(&client(&["{\"items\": [\n", "1,\n", "2,\n"], 2 << 20), "").await;
        assert!(size <= 2 << 20, "{size}");
        assert!(error.contains("the API server sent more than 2 MiB"), "{error}");
    }

    #[tokio::test]
    async fn a_watch_may_last_for_ever_and_only_an_event_is_limited() {
        let (size, _) = read(&client(&["12345678\n12345", "678\n", "12345678\n1234"], 10), "?watch=true").await;
        assert_eq!(size, 14 + 4 + 13, "until the event without an end");
        let (size, _) = read(&client(&["1234\n12345678901\n"], 10), "?watch=1").await;
        assert_eq!(size, 0, "one of several events in a frame is too large");
        let (size, _) = read(&client(&["12345678\n12345", "678\n"], 10), "").await;
        assert_eq!(size, 0, "lines are limited in watches only");
    }
}
