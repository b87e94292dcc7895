//! Calls JetStream's API for the streams of buckets, and decodes its answers.

use super::connection::{CallFailure, NatsConnection};
use crate::bucket::BucketError;
use async_nats::HeaderMap;
use bytes::Bytes;
use k8s_openapi::ByteString;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// The codes of errors that mean something for a bucket.
const STREAM_NOT_FOUND: u64 = 10_059;
const MESSAGE_NOT_FOUND: u64 = 10_037;
const WRONG_LAST_REVISION: [u64; 2] = [10_071, 10_164];
const MESSAGE_TOO_LARGE: u64 = 10_054;
const STREAM_NAME_IN_USE: u64 = 10_058;
/// Limits of the account that another request may not reach: its storage, and the number of consumers.
const LIMIT_REACHED: [u64; 2] = [10_002, 10_026];

/// The settings of a stream, as far as a bucket has them. Durations are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StreamConfig {
    pub(super) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    pub(super) subjects: Vec<String>,
    pub(super) retention: String,
    pub(super) storage: String,
    pub(super) discard: String,
    pub(super) num_replicas: usize,
    pub(super) max_consumers: i64,
    pub(super) max_msgs: i64,
    pub(super) max_msgs_per_subject: i64,
    pub(super) max_bytes: i64,
    pub(super) max_msg_size: i64,
    pub(super) max_age: u64,
    pub(super) duplicate_window: u64,
    pub(super) allow_rollup_hdrs: bool,
    pub(super) deny_delete: bool,
    pub(super) allow_direct: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) allow_msg_ttl: bool,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) subject_delete_marker_ttl: u64,
    #[serde(skip_serializing)]
    pub(super) mirror: Option<serde_json::Value>,
    #[serde(skip_serializing)]
    pub(super) sealed: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// A stream as its leader describes it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct StreamReport {
    pub(super) config: StreamConfig,
    pub(super) state: StreamState,
    /// How many keys the stream has; only in a page of keys.
    #[serde(default)]
    pub(super) total: u64,
}

/// The contents of a stream.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct StreamState {
    pub(super) messages: u64,
    #[serde(rename = "last_seq")]
    pub(super) last_revision: u64,
    #[serde(default, rename = "num_subjects")]
    pub(super) subject_count: u64,
    /// The subjects of a page, with the number of their messages.
    #[serde(default)]
    pub(super) subjects: Option<BTreeMap<String, u64>>,
}

/// The last message of a subject.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct StoredMessage {
    #[serde(rename = "seq")]
    pub(super) revision: u64,
    #[serde(default)]
    pub(super) data: ByteString,
    #[serde(default)]
    pub(super) hdrs: ByteString,
}

/// The answer to a write.
#[derive(Debug, Deserialize)]
struct Written {
    #[serde(rename = "seq")]
    revision: u64,
}

/// Why a call of the API failed.
#[derive(Clone, Debug)]
pub(super) enum JetStreamFailure {
    Request(CallFailure),
    /// JetStream answered with an error.
    Refused {
        /// The kind of the error, as a status of HTTP.
        status: u16,
        code: u64,
        description: String,
    },
    /// The answer can't be read.
    Malformed(String),
}

#[derive(Deserialize)]
struct ApiOutcome {
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default, rename = "code")]
    status: u16,
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

impl JetStreamFailure {
    /// Returns the error code of JetStream; 0 if JetStream has not answered with an error.
    fn code(&self) -> u64 {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Request(_) | Self::Malformed(_) => 0,
        }
    }

    /// Returns whether a write failed because the last message of its key has another revision than the write expects.
    pub(super) fn is_wrong_revision(&self) -> bool {
        WRONG_LAST_REVISION.contains(&self.code())
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.code() == MESSAGE_TOO_LARGE || matches!(self, Self::Request(CallFailure::TooLarge))
    }

    pub(super) fn is_no_bucket(&self) -> bool {
        self.code() == STREAM_NOT_FOUND
    }

    /// Returns whether a creation failed because another client has just created the stream, with other settings.
    pub(super) fn is_name_in_use(&self) -> bool {
        self.code() == STREAM_NAME_IN_USE
    }

    pub(super) fn is_no_responders(&self) -> bool {
        matches!(self, Self::Request(CallFailure::NoResponders))
    }

    /// Returns the message of the error with which JetStream has answered; `None` if the stream is missing, or if there was no valid
    /// answer.
    pub(super) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Refused { code, description, .. } if *code != STREAM_NOT_FOUND => Some(description),
            _ => None,
        }
    }

    /// Converts the failure to the error for the caller of a bucket. `operation` is the operation that failed, as a verb, and `prefix` is
    /// the subject prefix of JetStream's API. A refusal with a 4xx status is final, except for a missing stream, which may be created,
    /// and for limits of the account, which may be raised.
    pub(super) fn into_error(self, bucket: &str, operation: &str, prefix: &str) -> BucketError {
        match self {
            Self::Refused { code: STREAM_NOT_FOUND, .. } => BucketError::no_bucket(bucket),
            Self::Refused { status: 400..500, code, description } if !LIMIT_REACHED.contains(&code) => {
                BucketError::invalid(bucket, description)
            }
            Self::Refused { description, .. } => BucketError::unavailable(bucket, description),
            Self::Malformed(message) | Self::Request(CallFailure::Unanswered(message)) => {
                BucketError::unavailable(bucket, message)
            }
            Self::Request(CallFailure::Forbidden(message)) => BucketError::forbidden(bucket, operation, message),
            Self::Request(CallFailure::NoResponders) => BucketError::unavailable(
                bucket,
                format!("nobody answers on {prefix}; check that JetStream is enabled for the account, and its domain"),
            ),
            Self::Request(CallFailure::Invalid(message)) => BucketError::invalid(bucket, message),
            Self::Request(CallFailure::TooLarge) => BucketError::invalid(bucket, "the message is too large"),
        }
    }
}

/// The API for one stream.
#[derive(Clone, Debug)]
pub(super) struct StreamApi {
    connection: NatsConnection,
    stream: String,
}

impl StreamApi {
    pub(super) fn new(connection: NatsConnection, bucket: &str) -> Self {
        Self { connection, stream: stream_name(bucket) }
    }

    pub(super) fn connection(&self) -> &NatsConnection {
        &self.connection
    }

    /// Returns the name of the stream.
    pub(super) fn stream(&self) -> &str {
        &self.stream
    }

    /// Returns the settings and the state of the stream, from its leader.
    pub(super) async fn report(&self) -> Result<StreamReport, JetStreamFailure> {
        self.call("STREAM.INFO", "", &serde_json::Value::Null).await
    }

    /// Returns the settings and the state of the stream with a page of its subjects, from the index `offset` on.
    pub(super) async fn subjects(&self, offset: u64) -> Result<StreamReport, JetStreamFailure> {
        self.call("STREAM.INFO", "", &serde_json::json!({"subjects_filter": ">", "offset": offset})).await
    }

    pub(super) async fn create(&self, config: &StreamConfig) -> Result<StreamReport, JetStreamFailure> {
        self.call("STREAM.CREATE", "", config).await
    }

    /// Reads the last message of a subject from the leader of the stream, which has all writes that ended before; `None` if there is no
    /// message.
    pub(super) async fn last_message(&self, subject: &str) -> Result<Option<StoredMessage>, JetStreamFailure> {
        #[derive(Deserialize)]
        struct GetResponse {
            message: StoredMessage,
        }
        let body = serde_json::json!({"last_by_subj": subject});
        match self.call::<GetResponse>("STREAM.MSG.GET", "", &body).await {
            Ok(found) => Ok(Some(found.message)),
            Err(failure) if failure.code() == MESSAGE_NOT_FOUND => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Creates a consumer of the stream with this name, for messages whose subjects match `filter`.
    pub(super) async fn create_consumer(
        &self,
        name: &str,
        filter: &str,
        config: serde_json::Value,
    ) -> Result<(), JetStreamFailure> {
        let body = serde_json::json!({"stream_name": self.stream, "config": config});
        self.call::<serde::de::IgnoredAny>("CONSUMER.CREATE", &format!(".{name}.{filter}"), &body).await.map(drop)
    }

    /// Publishes a message to a subject of the stream, waits until the stream has stored it, and returns its revision.
    pub(super) async fn write(
        &self,
        subject: String,
        headers: HeaderMap,
        value: Bytes,
    ) -> Result<u64, JetStreamFailure> {
        let message = self.connection.request(subject, headers, value).await.map_err(JetStreamFailure::Request)?;
        decode::<Written>(&message.payload).map(|written| written.revision)
    }

    /// Sends a request to JetStream's API for the stream, and decodes the answer. `rest` is the end of the subject, after the name of the
    /// stream.
    async fn call<T: DeserializeOwned>(
        &self,
        operation: &str,
        rest: &str,
        body: &impl Serialize,
    ) -> Result<T, JetStreamFailure> {
        let subject = format!("{}.{operation}.{}{rest}", self.connection.options().prefix_of_api(), self.stream);
        let body = serde_json::to_vec(body).map_err(|error| JetStreamFailure::Malformed(error.to_string()))?;
        // A request without options has an empty body, which old servers accept, too.
        let body = if body == b"null" { Bytes::new() } else { Bytes::from(body) };
        let answer =
            self.connection.request(subject, HeaderMap::new(), body).await.map_err(JetStreamFailure::Request)?;
        decode(&answer.payload)
    }
}

/// Returns the name of the stream of a bucket.
pub(super) fn stream_name(bucket: &str) -> String {
    format!("KV_{bucket}")
}

/// Decodes an answer of the API, or returns the error that it contains.
fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, JetStreamFailure> {
    let malformed =
        |error: serde_json::Error| JetStreamFailure::Malformed(format!("JetStream's answer can't be read: {error}"));
    match serde_json::from_slice::<ApiOutcome>(payload).map_err(malformed)?.error {
        Some(Refusal { status, err_code, description }) => {
            Err(JetStreamFailure::Refused { status, code: err_code, description })
        }
        None => serde_json::from_slice(payload).map_err(malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_body_or_an_error_with_a_code() {
        let written = decode::<Written>(br#"{"stream":"KV_a","seq":7}"#).unwrap();
        assert_eq!(written.revision, 7);
        let error = br#"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 6"}}"#;
        assert!(decode::<Written>(error).unwrap_err().is_wrong_revision());
        let error = br#"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#;
        let failure = decode::<StreamReport>(error).unwrap_err();
        assert!(failure.is_no_bucket() && failure.refusal().is_none());
        assert_eq!(failure.into_error("a", "get", "$JS.API"), BucketError::no_bucket("a"));
        assert!(matches!(decode::<Written>(b"{}"), Err(JetStreamFailure::Malformed(_))));
    }

    #[test]
    fn a_refusal_is_final_unless_a_server_or_a_limit_causes_it() {
        let failure = |code: u16, err_code: u64| {
            let error = serde_json::json!({"error": {"code": code, "err_code": err_code, "description": "no"}});
            decode::<StreamReport>(error.to_string().as_bytes()).unwrap_err().into_error("a", "put", "$JS.API")
        };
        assert_eq!(failure(400, 10_109), BucketError::invalid("a", "no"), "the stream is sealed");
        assert_eq!(failure(503, 10_077), BucketError::unavailable("a", "no"), "the stream has reached its size");
        assert_eq!(failure(400, 10_002), BucketError::unavailable("a", "no"), "the account has reached its limit");
        let request = |failure| JetStreamFailure::Request(failure).into_error("a", "get", "$JS.API");
        assert_eq!(request(CallFailure::Invalid("no".into())), BucketError::invalid("a", "no"));
        assert!(matches!(request(CallFailure::TooLarge), BucketError::Invalid { .. }));
    }

    #[test]
    fn a_message_is_read_from_base64() {
        let message: StoredMessage = serde_json::from_str(r#"{"subject":"a","seq":3,"data":"eyJhIjoxfQ=="}"#).unwrap();
        assert_eq!((message.revision, message.data.0.as_slice()), (3, br#"{"a":1}"#.as_slice()));
        assert!(message.hdrs.0.is_empty());
    }
}
