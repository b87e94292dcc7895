//! `ForeignClient`: another client of a bucket, which writes as ordinary NATS clients do: without expected revisions, and without the
//! checks of a key-value client.

use std::{collections::BTreeMap, time::Duration};

use crate::wait;
use async_nats::{Client, ConnectOptions, HeaderMap};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

/// A client of one bucket.
#[derive(Clone, Debug)]
pub struct ForeignClient {
    client: Client,
    bucket: String,
}

impl ForeignClient {
    /// Connects to a server without credentials.
    ///
    /// # Panics
    /// If no server answers.
    pub async fn connect(urls: &[String], bucket: &str) -> Self {
        Self::connect_with(ConnectOptions::new(), urls, bucket).await
    }

    /// Connects to a server.
    ///
    /// # Panics
    /// If no server answers.
    pub async fn connect_with(options: ConnectOptions, urls: &[String], bucket: &str) -> Self {
        let client = options.request_timeout(Some(Duration::from_secs(10))).connect(urls).await.expect("a connection");
        Self { client, bucket: bucket.to_owned() }
    }

    /// Returns a client of another bucket, over the same connection.
    pub fn of_bucket(&self, bucket: &str) -> Self {
        Self { client: self.client.clone(), bucket: bucket.to_owned() }
    }

    /// Writes a value, and returns its revision.
    ///
    /// # Panics
    /// If the server does not take the write.
    pub async fn put(&self, key: &str, value: &[u8]) -> u64 {
        self.write(key, HeaderMap::new(), value).await
    }

    /// Writes the marker with which NATS clients delete a key, and returns its revision.
    ///
    /// # Panics
    /// If the server does not take the write.
    pub async fn delete(&self, key: &str) -> u64 {
        let mut headers = HeaderMap::new();
        headers.insert("KV-Operation", "DEL");
        self.write(key, headers, b"").await
    }

    /// Writes the marker with which NATS clients purge a key, and returns its revision. The server removes all earlier messages of the key.
    ///
    /// # Panics
    /// If the server does not take the write.
    pub async fn purge(&self, key: &str) -> u64 {
        let mut headers = HeaderMap::new();
        headers.insert("KV-Operation", "PURGE");
        headers.insert("Nats-Rollup", "sub");
        self.write(key, headers, b"").await
    }

    /// Removes all messages of the keys that fit a filter, with their markers, so that a watch that starts later learns nothing of them.
    ///
    /// # Panics
    /// If the server refuses it.
    pub async fn purge_stream(&self, filter: &str) {
        self.api("STREAM.PURGE", json!({"filter": format!("$KV.{}.{filter}", self.bucket)})).await.expect("a purge");
    }

    /// Removes all messages of each deleted or purged key, also the marker of the deletion, as `nats kv compact` does.
    ///
    /// # Panics
    /// If the server refuses it.
    pub async fn delete_tombstones(&self) {
        for (subject, message) in self.last_messages().await {
            if !message["hdrs"].is_null() && is_tombstone(&message) {
                self.api("STREAM.PURGE", json!({"filter": subject})).await.expect("a purge");
            }
        }
    }

    /// Returns the last message of each subject of the bucket's stream, by subject. The subject of a key is `$KV.<bucket>.<key>`.
    async fn last_messages(&self) -> BTreeMap<String, Value> {
        let page = self.api("STREAM.INFO", json!({"subjects_filter": ">"})).await.expect("the subjects");
        let subjects: Vec<String> =
            page["state"]["subjects"].as_object().into_iter().flatten().map(|(subject, _)| subject.clone()).collect();
        let mut messages = BTreeMap::new();
        for subject in subjects {
            let found = self.api("STREAM.MSG.GET", json!({"last_by_subj": subject})).await.expect("a message");
            messages.insert(subject, found["message"].clone());
        }
        messages
    }

    /// Returns the messages of a key that the stream still has, as pairs of revision and value, oldest first.
    ///
    /// # Panics
    /// If the server returns a message of another form.
    pub async fn history(&self, key: &str) -> Vec<(u64, Vec<u8>)> {
        let messages = self.messages(key, 0).await;
        messages.into_iter().map(|message| (message.revision, message.value)).collect()
    }

    /// Returns the messages with revisions above `after` of the keys that match a filter, such as `>` for all keys, oldest first. Messages
    /// that the server has removed are missing. Each message is read by a call of its own.
    ///
    /// # Panics
    /// If the server returns a message of another form.
    pub async fn messages(&self, filter: &str, after: u64) -> Vec<StreamMessage> {
        let prefix = format!("$KV.{}.", self.bucket);
        let (mut messages, mut next_revision) = (Vec::new(), after + 1);
        loop {
            let query = json!({"seq": next_revision, "next_by_subj": format!("{prefix}{filter}")});
            let found = wait::until("the next message is read", wait::PATIENCE, async || {
                match self.api("STREAM.MSG.GET", query.clone()).await {
                    Ok(found) => Ok(Some(found)),
                    // There are no more messages.
                    Err(error) if error.contains("no message found") => Ok(None),
                    Err(error) => Err(error),
                }
            });
            let Some(found) = found.await else { return messages };
            let message: Stored = serde_json::from_value(found["message"].clone()).expect("a message");
            next_revision = message.seq + 1;
            messages.push(StreamMessage {
                key: message.subject.trim_start_matches(&prefix).to_owned(),
                revision: message.seq,
                time: message.time.parse().expect("a time"),
                value: message.data.0,
            });
        }
    }

    /// Returns the revision of the last write in the bucket; 0 if there is none.
    ///
    /// # Panics
    /// If the server does not report it.
    pub async fn last_revision(&self) -> u64 {
        let report = self.api("STREAM.INFO", Value::Null).await.expect("a report");
        report["state"]["last_seq"].as_u64().expect("a revision")
    }

    /// Creates the bucket on three servers, with a history that keeps all values of each key.
    ///
    /// # Errors
    /// Fails while the servers can't create it.
    pub async fn create_with_whole_history(&self) -> Result<(), String> {
        let configuration = json!({
            "name": format!("KV_{}", self.bucket),
            "subjects": [format!("$KV.{}.>", self.bucket)],
            "storage": "file",
            "num_replicas": 3,
            "max_msgs_per_subject": -1,
            "discard": "new",
            "allow_rollup_hdrs": true,
            "deny_delete": true,
            "allow_direct": true,
        });
        self.api("STREAM.CREATE", configuration).await.map(drop)
    }

    /// Deletes the bucket with all its entries.
    ///
    /// # Panics
    /// If the server refuses it.
    pub async fn delete_bucket(&self) {
        self.api("STREAM.DELETE", Value::Null).await.expect("a deletion");
    }

    /// Asks the leader of the stream to let another server lead.
    ///
    /// # Errors
    /// Fails if the server refuses it.
    pub async fn step_down(&self) -> Result<Value, String> {
        self.api("STREAM.LEADER.STEPDOWN", Value::Null).await
    }

    /// Returns the name of the server that leads the stream.
    ///
    /// # Errors
    /// Fails if the stream has no leader.
    pub async fn leader(&self) -> Result<String, String> {
        let report = self.api("STREAM.INFO", Value::Null).await?;
        report["cluster"]["leader"].as_str().map(str::to_owned).ok_or_else(|| format!("no leader: {report}"))
    }

    /// Sends a message for a key to the stream of the bucket, and returns its revision, which the server assigns.
    async fn write(&self, key: &str, headers: HeaderMap, value: &[u8]) -> u64 {
        let subject = format!("$KV.{}.{key}", self.bucket);
        let answer =
            self.client.request_with_headers(subject, headers, value.to_vec().into()).await.expect("an answer");
        let answer: Value = serde_json::from_slice(&answer.payload).expect("JSON");
        answer["seq"]
            .as_u64()
            .filter(|revision| *revision > 0)
            .unwrap_or_else(|| panic!("{key} is not written: {answer}"))
    }

    /// Calls an operation of the JetStream API on the stream of the bucket, such as `STREAM.INFO`, and returns the response. A null `body`
    /// is sent as an empty message.
    ///
    /// # Errors
    /// Fails with the error in the response, or if no server responds.
    async fn api(&self, operation: &str, body: Value) -> Result<Value, String> {
        let body = if body.is_null() { Vec::new() } else { serde_json::to_vec(&body).expect("JSON") };
        let subject = format!("$JS.API.{operation}.KV_{}", self.bucket);
        let answer =
            self.client.request(subject, body.into()).await.map_err(|error| format!("{operation}: {error}"))?;
        let answer: Value = serde_json::from_slice(&answer.payload).map_err(|error| error.to_string())?;
        if answer["error"].is_null() { Ok(answer) } else { Err(format!("{operation}: {}", answer["error"])) }
    }
}

/// A message of a bucket: a value, or the empty marker of a deletion.
#[derive(Clone, Debug)]
pub struct StreamMessage {
    /// The key.
    pub key: String,
    /// The revision.
    pub revision: u64,
    /// When the leader of the stream received it.
    pub time: Timestamp,
    /// The value; empty for a deletion.
    pub value: Vec<u8>,
}

#[derive(serde::Deserialize)]
struct Stored {
    #[serde(default)]
    subject: String,
    seq: u64,
    #[serde(default)]
    time: String,
    #[serde(default)]
    data: k8s_openapi::ByteString,
    #[serde(default)]
    hdrs: k8s_openapi::ByteString,
}

/// Returns whether a message is the marker of a deleted or purged key, by its header.
fn is_tombstone(message: &Value) -> bool {
    let message: Stored = serde_json::from_value(message.clone()).expect("a message");
    let headers = String::from_utf8_lossy(&message.hdrs.0).into_owned();
    headers.contains("KV-Operation: DEL") || headers.contains("KV-Operation: PURGE")
}
