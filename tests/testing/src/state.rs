//! What is in the cluster, so that two runs can be compared.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    net::IpAddr,
};

use serde_json::{Map, Value};

/// Kinds that tell what happened and not what is.
const STORIES: [&str; 2] = ["Event", "Lease"];

/// The finalizer of somebody else, by which a trial holds objects.
pub(crate) const ANOTHER: &str = "testing.opgen.dev/another";

/// The objects by kind, namespace and name, without what differs from run to run: uids, versions, generations, times,
/// addresses, generated names. Of Secrets only a digest is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) objects: BTreeMap<String, Kept>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) value: Value,
    /// Whoever has written fields of it.
    pub(crate) managers: BTreeSet<String>,
    /// As it is, for calls.
    pub(crate) origin: Value,
}

impl Kept {
    /// Whether no owner is named, so that nobody but its maker removes it.
    pub(crate) fn is_unowned(&self) -> bool {
        owners(&self.origin).next().is_none()
    }

    /// Claims stay by design when their Pods go.
    pub(crate) fn may_stay(&self) -> bool {
        match self.origin["kind"].as_str() {
            Some("PersistentVolumeClaim") => self.is_unowned(),
            kind => kind == Some("PersistentVolume"),
        }
    }
}

impl State {
    pub(crate) fn of(objects: Vec<Value>) -> Self {
        let objects = without_recurrent(objects);
        let names = Names::of(&objects);
        let mut kept = BTreeMap::new();
        let mut entries: Vec<_> = objects.into_iter().map(|object| names.entry(object)).collect();
        // Objects of one generated name are told apart by their content alone.
        entries.sort_by_cached_key(|(key, entry)| (key.clone(), entry.value.to_string()));
        for (key, entry) in entries {
            let mut unique = key.clone();
            let mut count = 1;
            while kept.contains_key(&unique) {
                count += 1;
                unique = format!("{key} ({count})");
            }
            kept.insert(unique, entry);
        }
        Self { objects: kept }
    }

    /// What a program wants: the objects that it has written, without what follows from time and from their history.
    pub(crate) fn wanted(&self, program: &str) -> Self {
        let of_program = |kept: &Kept| kept.managers.iter().any(|manager| is_of(manager, program));
        let objects = self.objects.iter().filter(|(_, kept)| of_program(kept)).map(|(key, kept)| {
            let mut kept = kept.clone();
            timeless(&mut kept.value);
            (key.clone(), kept)
        });
        Self { objects: objects.collect() }
    }

    /// What a program has made itself, but for its samples.
    pub(crate) fn children<'a>(&'a self, program: &'a str, samples: &'a [Value]) -> impl Iterator<Item = &'a Kept> {
        let is_sample = |kept: &Kept| samples.iter().any(|sample| is_same(sample, &kept.origin));
        self.objects
            .values()
            .filter(move |kept| !is_sample(kept) && kept.managers.iter().any(|manager| is_of(manager, program)))
    }

    /// What is said of the samples, by whoever works on them.
    pub(crate) fn said_of(&self, samples: &[Value]) -> Self {
        let is_sample = |kept: &Kept| samples.iter().any(|sample| is_same(sample, &kept.origin));
        let said = self.objects.iter().filter(|(_, kept)| is_sample(kept)).map(|(key, kept)| {
            (key.clone(), Kept { value: serde_json::json!({"status": kept.value["status"]}), ..kept.clone() })
        });
        Self { objects: said.collect() }
    }

    /// A sample as it is now.
    pub(crate) fn sample(&self, sample: &Value) -> Option<&Value> {
        self.objects.values().map(|kept| &kept.origin).find(|object| is_same(sample, object))
    }
}

/// Whether an object says of itself that it is not yet what it is to be.
pub(crate) fn is_waiting(object: &Value) -> bool {
    let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(is_unmet)
}

/// Whether a condition says that an object is not what it is to be.
pub(crate) fn is_unmet(condition: &Value) -> bool {
    matches!(condition["type"].as_str(), Some("Available" | "Ready")) && condition["status"] != "True"
}

pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    ["/kind", "/metadata/name", "/metadata/namespace"].iter().all(|at| one.pointer(at) == other.pointer(at))
}

/// Whether a field manager is one of the program: its name, or that and a part.
fn is_of(manager: &str, program: &str) -> bool {
    manager.strip_prefix(program).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["ownerReferences"].as_array().into_iter().flatten()
}

/// Without stories, and without what recurs: the Jobs of CronJobs and their Pods depend on the time of the look.
fn without_recurrent(mut objects: Vec<Value>) -> Vec<Value> {
    objects.retain(|object| !STORIES.iter().any(|kind| object["kind"] == *kind));
    let mut gone: BTreeSet<String> = BTreeSet::new();
    loop {
        let before = objects.len();
        objects.retain(|object| {
            let recurs = |owner: &Value| {
                owner["kind"] == "CronJob" || owner["uid"].as_str().is_some_and(|uid| gone.contains(uid))
            };
            let recurrent = owners(object).any(recurs);
            if recurrent {
                gone.extend(object["metadata"]["uid"].as_str().map(str::to_owned));
            }
            !recurrent
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

/// What generated names and uids are called.
struct Names(HashMap<String, String>);

impl Names {
    fn of(objects: &[Value]) -> Self {
        let mut names = HashMap::new();
        for object in objects {
            let metadata = &object["metadata"];
            let name = metadata["name"].as_str().unwrap_or_default();
            let called = match metadata["generateName"].as_str() {
                Some(prefix) => format!("{prefix}*"),
                None => name.to_owned(),
            };
            if called != name {
                names.insert(name.to_owned(), called.clone());
            }
            if let Some(uid) = metadata["uid"].as_str() {
                names.insert(
                    uid.to_owned(),
                    format!("<uid of {} {called}>", object["kind"].as_str().unwrap_or_default()),
                );
            }
        }
        Self(names)
    }

    fn entry(&self, origin: Value) -> (String, Kept) {
        let mut value = origin.clone();
        let managers = origin["metadata"]["managedFields"].as_array().into_iter().flatten();
        let managers = managers.filter_map(|entry| entry["manager"].as_str().map(str::to_owned)).collect();
        if let Some(metadata) = value["metadata"].as_object_mut() {
            for own in ["managedFields", "uid", "creationTimestamp", "generation"] {
                metadata.remove(own);
            }
        }
        if let Some(finalizers) = value["metadata"]["finalizers"].as_array_mut() {
            finalizers.retain(|one| *one != ANOTHER);
        }
        if origin["kind"] == "Secret" {
            hide(&mut value);
        }
        self.rename(&mut value);
        let text = |at: &str| value["metadata"][at].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        let kind = origin["kind"].as_str().unwrap_or_default();
        let place = if namespace.is_empty() { name } else { format!("{namespace}/{name}") };
        (format!("{kind} {place}"), Kept { value, managers, origin })
    }

    /// A text that ends in a uid, as the names of provisioned volumes do, with what that is called in its place.
    fn ending(&self, text: &str) -> Option<String> {
        let (start, uid) = text.split_at_checked(text.len().checked_sub(UID)?)?;
        is_uid(uid).then(|| format!("{start}{}", self.0.get(uid).map_or("<uid>", String::as_str)))
    }

    fn rename(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(called) = self.0.get(text) {
                    called.clone_into(text);
                } else if is_time(text) {
                    "<time>".clone_into(text);
                } else if text.parse::<IpAddr>().is_ok() {
                    "<address>".clone_into(text);
                } else if let Some(called) = self.ending(text) {
                    *text = called;
                }
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.rename(item));
                // These are sets; which was written first says nothing.
                if items.iter().all(|item| item["type"].is_string() && item["status"].is_string()) {
                    items.sort_by_cached_key(|item| item["type"].to_string());
                }
            }
            Value::Object(map) => {
                // Of the object itself, or of one that it refers to.
                map.remove("resourceVersion");
                for (key, value) in map.iter_mut() {
                    self.rename(value);
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

/// Digests in place of a Secret's values.
fn hide(secret: &mut Value) {
    for part in ["data", "stringData"] {
        for value in secret[part].as_object_mut().into_iter().flat_map(Map::values_mut) {
            let mut hasher = DefaultHasher::new();
            value.to_string().hash(&mut hasher);
            *value = format!("{HIDDEN}{:016x}", hasher.finish()).into();
        }
    }
    // What was applied is sometimes kept as text.
    if let Some(annotations) = secret["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|key, _| key != "kubectl.kubernetes.io/last-applied-configuration");
    }
}

/// What the digest of a secret value begins with; nobody is shown it.
pub(crate) const HIDDEN: &str = "<secret ";

/// Takes away what follows from time and from the history of an object.
fn timeless(object: &mut Value) {
    let is_own = object["status"]["conditions"].is_array() && object["status"].get("observedGeneration").is_some();
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
    if let Some(conditions) = conditions.filter(|_| is_own) {
        let said = conditions.as_array().into_iter().flatten().map(|one| {
            let word = |at: &str| one[at].as_str().unwrap_or_default();
            Value::from(format!("{}={} {}", word("type"), word("status"), word("reason")))
        });
        map.insert("conditions".into(), said.collect::<Vec<_>>().into());
    }
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    (20..=35).contains(&bytes.len())
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && (bytes[4], bytes[7], bytes[10]) == (b'-', b'-', b'T')
}

/// How long a uid is.
const UID: usize = 36;

fn is_uid(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == UID
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
    fn what_differs_from_run_to_run_is_left_out() {
        let pods = |names: [&str; 2], uid: &str, time: &str, address: &str| {
            let pod = |name: &str| {
                json!({
                    "kind": "Pod", "apiVersion": "v1",
                    "metadata": {"name": name, "generateName": "web-", "namespace": "a", "uid": uid, "resourceVersion": uid},
                    "status": {"startTime": time, "podIP": address, "of": name},
                })
            };
            State::of(names.map(pod).to_vec())
        };
        let one = pods(["web-1", "web-2"], "0b0e2a3c-0000-4000-8000-000000000001", "2026-01-01T00:00:00Z", "10.0.0.1");
        let two = pods(["web-x", "web-y"], "0b0e2a3c-0000-4000-8000-000000000002", "2026-02-01T00:00:00Z", "10.0.0.9");
        let values =
            |state: &State| state.objects.iter().map(|(k, kept)| (k.clone(), kept.value.clone())).collect::<Vec<_>>();
        assert_eq!(values(&one), values(&two));
        assert_eq!(one.objects.keys().collect::<Vec<_>>(), ["Pod a/web-*", "Pod a/web-* (2)"]);
    }

    #[test]
    fn a_secret_is_a_digest() {
        let secret =
            |value: &str| State::of(vec![json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"key": value}})]);
        let (one, two) = (secret("aGVsbG8="), secret("d29ybGQ="));
        assert_ne!(one.objects["Secret s"].value, two.objects["Secret s"].value);
        assert!(!one.objects["Secret s"].value.to_string().contains("aGVsbG8"));
    }

    #[test]
    fn what_recurs_is_left_out() {
        let owned = |kind: &str, name: &str, owner: &str, by: &str| {
            let owners = json!([{"kind": owner, "uid": format!("uid of {by}"), "name": by}]);
            json!({"kind": kind, "metadata": {"name": name, "uid": format!("uid of {name}"), "ownerReferences": owners}})
        };
        let state = State::of(vec![
            owned("Pod", "c", "Job", "b"),
            owned("Job", "b", "CronJob", "a"),
            owned("Job", "kept", "Shop", "s"),
            json!({"kind": "Event", "metadata": {"name": "e"}}),
        ]);
        assert_eq!(state.objects.keys().collect::<Vec<_>>(), ["Job kept"]);
    }

    #[test]
    fn claims_without_an_owner_may_stay() {
        let may_stay = |object: Value| State::of(vec![object]).objects.values().all(Kept::may_stay);
        assert!(may_stay(json!({"kind": "PersistentVolumeClaim", "metadata": {}})));
        assert!(!may_stay(json!({"kind": "PersistentVolumeClaim", "metadata": {"ownerReferences": [{}]}})));
        assert!(!may_stay(json!({"kind": "ConfigMap", "metadata": {}})));
    }
}
