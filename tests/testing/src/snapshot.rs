//! `Snapshot`: the objects of a cluster, normalized so that the snapshots of two runs can be compared.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::IpAddr,
};

use serde_json::Value;

use crate::{
    object::{is_external, is_external_record, is_same_object, label, may_remain, owner_references},
    secret_data::digest_values,
};

/// Kinds that record what happened; they depend on timing.
const EXCLUDED_KINDS: [&str; 2] = ["Event", "Lease"];

/// The field managers of the CD systems.
const CD_MANAGERS: [&str; 2] = ["argocd-application-controller", "helm-controller"];

/// The finalizer that a trial puts on objects to block their deletion.
pub(crate) const FOREIGN_FINALIZER: &str = "testing.opgen.dev/another";

/// The objects of a cluster by kind, namespace and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) objects: BTreeMap<String, Entry>,
}

/// An object of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The object without the values that differ between runs: UIDs, versions, generations, times, addresses, generated
    /// names. The values of a Secret are digests, without the credentials for clusters.
    pub(crate) normalized: Value,
    /// The field managers that have written fields.
    pub(crate) managers: BTreeSet<String>,
    /// The object as the server returned it.
    pub(crate) raw: Value,
}

impl Entry {
    /// Returns whether the object has no owner reference, so that the garbage collector keeps it.
    pub(crate) fn is_unowned(&self) -> bool {
        owner_references(&self.raw).next().is_none()
    }

    /// Returns whether the object may remain after the samples are deleted: a PersistentVolume, or a PersistentVolumeClaim
    /// without an owner.
    pub(crate) fn may_stay(&self) -> bool {
        match self.raw["kind"].as_str() {
            Some("PersistentVolumeClaim") => self.is_unowned(),
            Some("PersistentVolume") => true,
            _ => may_remain(&self.raw),
        }
    }
}

impl Snapshot {
    /// Creates a snapshot of objects: drops volatile ones, and replaces values that differ between runs. If objects have the same key, such
    /// as two with generated names, all but the first get a number after it.
    pub(crate) fn of(objects: Vec<Value>) -> Self {
        let objects = without_volatile_objects(objects);
        let placeholders = Placeholders::collect(&objects);
        let mut objects_by_key = BTreeMap::new();
        let mut entries: Vec<_> = objects.into_iter().map(|object| placeholders.key_and_entry(object)).collect();
        // Objects whose generated names have one prefix have equal keys: their content decides the order.
        entries.sort_by_cached_key(|(key, entry)| (key.clone(), entry.normalized.to_string()));
        for (key, entry) in entries {
            let mut unique = key.clone();
            let mut count = 1;
            while objects_by_key.contains_key(&unique) {
                count += 1;
                unique = format!("{key} ({count})");
            }
            objects_by_key.insert(unique, entry);
        }
        Self { objects: objects_by_key }
    }

    /// Returns the objects that a program has written, without fields that depend on time and history.
    pub(crate) fn desired(&self, program: &str) -> Self {
        self.desired_or_in(&Self { objects: BTreeMap::new() }, program)
    }

    /// Returns the objects that a program has written or that the snapshot `other` has, without fields that depend on time and history.
    /// `other` adds objects in buckets that another client has put, since such a put removes the program from the field managers.
    pub(crate) fn desired_or_in(&self, other: &Self, program: &str) -> Self {
        let is_of_program = |entry: &Entry| entry.managers.iter().any(|manager| is_manager_of(manager, program));
        let is_wanted = |(key, entry): &(_, &Entry)| other.objects.contains_key(*key) || is_of_program(entry);
        let objects = self.objects.iter().filter(is_wanted).map(|(key, entry)| {
            let mut entry = entry.clone();
            strip_history(&mut entry.normalized);
            (key.clone(), entry)
        });
        Self { objects: objects.collect() }
    }

    /// Returns the objects that a program has written, without its samples, things of external services and their records.
    pub(crate) fn children<'a>(&'a self, program: &'a str, samples: &'a [Value]) -> impl Iterator<Item = &'a Entry> {
        let is_sample = |entry: &Entry| samples.iter().any(|sample| is_same_object(sample, &entry.raw));
        self.objects.values().filter(move |entry| {
            let is_child = !is_sample(entry) && !is_external(&entry.raw) && !is_external_record(&entry.raw);
            is_child && entry.managers.iter().any(|manager| is_manager_of(manager, program))
        })
    }

    /// Returns a snapshot of the samples that has only their statuses.
    pub(crate) fn statuses(&self, samples: &[Value]) -> Self {
        let is_sample = |entry: &Entry| samples.iter().any(|sample| is_same_object(sample, &entry.raw));
        let statuses = self.objects.iter().filter(|(_, entry)| is_sample(entry)).map(|(key, entry)| {
            (
                key.clone(),
                Entry { normalized: serde_json::json!({"status": entry.normalized["status"]}), ..entry.clone() },
            )
        });
        Self { objects: statuses.collect() }
    }

    /// Returns the names of the Namespaces that a CD system, such as Argo CD, has created for an application, and which it does not delete.
    pub(crate) fn namespaces_of_cd_systems(&self) -> BTreeSet<&str> {
        let namespaces = self.objects.values().filter(|entry| entry.raw["kind"] == "Namespace");
        let is_of_cd_system = |entry: &&Entry| entry.managers.iter().any(|name| CD_MANAGERS.contains(&name.as_str()));
        namespaces.filter(is_of_cd_system).filter_map(|entry| entry.raw["metadata"]["name"].as_str()).collect()
    }

    /// Returns the object of the same kind, namespace and name; `None` if the snapshot has none.
    pub(crate) fn find(&self, object: &Value) -> Option<&Value> {
        self.objects.values().map(|entry| &entry.raw).find(|other| is_same_object(object, other))
    }
}

/// Returns whether a field manager is one of the program: the program's name, or a path that begins with it.
fn is_manager_of(manager: &str, program: &str) -> bool {
    manager.strip_prefix(program).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Drops the objects of excluded kinds, and the Jobs of CronJobs with their dependents such as Pods, since the time of the snapshot decides
/// which of them exist. For the same reason, removes the status of CronJobs.
fn without_volatile_objects(mut objects: Vec<Value>) -> Vec<Value> {
    objects.retain(|object| !EXCLUDED_KINDS.iter().any(|kind| object["kind"] == *kind));
    let mut dropped: BTreeSet<String> = BTreeSet::new();
    // Each round drops the dependents of the objects dropped before.
    loop {
        let before = objects.len();
        objects.retain(|object| {
            let is_dropped = |owner: &Value| {
                owner["kind"] == "CronJob" || owner["uid"].as_str().is_some_and(|uid| dropped.contains(uid))
            };
            let is_recurrent = owner_references(object).any(is_dropped);
            if is_recurrent {
                dropped.extend(object["metadata"]["uid"].as_str().map(str::to_owned));
            }
            !is_recurrent
        });
        if objects.len() == before {
            break;
        }
    }
    for object in &mut objects {
        if object["kind"] == "CronJob" {
            object.as_object_mut().map(|map| map.remove("status"));
        }
    }
    objects
}

/// Placeholders for generated names and UIDs, which differ between runs, by the name or the UID.
struct Placeholders(HashMap<String, String>);

impl Placeholders {
    /// Collects the placeholders for the generated names and the UIDs of all objects.
    fn collect(objects: &[Value]) -> Self {
        let mut names = HashMap::new();
        for object in objects {
            let metadata = &object["metadata"];
            let name = metadata["name"].as_str().unwrap_or_default();
            let placeholder = match metadata["generateName"].as_str() {
                Some(prefix) => format!("{prefix}*"),
                None => name.to_owned(),
            };
            if placeholder != name {
                names.insert(name.to_owned(), placeholder.clone());
            }
            if let Some(uid) = metadata["uid"].as_str() {
                names.insert(
                    uid.to_owned(),
                    format!("<uid of {} {placeholder}>", object["kind"].as_str().unwrap_or_default()),
                );
            }
        }
        Self(names)
    }

    /// Normalizes an object: replaces values that differ between runs by placeholders. Returns its key in the snapshot and its entry.
    fn key_and_entry(&self, raw: Value) -> (String, Entry) {
        let managers = raw["metadata"]["managedFields"].as_array().into_iter().flatten();
        let managers = managers.filter_map(|entry| entry["manager"].as_str().map(str::to_owned)).collect();
        let mut normalized = raw.clone();
        if let Some(metadata) = normalized["metadata"].as_object_mut() {
            for field in ["managedFields", "uid", "creationTimestamp", "generation"] {
                metadata.remove(field);
            }
        }
        if let Some(finalizers) = normalized["metadata"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| *finalizer != FOREIGN_FINALIZER);
            if finalizers.is_empty() {
                normalized["metadata"]["finalizers"].take();
            }
        }
        if raw["kind"] == "Secret" {
            digest_values(&mut normalized);
        }
        self.replace_volatile(&mut normalized);
        (label(&normalized), Entry { normalized, managers, raw })
    }

    /// Returns a text with the UID at its end replaced by a placeholder, as the names of provisioned volumes end with a UID; `None` if the
    /// text does not end with a UID.
    fn replace_uid_suffix(&self, text: &str) -> Option<String> {
        let (start, uid) = text.split_at_checked(text.len().checked_sub(UID_LENGTH)?)?;
        is_uid(uid).then(|| format!("{start}{}", self.0.get(uid).map_or("<uid>", String::as_str)))
    }

    /// Returns a text with placeholders for the digest and the UID if it is the owner mark of an opgen operator, the annotation
    /// `<digest>/<uid of the owner>/<hash>` of its children. The digest covers the UID. `None` for another text.
    fn replace_owner_mark(&self, text: &str) -> Option<String> {
        let (_, rest) = text.split_once('/')?;
        let (uid, rest) = rest.split_at_checked(UID_LENGTH)?;
        let is_mark = is_uid(uid) && rest.starts_with('/');
        is_mark.then(|| format!("<digest>/{}{rest}", self.0.get(uid).map_or("<uid>", String::as_str)))
    }

    /// Replaces the texts in a value that differ between runs by placeholders: names, UIDs, times, addresses. Sorts the lists whose order
    /// has no meaning, and removes resourceVersions.
    fn replace_volatile(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(placeholder) = self.0.get(text) {
                    placeholder.clone_into(text);
                } else if is_time(text) {
                    "<time>".clone_into(text);
                } else if text.parse::<IpAddr>().is_ok() {
                    "<address>".clone_into(text);
                } else if let Some(placeholder) = self.replace_uid_suffix(text) {
                    *text = placeholder;
                } else if let Some(mark) = self.replace_owner_mark(text) {
                    *text = mark;
                }
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.replace_volatile(item));
                // Conditions are a set: their order depends on which was written first.
                if items.iter().all(|item| item["type"].is_string() && item["status"].is_string()) {
                    items.sort_by_cached_key(|item| item["type"].to_string());
                }
            }
            Value::Object(map) => {
                // The version of the object itself, or of one that it refers to.
                map.remove("resourceVersion");
                for (key, value) in map.iter_mut() {
                    self.replace_volatile(value);
                    if matches!(key.as_str(), "finalizers" | "ownerReferences")
                        && let Value::Array(items) = value
                    {
                        items.sort_by_cached_key(Value::to_string);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Removes the parts of an object that depend on time and history: the revision of a Deployment, and the status. If the status has an
/// `observedGeneration`, its conditions (type, status, reason) stay.
fn strip_history(object: &mut Value) {
    // Without an observedGeneration, the conditions may be those of an earlier generation.
    let has_observed_conditions =
        object["status"]["conditions"].is_array() && object["status"].get("observedGeneration").is_some();
    if let Some(metadata) = object["metadata"].as_object_mut()
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
    {
        annotations.remove("deployment.kubernetes.io/revision");
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    let Some(map) = object.as_object_mut() else { return };
    let conditions = map.get_mut("status").map(|status| status["conditions"].take());
    map.remove("status");
    if let Some(conditions) = conditions.filter(|_| has_observed_conditions) {
        let summaries = conditions.as_array().into_iter().flatten().map(|condition| {
            let text = |field: &str| condition[field].as_str().unwrap_or_default();
            Value::from(format!("{}={} {}", text("type"), text("status"), text("reason")))
        });
        map.insert("conditions".into(), summaries.collect::<Vec<_>>().into());
    }
}

/// Returns whether a text looks like an RFC 3339 timestamp.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    (20..=35).contains(&bytes.len())
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && (bytes[4], bytes[7], bytes[10]) == (b'-', b'-', b'T')
}

/// The length of a UID.
const UID_LENGTH: usize = 36;

/// Returns whether a text has the form of a UID: hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn is_uid(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == UID_LENGTH
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_that_differ_between_runs_are_normalized() {
        let pods = |names: [&str; 2], uid: &str, time: &str, address: &str| {
            let pod = |name: &str| {
                json!({
                    "kind": "Pod", "apiVersion": "v1",
                    "metadata": {"name": name, "generateName": "web-", "namespace": "a", "uid": uid, "resourceVersion": uid},
                    "status": {"startTime": time, "podIP": address, "of": name},
                })
            };
            Snapshot::of(names.map(pod).to_vec())
        };
        let one = pods(["web-1", "web-2"], "0b0e2a3c-0000-4000-8000-000000000001", "2026-01-01T00:00:00Z", "10.0.0.1");
        let two = pods(["web-x", "web-y"], "0b0e2a3c-0000-4000-8000-000000000002", "2026-02-01T00:00:00Z", "10.0.0.9");
        let normalized = |snapshot: &Snapshot| {
            snapshot.objects.iter().map(|(key, entry)| (key.clone(), entry.normalized.clone())).collect::<Vec<_>>()
        };
        assert_eq!(normalized(&one), normalized(&two));
        assert_eq!(one.objects.keys().collect::<Vec<_>>(), ["Pod a/web-*", "Pod a/web-* (2)"]);
    }

    /// An owner mark is the annotation `<digest>/<uid of the owner>/<hash>` by which an operator marks its children.
    #[test]
    fn an_owner_mark_has_no_digest_and_no_uid() {
        let mark = |digest: &str, uid: &str, owner: &str| {
            let child = json!({"kind": "Pod", "metadata": {"name": "p", "annotations": {"a": format!("{digest}/{owner}/77aa")}}});
            let snapshot = Snapshot::of(vec![json!({"kind": "Web", "metadata": {"name": "w", "uid": uid}}), child]);
            snapshot.objects["Pod p"].normalized["metadata"]["annotations"]["a"].clone()
        };
        let (one, two) = ("0b0e2a3c-0000-4000-8000-000000000001", "0b0e2a3c-0000-4000-8000-000000000002");
        assert_eq!(mark("12", one, one), "<digest>/<uid of Web w>/77aa");
        assert_eq!(mark("34", two, two), mark("12", one, one));
        assert_eq!(mark("34", two, one), "<digest>/<uid>/77aa");
    }

    #[test]
    fn jobs_of_cron_jobs_are_dropped() {
        let owned = |kind: &str, name: &str, owner: &str, by: &str| {
            let owners = json!([{"kind": owner, "uid": format!("uid of {by}"), "name": by}]);
            json!({"kind": kind, "metadata": {"name": name, "uid": format!("uid of {name}"), "ownerReferences": owners}})
        };
        let snapshot = Snapshot::of(vec![
            owned("Pod", "c", "Job", "b"),
            owned("Job", "b", "CronJob", "a"),
            owned("Job", "kept", "Shop", "s"),
            json!({"kind": "Event", "metadata": {"name": "e"}}),
        ]);
        assert_eq!(snapshot.objects.keys().collect::<Vec<_>>(), ["Job kept"]);
    }

    #[test]
    fn claims_without_an_owner_may_stay() {
        let may_stay = |object: Value| Snapshot::of(vec![object]).objects.values().all(Entry::may_stay);
        assert!(may_stay(json!({"kind": "PersistentVolumeClaim", "metadata": {}})));
        assert!(!may_stay(json!({"kind": "PersistentVolumeClaim", "metadata": {"ownerReferences": [{}]}})));
        assert!(!may_stay(json!({"kind": "ConfigMap", "metadata": {}})));
    }
}
