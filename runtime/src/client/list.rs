//! Lists objects page by page, so that at most one page is in memory.

use super::{CallError, Client, Target, segment};
use crate::{client::selectors::Selectors, shape::Verb};
use kube::api::ListParams;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// The number of times that a list restarts after its continue token has expired. The API server keeps tokens for some minutes.
const RESTARTS: usize = 3;

/// One page of a list.
#[derive(Deserialize)]
struct Page<I> {
    #[serde(default)]
    metadata: PageMetadata,
    /// A server may send null for an empty list.
    items: Option<Vec<I>>,
}

/// The metadata of a page.
#[derive(Default, Deserialize)]
struct PageMetadata {
    /// The token of the next page; empty on the last page.
    #[serde(rename = "continue", default)]
    next: String,
}

impl Client {
    /// Returns the same client with another page size.
    pub(crate) fn with_page_size(self, page_size: u32) -> Self {
        Self { page_size, ..self }
    }

    /// Reads a list page by page, decodes each object as `I`, and collects the results of `read`, without `None`. If the continue token
    /// expires, the list starts again.
    ///
    /// # Errors
    /// Fails if a call fails, or if the token has expired more than `RESTARTS` times.
    pub(crate) async fn list_each<I: DeserializeOwned, T>(
        &self,
        target: Target<'_>,
        selectors: Selectors<'_>,
        mut read: impl FnMut(I) -> Option<T>,
    ) -> Result<Vec<T>, CallError> {
        let (mut items, mut token, mut restarts) = (Vec::new(), None::<String>, 0);
        loop {
            let is_first = token.is_none();
            match self.page::<I>(target, selectors, token.take()).await {
                Ok(page) => {
                    items.extend(page.items.into_iter().flatten().filter_map(&mut read));
                    if page.metadata.next.is_empty() {
                        return Ok(items);
                    }
                    token = Some(page.metadata.next);
                }
                // The token has expired (410 Gone). The collected items are dropped, since their objects may be deleted by now.
                Err(error) if error.code() == 410 && !is_first && restarts < RESTARTS => {
                    restarts += 1;
                    items.clear();
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads one page of a list; `token` is the continue token of the page before, and `None` for the first page.
    async fn page<I: DeserializeOwned>(
        &self,
        target: Target<'_>,
        selectors: Selectors<'_>,
        token: Option<String>,
    ) -> Result<Page<I>, CallError> {
        let owned = |selector: Option<&str>| selector.map(str::to_owned);
        let params = ListParams {
            label_selector: owned(selectors.labels),
            field_selector: owned(selectors.fields),
            limit: Some(self.page_size),
            continue_token: token,
            ..ListParams::default()
        };
        let request = target.requests().list(&params).map_err(kube::Error::BuildRequest);
        self.json(request).await.map_err(|source| target.call_error(Verb::List, "", source))
    }

    /// Returns the objects that match the label selector `labels`; without a selector, all objects of the target.
    pub(crate) async fn list<I: DeserializeOwned>(
        &self,
        target: Target<'_>,
        labels: Option<&str>,
    ) -> Result<Vec<I>, CallError> {
        self.list_each(target, Selectors { labels, fields: None }, Some).await
    }

    /// Reads one object by a list with a field selector, for kinds on which the operator has the right to list and not to get. `None` if
    /// the object does not exist.
    pub(crate) async fn list_named(&self, target: Target<'_>) -> Result<Option<Value>, CallError> {
        let fields = format!("metadata.name={}", segment::field_selector_value(target.name));
        let objects = self.list_each(target, Selectors { labels: None, fields: Some(&fields) }, Some).await?;
        Ok(objects.into_iter().next())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::kind::kind_of;
    use http::{Request, Response};
    use k8s_openapi::api::core::v1::Pod;
    use kube::client::Body;
    use parking_lot::Mutex;
    use serde_json::json;
    use std::{convert::Infallible, sync::Arc};

    /// Returns a client of a server with five objects and the queries of its requests. The server answers the first `expired` requests that
    /// have a continue token with 410.
    fn server(expired: usize) -> (Client, Arc<Mutex<Vec<String>>>) {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, remaining) = (requests.clone(), Mutex::new(expired));
        let answer = move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.parse::<usize>().ok());
            let (limit, token) = (value("limit=").unwrap_or(usize::MAX), value("continue="));
            log.lock().push(query.clone());
            let mut remaining = remaining.lock();
            let (code, body) = if token.is_some() && *remaining > 0 {
                *remaining -= 1;
                (410, json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}))
            } else {
                let first = token.unwrap_or_default();
                let next = first + limit.min(5 - first);
                let token = if next < 5 { next.to_string() } else { String::new() };
                (200, json!({"metadata": {"continue": token}, "items": (first..next).collect::<Vec<_>>()}))
            };
            let response = Response::builder().status(code).body(Body::from(body.to_string().into_bytes()));
            std::future::ready(Ok::<_, Infallible>(response.unwrap()))
        };
        (Client::new(kube::Client::new(tower::service_fn(answer), "default")).with_page_size(2), requests)
    }

    /// Returns the list of objects with the label `app=web`, which are numbers.
    async fn numbers(client: &Client) -> Result<Vec<u64>, CallError> {
        let kind = kind_of::<Pod>();
        let target = Target { kind: &kind, namespace: None, name: "" };
        client.list_each(target, Selectors { labels: Some("app=web"), fields: None }, Some).await
    }

    #[tokio::test]
    async fn a_selected_list_is_read_in_pages() {
        let (client, requests) = server(0);
        assert_eq!(numbers(&client).await.unwrap(), [0, 1, 2, 3, 4]);
        let requests = requests.lock();
        assert_eq!(requests.len(), 3);
        assert!(
            requests.iter().all(|query| query.contains("limit=2") && query.contains("labelSelector=app")),
            "{requests:?}"
        );
    }

    #[tokio::test]
    async fn a_list_whose_continuation_expires_begins_again_and_holds_each_object_once() {
        let (client, _requests) = server(2);
        assert_eq!(numbers(&client).await.unwrap(), [0, 1, 2, 3, 4]);
    }

    #[tokio::test]
    async fn a_list_whose_continue_token_expires_too_often_is_an_error() {
        let (client, _requests) = server(usize::MAX);
        assert_eq!(numbers(&client).await.unwrap_err().code(), 410);
    }
}
