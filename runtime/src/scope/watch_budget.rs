//! `WatchBudget`: limits what another cluster may send for the cache of one kind, and with it the memory of the cache.

use crate::client::{
    inspected_body::{inspect_responses, is_watch},
    response_size::TooLarge,
};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::Notify;

/// The maximum size of a list with all its pages, and of all events after it.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// The bytes that a cluster has sent for a cache: of the current list, or of the events after it.
#[derive(Debug)]
pub(super) struct WatchBudget {
    max: usize,
    spent: Mutex<Spent>,
    exceeded: Notify,
}

/// The bytes received so far, and whether they are of a list or of the events after it.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    bytes: usize,
    is_list: bool,
}

/// The part of the traffic that exceeded a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exceeded {
    /// A list: it can't be loaded.
    List,
    /// The events after a list. The next list has its own budget.
    Events,
}

impl WatchBudget {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, spent: Mutex::default(), exceeded: Notify::new() })
    }

    /// Returns a client for the lists and watches of one kind. When the bytes of its responses exceed the budget, the response ends with an
    /// error. The budget starts again when a watch follows a list, and when a list follows a watch.
    pub(super) fn wrap(self: &Arc<Self>, client: kube::Client) -> kube::Client {
        let budget = self.clone();
        inspect_responses(client, move |request| {
            let is_list = !is_watch(request);
            let mut spent = budget.spent.lock();
            // A further page, and a list that starts again, continue the budget of the list, whose objects the cache still has. A watch
            // that resumes continues the budget of the events.
            if is_list != spent.is_list {
                *spent = Spent { bytes: 0, is_list };
            }
            drop(spent);
            let budget = budget.clone();
            move |bytes: &[u8]| budget.spend(bytes.len())
        })
    }

    /// Counts received bytes.
    ///
    /// # Errors
    /// Fails if the budget is exceeded, and wakes the caller of [`WatchBudget::exceeded`].
    fn spend(&self, bytes: usize) -> Result<(), TooLarge> {
        let mut spent = self.spent.lock();
        spent.bytes = spent.bytes.saturating_add(bytes);
        if spent.bytes <= self.max {
            return Ok(());
        }
        self.exceeded.notify_one();
        Err(TooLarge { max: self.max })
    }

    /// Waits until the budget is exceeded, and returns whether a list or the events after it exceeded it.
    pub(super) async fn exceeded(&self) -> Exceeded {
        self.exceeded.notified().await;
        if self.spent.lock().is_list { Exceeded::List } else { Exceeded::Events }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use http::{Request, Response};
    use kube::client::Body;
    use std::convert::Infallible;

    /// Returns a client whose responses have ten bytes, within this budget.
    fn client(budget: &Arc<WatchBudget>) -> kube::Client {
        let service = tower::service_fn(async move |_: Request<Body>| {
            Ok::<_, Infallible>(Response::new(Body::from(b"1234567890".to_vec())))
        });
        budget.wrap(kube::Client::new(service, "default"))
    }

    /// Sends a request with this query, and returns whether the whole response arrives.
    async fn is_allowed(client: &kube::Client, query: &str) -> bool {
        let request = Request::get(format!("/api/v1/pods?{query}")).body(Body::empty()).unwrap();
        client.send(request).await.unwrap().into_body().collect_bytes().await.is_ok()
    }

    #[tokio::test]
    async fn all_pages_of_a_list_and_its_repetitions_have_one_budget() {
        let budget = WatchBudget::new(30);
        let client = client(&budget);
        assert!(is_allowed(&client, "limit=1").await);
        assert!(is_allowed(&client, "limit=1&continue=a").await);
        assert!(is_allowed(&client, "limit=1").await, "it begins again");
        assert!(budget.exceeded().now_or_never().is_none());
        assert!(!is_allowed(&client, "limit=1&continue=a").await);
        assert_eq!(budget.exceeded().now_or_never(), Some(Exceeded::List));
    }

    #[tokio::test]
    async fn the_events_after_a_list_have_a_budget_of_their_own() {
        let budget = WatchBudget::new(10);
        let client = client(&budget);
        assert!(is_allowed(&client, "limit=1").await);
        assert!(is_allowed(&client, "watch=true&resourceVersion=1").await);
        assert!(!is_allowed(&client, "watch=true&resourceVersion=2").await);
        assert_eq!(budget.exceeded().now_or_never(), Some(Exceeded::Events));
        assert!(is_allowed(&client, "limit=1").await, "the next list");
    }
}
