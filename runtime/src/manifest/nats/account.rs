//! Generates the publish and subscribe permissions of the operator's NATS user from the rights that the trees of the operator declare.

use crate::manifest::{
    json,
    project::Project,
    rbac::{BucketAccess, bucket_access},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns the permissions of the operator's NATS user: the subjects that it may publish and subscribe to. The operator may write to a
/// bucket only if it writes objects of a kind in the bucket. The format is that of a NATS server's configuration and of a user's JWT.
pub(super) fn permissions(project: &Project) -> Value {
    let mut buckets = BTreeMap::<String, BucketAccess>::new();
    for (kind, bucket) in project.buckets() {
        let access = bucket_access(project, &kind);
        let of_bucket = buckets.entry(bucket.name.into_owned()).or_default();
        *of_bucket = (*of_bucket).max(access);
    }
    let mut publish = Vec::new();
    for (bucket, access) in &buckets {
        publish.extend(match access {
            // The operator opens the buckets of all its kinds, even a bucket whose objects no tree uses.
            BucketAccess::None | BucketAccess::Read => subjects_of_reads(bucket),
            BucketAccess::Write => {
                let mut subjects = subjects_of_reads(bucket);
                subjects.push(format!("$KV.{bucket}.>"));
                subjects
            }
        });
    }
    publish.sort();
    json!({
        "description": json::description(),
        "permissions": {
            "publish": {"allow": publish},
            "subscribe": {"allow": ["_INBOX.>"]},
        },
    })
}

/// Returns the subjects to which a client publishes in order to read and watch a bucket. The consumers of watches acknowledge no messages,
/// but answer the server's flow control.
fn subjects_of_reads(bucket: &str) -> Vec<String> {
    vec![
        format!("$JS.API.CONSUMER.CREATE.KV_{bucket}.>"),
        format!("$JS.API.STREAM.INFO.KV_{bucket}"),
        format!("$JS.API.STREAM.MSG.GET.KV_{bucket}"),
        format!("$JS.FC.KV_{bucket}.>"),
    ]
}
