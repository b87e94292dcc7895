//! Generates the publish and subscribe permissions of the operator's NATS user from the rights that the trees of the operator declare.

use crate::manifest::{
    json,
    project::Project,
    rbac::{BucketAccess, bucket_access},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns the permissions of the user, in the form of the configuration of a NATS server and of the claims of a user. A bucket whose
/// objects the operator doesn't write gets the subjects of reads only.
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
            // The operator serves all kinds in buckets to its parts, so it opens also those that no tree needs.
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

/// Returns the subjects for reading and watching a bucket. The consumers of watches acknowledge nothing, but answer the flow control
/// of the server.
fn subjects_of_reads(bucket: &str) -> Vec<String> {
    vec![
        format!("$JS.API.CONSUMER.CREATE.KV_{bucket}.>"),
        format!("$JS.API.STREAM.INFO.KV_{bucket}"),
        format!("$JS.API.STREAM.MSG.GET.KV_{bucket}"),
        format!("$JS.FC.KV_{bucket}.>"),
    ]
}
