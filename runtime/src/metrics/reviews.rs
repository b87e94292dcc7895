//! `Reviews` asks the API server whether the bearer of a token may use a path of the metrics server, and caches the answers.

use http::Request;
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// How long the answer to a token review is cached, as in controller-runtime.
const CACHE_TIME: Duration = Duration::from_secs(60);

/// The maximum number of cached answers.
const MAX_CACHED: usize = 1000;

/// The path of a TokenReview.
const TOKEN_REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
/// The path of a SubjectAccessReview.
const ACCESS_REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// The path of the metrics.
pub(super) const METRICS_PATH: &str = "/metrics";

/// The answer for a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenAccess {
    Allowed,
    /// The token is not valid.
    Unauthenticated,
    /// The user has no right to this verb on the path.
    Forbidden {
        user: String,
    },
}

/// The reviews of the tokens of one server.
pub(super) struct Reviews {
    client: kube::Client,
    /// By the digest of token, verb and path: a token is not kept in memory.
    cache: Mutex<HashMap<[u8; 32], (Instant, TokenAccess)>>,
}

impl Reviews {
    pub(super) fn new(client: kube::Client) -> Self {
        Self { client, cache: Mutex::default() }
    }

    /// Returns whether the bearer of a token has the right to a verb on a path. The answer is cached for `CACHE_TIME`.
    ///
    /// # Errors
    /// Fails if a review can't be created on the API server. The failure is not cached.
    pub(super) async fn access(&self, token: &str, verb: &str, path: &str) -> Result<TokenAccess, kube::Error> {
        // None of the three texts contains a zero byte, so the separator makes the digest unambiguous.
        let (digest, now) = (Sha256::digest([token, verb, path].join("\0")).into(), Instant::now());
        if let Some((reviewed_at, access)) = self.cache.lock().get(&digest)
            && now.saturating_duration_since(*reviewed_at) < CACHE_TIME
        {
            return Ok(access.clone());
        }
        let access = self.review(token, verb, path).await?;
        let mut cache = self.cache.lock();
        // A full cache drops its expired answers, and if all are still valid, the oldest one.
        if cache.len() >= MAX_CACHED {
            cache.retain(|_, (reviewed_at, _)| now.saturating_duration_since(*reviewed_at) < CACHE_TIME);
        }
        if cache.len() >= MAX_CACHED
            && let Some(oldest) =
                cache.iter().min_by_key(|(_, (reviewed_at, _))| *reviewed_at).map(|(digest, _)| *digest)
        {
            cache.remove(&oldest);
        }
        cache.insert(digest, (now, access.clone()));
        Ok(access)
    }

    /// Asks the API server for the user of a token (TokenReview), and for the user's right to the path (SubjectAccessReview).
    async fn review(&self, token: &str, verb: &str, path: &str) -> Result<TokenAccess, kube::Error> {
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        });
        let answer = self.create_review(TOKEN_REVIEWS, &review).await?;
        let (status, user) = (&answer["status"], &answer["status"]["user"]);
        if status["authenticated"] != true {
            return Ok(TokenAccess::Unauthenticated);
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user["username"],
                "uid": user["uid"],
                "groups": user["groups"],
                "extra": user["extra"],
                "nonResourceAttributes": {"path": path, "verb": verb},
            },
        });
        let answer = self.create_review(ACCESS_REVIEWS, &crate::client::strip_nulls(review)).await?;
        if answer["status"]["allowed"] == true {
            return Ok(TokenAccess::Allowed);
        }
        Ok(TokenAccess::Forbidden { user: user["username"].as_str().unwrap_or_default().to_owned() })
    }

    /// Creates a TokenReview or SubjectAccessReview, and returns it with the status that the API server has set.
    async fn create_review(&self, path: &str, review: &Value) -> Result<Value, kube::Error> {
        let body = serde_json::to_vec(review).map_err(kube::Error::SerdeError)?;
        let request = Request::post(path).header(http::header::CONTENT_TYPE, "application/json").body(body);
        self.client.request(request.map_err(kube::Error::HttpError)?).await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use http::Response;
    use kube::client::Body;
    use std::{
        convert::Infallible,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    /// Returns reviews by a server, and the number of its requests. Tokens that begin with `bad` are invalid; of all others, only `reader`
    /// has the right.
    fn reviews() -> (Reviews, Arc<AtomicUsize>) {
        let requests = Arc::<AtomicUsize>::default();
        let request_count = requests.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            request_count.fetch_add(1, Ordering::Relaxed);
            async move {
                let is_token = request.uri().path() == TOKEN_REVIEWS;
                let body = request.into_body().collect_bytes().await.unwrap();
                let review: Value = serde_json::from_slice(&body).unwrap();
                let token = review["spec"]["token"].as_str().unwrap_or_default();
                let status = match is_token {
                    true if token.starts_with("bad") => json!({"user": {}, "error": "invalid"}),
                    true => json!({"authenticated": true, "user": {"username": token, "groups": ["all"]}}),
                    false => json!({"allowed": review["spec"]["user"] == "reader"}),
                };
                Ok::<_, Infallible>(Response::new(Body::from(json!({"status": status}).to_string().into_bytes())))
            }
        });
        (Reviews::new(kube::Client::new(service, "default")), requests)
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_cached_for_a_minute_and_bounded() {
        let (reviews, requests) = reviews();
        for _ in 0..3 {
            assert_eq!(reviews.access("reader", "get", METRICS_PATH).await.unwrap(), TokenAccess::Allowed);
            assert_eq!(
                reviews.access("stranger", "get", METRICS_PATH).await.unwrap(),
                TokenAccess::Forbidden { user: "stranger".to_owned() }
            );
            assert_eq!(reviews.access("bad", "get", METRICS_PATH).await.unwrap(), TokenAccess::Unauthenticated);
        }
        assert_eq!(requests.load(Ordering::Relaxed), 5, "two, two, and one for the invalid token");
        reviews.access("bad", "get", "/debug/cache").await.unwrap();
        reviews.access("bad", "post", METRICS_PATH).await.unwrap();
        // Sets the number back to 5, so that the next request is the sixth.
        assert_eq!(requests.swap(5, Ordering::Relaxed), 7, "each right by itself");
        tokio::time::advance(CACHE_TIME).await;
        reviews.access("bad", "get", METRICS_PATH).await.unwrap();
        assert_eq!(requests.load(Ordering::Relaxed), 6);
        for number in 0..MAX_CACHED + 10 {
            tokio::time::advance(Duration::from_millis(1)).await;
            reviews.access(&format!("bad-{number}"), "get", METRICS_PATH).await.unwrap();
        }
        assert_eq!(reviews.cache.lock().len(), MAX_CACHED);
    }
}
