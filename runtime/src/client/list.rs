//! Lists in pages: at most one page of objects is in memory, however many there are.

use super::{CallError, Client, Target, segment};
use crate::{client::selectors::Selectors, shape::Verb};
use kube::api::ListParams;
use serde_json::Value;

/// How often a list begins again whose continuation has expired: the API server keeps a page's place for some minutes.
const RESTARTS: usize = 3;

impl Client {
    /// The same client with lists in pages of another size.
    pub(crate) fn with_page_size(self, page_size: u32) -> Self {
        Self { page_size, ..self }
    }

    /// Reads a list page by page; `read` says what is kept of each object.
    ///
    /// # Errors
    /// As the call fails, and where the continuation of the list has expired several times.
    pub(crate) async fn list_each<T>(
        &self,
        target: Target<'_>,
        selectors: Selectors<'_>,
        mut read: impl FnMut(Value) -> Option<T>,
    ) -> Result<Vec<T>, CallError> {
        let (mut kept, mut token, mut restarts) = (Vec::new(), None::<String>, 0);
        loop {
            let is_first = token.is_none();
            match self.page(target, selectors, token.take()).await {
                Ok(mut page) => {
                    if let Value::Array(items) = page["items"].take() {
                        kept.extend(items.into_iter().filter_map(&mut read));
                    }
                    match page["metadata"]["continue"].as_str() {
                        None | Some("") => return Ok(kept),
                        Some(next) => token = Some(next.to_owned()),
                    }
                }
                // The objects that were read may be gone by now.
                Err(error) if error.code() == 410 && !is_first && restarts < RESTARTS => {
                    restarts += 1;
                    kept.clear();
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn page(
        &self,
        target: Target<'_>,
        selectors: Selectors<'_>,
        token: Option<String>,
    ) -> Result<Value, CallError> {
        let own = |selector: Option<&str>| selector.map(str::to_owned);
        let params = ListParams {
            label_selector: own(selectors.labels),
            field_selector: own(selectors.fields),
            limit: Some(self.page_size),
            continue_token: token,
            ..ListParams::default()
        };
        let request = target.requests().list(&params).map_err(kube::Error::BuildRequest);
        self.json(request).await.map_err(|source| target.failed(Verb::List, "", source))
    }

    /// The objects with these labels, as JSON.
    pub(crate) async fn list(&self, target: Target<'_>, labels: Option<&str>) -> Result<Vec<Value>, CallError> {
        self.list_each(target, Selectors { labels, fields: None }, Some).await
    }

    /// The object of a name, by a list: for kinds that may be listed and not read.
    pub(crate) async fn list_named(&self, target: Target<'_>) -> Result<Option<Value>, CallError> {
        let fields = format!("metadata.name={}", segment::selected(target.name));
        let found = self.list_each(target, Selectors { labels: None, fields: Some(&fields) }, Some).await?;
        Ok(found.into_iter().next())
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

    /// A server of five objects; the first continuations may have expired.
    fn server(expired: usize) -> (Client, Arc<Mutex<Vec<String>>>) {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, left) = (asked.clone(), Mutex::new(expired));
        let answer = move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.parse::<usize>().ok());
            let (limit, first) = (value("limit=").unwrap_or(usize::MAX), value("continue="));
            log.lock().push(query.clone());
            let mut left = left.lock();
            let (code, body) = if first.is_some() && *left > 0 {
                *left -= 1;
                (410, json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}))
            } else {
                let first = first.unwrap_or_default();
                let next = first + limit.min(5 - first);
                let token = if next < 5 { next.to_string() } else { String::new() };
                (200, json!({"metadata": {"continue": token}, "items": (first..next).collect::<Vec<_>>()}))
            };
            let response = Response::builder().status(code).body(Body::from(body.to_string().into_bytes()));
            std::future::ready(Ok::<_, Infallible>(response.unwrap()))
        };
        (Client::new(kube::Client::new(tower::service_fn(answer), "default")).with_page_size(2), asked)
    }

    async fn numbers(client: &Client) -> Result<Vec<u64>, CallError> {
        let kind = kind_of::<Pod>();
        let target = Target { kind: &kind, namespace: None, name: "" };
        client.list_each(target, Selectors { labels: Some("app=web"), fields: None }, |item| item.as_u64()).await
    }

    #[tokio::test]
    async fn a_selected_list_is_read_in_pages() {
        let (client, asked) = server(0);
        assert_eq!(numbers(&client).await.unwrap(), [0, 1, 2, 3, 4]);
        let asked = asked.lock();
        assert_eq!(asked.len(), 3);
        assert!(
            asked.iter().all(|query| query.contains("limit=2") && query.contains("labelSelector=app")),
            "{asked:?}"
        );
    }

    #[tokio::test]
    async fn a_list_whose_continuation_expires_begins_again_and_holds_each_object_once() {
        let (client, _asked) = server(2);
        assert_eq!(numbers(&client).await.unwrap(), [0, 1, 2, 3, 4]);
    }

    #[tokio::test]
    async fn a_list_that_never_comes_to_its_end_is_an_error() {
        let (client, _asked) = server(usize::MAX);
        assert_eq!(numbers(&client).await.unwrap_err().code(), 410);
    }
}
