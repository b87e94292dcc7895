//! Maintains the ControllerRevisions of StatefulSets and DaemonSets, and hashes pod templates.

use serde_json::{Value, json};

use super::{ApiError, ControllerClient, pods};
use crate::{kind::Kind, object};

pub(super) const REVISIONS: &str = "controllerrevisions.apps";

/// The label that contains the hash of a StatefulSet's revision.
pub(super) const OF_STATEFUL_SET: &str = "controller.kubernetes.io/hash";
/// The label that contains the hash of a DaemonSet's revision; its Pods have it, too.
pub(super) const OF_DAEMON_SET: &str = "controller-revision-hash";

/// The characters of a hash.
const SAFE_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Returns a short hash of a template: the FNV-1a hash of its JSON, in letters that are safe in names. Kubernetes
/// hashes Go's printed form of the template, which can't be reproduced here.
pub(super) fn hash(template: &Value) -> String {
    let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = template.to_string().bytes().fold(0x811c_9dc5, fold);
    hash.to_string().bytes().map(|digit| char::from(SAFE_LETTERS[usize::from(digit) % SAFE_LETTERS.len()])).collect()
}

/// Ensures that a ControllerRevision for the current template of a set exists and has the highest revision number. A new one has the hash
/// of the template in the label `label`. Returns the ControllerRevision, and all ControllerRevisions of the set.
pub(super) async fn ensure_current(
    client: &ControllerClient,
    kind: &Kind,
    set: &Value,
    label: &str,
) -> Result<(Value, Vec<Value>), ApiError> {
    let revisions = client.served_kind(REVISIONS)?;
    let mut revisions_of_set = pods::controlled_objects(client, &revisions, object::namespace(set), object::uid(set));
    revisions_of_set.sort_by_key(|revision| revision["revision"].as_i64());
    let mut template = set["spec"]["template"].clone();
    template["$patch"] = "replace".into();
    let data = json!({"spec": {"template": template}});
    if let Some(index) = revisions_of_set.iter().position(|revision| revision["data"] == data) {
        let newest = revisions_of_set.last().and_then(|revision| revision["revision"].as_i64()).unwrap_or(0);
        if revisions_of_set[index]["revision"].as_i64() != Some(newest) {
            // A template that is used again becomes the newest revision.
            revisions_of_set[index]["revision"] = (newest + 1).into();
            revisions_of_set[index] = client.replace(&revisions, "", &revisions_of_set[index]).await?;
        }
        return Ok((revisions_of_set[index].clone(), revisions_of_set));
    }
    let newest = revisions_of_set.last().and_then(|revision| revision["revision"].as_i64()).unwrap_or(0);
    let hash = hash(&template);
    let mut labels = object::at(set, &["spec", "template", "metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
    labels[label] = hash.clone().into();
    let name = format!("{}-{hash}", object::name(set));
    let mut new_revision = json!({
        "metadata": {
            "name": name, "namespace": object::namespace(set), "labels": labels,
            "ownerReferences": [pods::controller_reference(kind, set)],
        },
        "data": data, "revision": newest + 1,
    });
    if let Some(annotations) = object::at(set, &["metadata", "annotations"]) {
        new_revision["metadata"]["annotations"] = annotations.clone();
    }
    let new_revision = match client.create(&revisions, &new_revision).await {
        Err(refused) if refused.is_already_exists() => {
            client.get(&revisions, object::namespace(set), &name).ok_or(refused)?
        }
        new_revision => new_revision?,
    };
    revisions_of_set.push(new_revision.clone());
    Ok((new_revision, revisions_of_set))
}
