//! What is compared of a history: for each object the order of its phases and conditions, its last state, and the order of
//! the events about it. Times, versions, addresses and generated names are not compared.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde_json::{Map, Value, json};

use super::history::Seen;

static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("an expression")
});
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b\d+\.\d+\.\d+\.\d+\b").expect("an expression"));
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").expect("an expression"));
static TOKEN_VOLUME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bkube-api-access-[a-z0-9]{5}\b").expect("an expression"));

/// How many characters of a generated name are by chance.
const CHANCE: usize = 5;

/// Members that are of one server, of one moment, or told elsewhere.
const ASIDE: [&str; 8] =
    ["resourceVersion", "managedFields", "generation", "observedGeneration", "uid", "time", "clusterIPs", "hostIPs"];

/// Kinds whose status is not compared while they are being deleted: what they still see of their Pods and ReplicaSets then
/// depends on the pace of the garbage collector.
const WORKLOADS: [&str; 3] = ["Deployment", "ReplicaSet", "StatefulSet"];

/// What one server made of a script: a JSON tree by kind and name; where several objects have one name (Pods of a
/// ReplicaSet), the courses of those that stay, then of those that go, in the order in which they were made.
pub(crate) fn of(seen: &[Seen], namespace: &str) -> Value {
    let names = Names::of(seen, namespace);
    let mut by_object: Vec<(&str, Vec<&Seen>)> = Vec::new();
    for state in seen.iter().filter(|state| state.kind != "Event") {
        match by_object.iter_mut().find(|(uid, _)| *uid == state.uid) {
            Some((_, states)) => states.push(state),
            None => by_object.push((&state.uid, vec![state])),
        }
    }
    let mut tree: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (_, states) in &by_object {
        let last = states[states.len() - 1];
        let name = last.object["metadata"]["name"].as_str().unwrap_or_default();
        if matches!((last.kind.as_str(), name), ("ConfigMap", "kube-root-ca.crt") | ("ServiceAccount", "default")) {
            continue;
        }
        tree.entry(format!("{} {}", last.kind, names.text(name))).or_default().push(course(states, &names));
    }
    // Which of several Pods goes is by chance.
    let is_gone = |course: &Value| course["gone"] == true;
    tree.values_mut().for_each(|courses| courses.sort_by_key(is_gone));
    let mut tree: Map<String, Value> = tree.into_iter().map(|(key, courses)| (key, courses.into())).collect();
    let events = events(seen, &names);
    if !events.is_empty() {
        tree.insert("events".to_owned(), json!(events));
    }
    Value::Object(tree)
}

fn course(states: &[&Seen], names: &Names) -> Value {
    let last = states[states.len() - 1];
    let mut conditions: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let (mut phases, mut finalizers, mut going) = (Vec::new(), Vec::new(), false);
    let mut last_status = Value::Null;
    for state in states {
        let is_going = state.object["metadata"]["deletionTimestamp"].is_string();
        let status = &state.object["status"];
        push(&mut phases, &status["phase"]);
        push(&mut finalizers, &state.object["metadata"]["finalizers"]);
        going |= is_going;
        if is_going && WORKLOADS.contains(&last.kind.as_str()) {
            continue;
        }
        last_status = status.clone();
        for held in status["conditions"].as_array().into_iter().flatten() {
            let said = names.value("", &json!([held["status"], held["reason"], held["message"]]));
            push(conditions.entry(held["type"].as_str().unwrap_or_default().to_owned()).or_default(), &said);
        }
    }
    let mut object = last.object.clone();
    object["metadata"]["deletionTimestamp"].take();
    object["status"] = last_status;
    json!({
        "phases": phases, "conditions": conditions, "finalizers": finalizers, "deleted": going, "gone": last.gone,
        "last": names.value("", &object),
    })
}

fn push(course: &mut Vec<Value>, next: &Value) {
    if !next.is_null() && course.last() != Some(next) {
        course.push(next.clone());
    }
}

/// The operators of the examples. They work on several children at once, so the order of their events is by chance.
const OPERATORS: [&str; 3] = ["ippool", "shop", "webapp"];

/// The events about each object, by the component that reported them, in the order in which each appeared first; those of
/// operators sorted. How often one was repeated is not compared, nor the order of two components' events: it depends on
/// their pace.
fn events(seen: &[Seen], names: &Names) -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    let mut told: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for event in seen.iter().filter(|state| state.kind == "Event").map(|state| &state.object) {
        let about = &event["involvedObject"];
        let about = format!("{} {}", text(&about["kind"]), names.text(text(&about["name"])));
        let by = [&event["source"]["component"], &event["reportingComponent"]].map(text);
        let by = by.into_iter().find(|by| !by.is_empty()).unwrap_or_default();
        let (type_, reason, message) = (text(&event["type"]), text(&event["reason"]), text(&event["message"]));
        let event = format!("{type_} {reason}: {}", names.text(message));
        let reported = told.entry(about).or_default().entry(by.to_owned()).or_default();
        if !reported.contains(&event) {
            reported.push(event);
        }
    }
    for (by, reported) in told.values_mut().flatten() {
        if OPERATORS.contains(&by.as_str()) {
            reported.sort();
        }
    }
    told
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The names that were made by chance, or from a hash, and what stands for them.
struct Names {
    known: Vec<(String, String)>,
}

impl Names {
    fn of(seen: &[Seen], namespace: &str) -> Self {
        let mut known = BTreeMap::new();
        known.insert(namespace.to_owned(), "(namespace)".to_owned());
        let mut hashes = BTreeMap::<String, Vec<String>>::new();
        for Seen { kind, object, .. } in seen {
            let metadata = &object["metadata"];
            let (name, prefix) = (text(&metadata["name"]), text(&metadata["generateName"]));
            // Pods of a StatefulSet have a prefix, too, and a number behind it.
            if !prefix.is_empty() && name.len() == prefix.len() + CHANCE {
                known.insert(name.to_owned(), format!("{prefix}(generated)"));
            }
            if kind == "Job" && text(&metadata["ownerReferences"][0]["kind"]) == "CronJob" {
                known.insert(name.to_owned(), format!("{}-(minute)", text(&metadata["ownerReferences"][0]["name"])));
            }
            let label = match kind.as_str() {
                "ReplicaSet" => "pod-template-hash",
                // Of a DaemonSet it has another label; its name ends with the hash, too.
                "ControllerRevision" => "controller.kubernetes.io/hash",
                _ => continue,
            };
            let hash = text(&metadata["labels"][label]);
            let hash = if hash.is_empty() { name.rsplit('-').next().unwrap_or_default() } else { hash };
            let owner = text(&metadata["ownerReferences"][0]["name"]).to_owned();
            let of_owner = hashes.entry(format!("{kind} {owner}")).or_default();
            if !of_owner.iter().any(|own| own == hash) {
                of_owner.push(hash.to_owned());
            }
        }
        for of_owner in hashes.values() {
            let numbered = of_owner.iter().enumerate();
            known.extend(numbered.map(|(at, hash)| (hash.clone(), format!("(hash {})", at + 1))));
        }
        let mut known: Vec<_> = known.into_iter().collect();
        // The longer name first: it may contain the shorter one.
        known.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { known }
    }

    fn text(&self, text: &str) -> String {
        let mut whole = text.to_owned();
        for (name, stands) in &self.known {
            whole = whole.replace(name, stands);
        }
        for (name, stands) in &self.known {
            // The prefix of a generated name has a hash in it.
            whole = whole.replace(name, stands);
        }
        whole = UUID.replace_all(&whole, "(uid)").into_owned();
        whole = ADDRESS.replace_all(&whole, "(address)").into_owned();
        whole = TOKEN_VOLUME.replace_all(&whole, "kube-api-access-(by chance)").into_owned();
        TIME.replace_all(&whole, "(time)").into_owned()
    }

    fn value(&self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Number(_) if key.ends_with("odePort") => "(port)".into(),
            Value::Array(items) if key == "conditions" => {
                let mut items: Vec<_> = items.iter().map(|item| self.value("", item)).collect();
                items.sort_by_key(|item| text(&item["type"]).to_owned());
                items.into()
            }
            Value::Array(items) => items.iter().map(|item| self.value(key, item)).collect(),
            Value::Object(members) => {
                let kept = members.iter().filter(|(key, value)| !ASIDE.contains(&key.as_str()) && !value.is_null());
                Value::Object(kept.map(|(key, value)| (self.text(key), self.value(key, value))).collect())
            }
            other => other.clone(),
        }
    }
}
