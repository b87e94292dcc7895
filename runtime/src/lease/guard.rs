//! Wraps an API client so that it refuses writes while this replica does not lead, and gives up writes in flight before another replica can
//! lead.

use super::leads::Leads;
use crate::error::not_leading::NotLeading;
use http::{Method, Request};
use kube::client::Body;

/// Wraps a client so that it refuses writes while this replica does not lead, and gives up writes in flight before another replica can
/// lead. A write while an object of a shard is reconciled also needs the Lease of the shard.
///
/// It must be the lowest layer of the client: a layer below it that waits before it sends would send a write some time after the check.
pub(crate) fn guard_writes(client: kube::Client, leads: Leads) -> kube::Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, leads) = (client.clone(), leads.clone());
        async move {
            if !changes_objects(&request) {
                return client.send(request).await;
            }
            let refuse = |reason: NotLeading| kube::Error::Service(reason.into());
            // The leadership of the shard is a task-local, so it must be read when the caller's task polls this future. `call` itself runs
            // in the worker task of tower's buffer.
            let leads = leads.of_write();
            leads.check().map_err(refuse)?;
            tokio::select! {
                biased;
                // This branch is polled first, since the process may be stopped after the check: when it continues, it must not send the
                // request after the deadline.
                () = leads.wait_until_given_up() => Err(refuse(NotLeading::GivenUp)),
                response = client.send(request) => response,
            }
        }
    });
    kube::Client::new(service, namespace)
}

/// Returns whether a request changes objects: it is a POST, PUT, PATCH or DELETE, no dry run, and no review such as a SubjectAccessReview.
fn changes_objects<B>(request: &Request<B>) -> bool {
    let is_write = matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH | Method::DELETE);
    let mut parameters = request.uri().query().unwrap_or_default().split('&');
    is_write && !parameters.any(|parameter| parameter == "dryRun=All") && !is_review(request.uri().path())
}

/// Returns whether a path is that of a review of an access or a token, which the API server answers and does not store.
fn is_review(path: &str) -> bool {
    let is_group =
        ["/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/"].iter().any(|group| path.starts_with(group));
    is_group && path.ends_with("reviews")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        client::{Client, Target},
        error::Error,
        kind::kind_of,
        lease::{
            lead::{Lead, LeadState, Tenure},
            leads::with_lead,
        },
    };
    use http::Response;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::DeleteParams;
    use std::{convert::Infallible, time::Duration};
    use tokio::time::{Instant, advance, sleep_until};

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the state of a leadership that was renewed just now: no writes after 10 s, and writes in flight are given up after 12 s.
    fn tenure() -> LeadState {
        let now = Instant::now();
        LeadState::Held(Tenure { deadline: now + SECOND * 10, give_up: now + SECOND * 12, overdue: now + SECOND * 25 })
    }

    /// Returns a guarded client of a server that responds after a time.
    fn client(after: Duration) -> (Client, Lead) {
        let service = tower::service_fn(move |_: Request<Body>| async move {
            sleep_until(Instant::now() + after).await;
            Ok::<_, Infallible>(Response::new(Body::from(b"{}".to_vec())))
        });
        let leads = Leads::new();
        let lead = leads.process().clone();
        (Client::new(guard_writes(kube::Client::new(service, "default"), leads)), lead)
    }

    /// Sends a write. A refused write must be reported as a conflict, which the operator retries.
    async fn delete(client: &Client) -> Result<(), String> {
        let kind = kind_of::<ConfigMap>();
        let target = Target { kind: &kind, namespace: Some("default"), name: "a" };
        let result = client.delete(target, &DeleteParams::default()).await;
        result.map(drop).map_err(|error| {
            assert!(error.is_conflict(), "{error:?}");
            assert!(matches!(Error::from(error), Error::Conflict(_)));
            "conflict".to_owned()
        })
    }

    #[test]
    fn only_requests_that_change_objects_need_the_lead() {
        let changes =
            |method: &str, uri: &str| changes_objects(&Request::builder().method(method).uri(uri).body(()).unwrap());
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            assert!(changes(method, "/api/v1/namespaces/a/pods/b?fieldManager=c"), "{method}");
            assert!(!changes(method, "/api/v1/namespaces/a/pods/b?fieldManager=c&dryRun=All"), "{method}");
        }
        for method in ["GET", "HEAD", "OPTIONS"] {
            assert!(!changes(method, "/api/v1/namespaces/a/pods?watch=true"), "{method}");
        }
        for path in [
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews",
            "/apis/authentication.k8s.io/v1/tokenreviews",
        ] {
            assert!(!changes("POST", path), "{path}");
        }
        assert!(changes("POST", "/apis/shop.example.com/v1/namespaces/a/reviews"));
        assert!(changes("POST", "/api/v1/namespaces/a/serviceaccounts/b/token"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_is_sent_only_before_the_deadline() {
        let (client, lead) = client(Duration::ZERO);
        assert!(delete(&client).await.is_err(), "nobody elected it yet");
        lead.set(tenure());
        assert_eq!(delete(&client).await, Ok(()));
        advance(SECOND * 10).await;
        assert!(delete(&client).await.is_err(), "the deadline has passed");
        lead.set(tenure());
        assert_eq!(delete(&client).await, Ok(()));
        lead.set(LeadState::Ended);
        lead.set(tenure());
        assert!(delete(&client).await.is_err(), "an ended lead does not come back");
    }

    /// A write while an object of a shard is reconciled needs the Lease of the shard and that of the process; other writes need only the
    /// latter.
    #[tokio::test(start_paused = true)]
    async fn a_write_of_a_pass_needs_the_lead_of_its_shard_and_that_of_the_process() {
        let (client, process) = client(Duration::ZERO);
        let shard = Lead::new();
        process.set(tenure());
        assert!(with_lead(shard.clone(), delete(&client)).await.is_err(), "the shard is not held");
        shard.set(tenure());
        assert_eq!(with_lead(shard.clone(), delete(&client)).await, Ok(()));
        advance(SECOND * 10).await;
        process.set(tenure());
        assert!(with_lead(shard.clone(), delete(&client)).await.is_err(), "the deadline of the shard has passed");
        assert_eq!(delete(&client).await, Ok(()));
        shard.set(tenure());
        process.set(LeadState::Ended);
        assert!(with_lead(shard, delete(&client)).await.is_err(), "the process has lost its lead");
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_in_flight_is_given_up_before_another_may_lead() {
        let (client, lead) = client(SECOND * 3600);
        lead.set(tenure());
        let began = Instant::now();
        // The renewal after 11 s extends the time of the write in flight to 11 s + 12 s.
        let renewals = async {
            sleep_until(Instant::now() + SECOND * 11).await;
            lead.set(tenure());
            std::future::pending::<()>().await
        };
        tokio::select! {
            result = delete(&client) => assert!(result.is_err()),
            () = renewals => {}
        }
        assert_eq!(began.elapsed(), SECOND * 23);
        lead.set(tenure());
        // The end of the leadership gives the write up at once.
        tokio::join!(async { assert!(delete(&client).await.is_err()) }, async { lead.set(LeadState::Ended) });
        assert_eq!(began.elapsed(), SECOND * 23);
    }
}
