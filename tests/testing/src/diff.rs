//! Compares snapshots field by field and ignores what differs between undisturbed runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::snapshot::{Entry, SECRET_DIGEST, Snapshot};

/// Objects and fields that differ between two undisturbed runs with different seeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noise {
    objects: BTreeSet<String>,
    fields: BTreeSet<(String, String)>,
}

/// Collects the scalars of an object by their path.
fn collect_leaves(value: &Value, at: String, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| collect_leaves(value, format!("{at}.{key}"), found));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(index, item)| collect_leaves(item, format!("{at}[{index}]"), found));
        }
        _ => drop(found.insert(at, value.clone())),
    }
}

fn fields(entry: Option<&Entry>) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    if let Some(entry) = entry {
        collect_leaves(&entry.normalized, String::new(), &mut found);
    }
    found
}

/// The paths at which two objects differ, with both values.
fn changed_fields(one: &Entry, other: &Entry) -> Vec<(String, Option<Value>, Option<Value>)> {
    if one.normalized == other.normalized {
        return Vec::new();
    }
    let (one, mut other) = (fields(Some(one)), fields(Some(other)));
    let mut changed_fields = Vec::new();
    for (at, value) in one {
        let there = other.remove(&at);
        if there.as_ref() != Some(&value) {
            changed_fields.push((at, Some(value), there));
        }
    }
    changed_fields.extend(other.into_iter().map(|(at, value)| (at, None, Some(value))));
    changed_fields.sort_by(|one, other| one.0.cmp(&other.0));
    changed_fields
}

impl Noise {
    /// The paths of a Secret's values that are random and that changed.
    pub(crate) fn changed_random_values(&self, key: &str, before: &Entry, after: &Entry) -> Vec<String> {
        let is_secret = |at: &str| key.starts_with("Secret ") && at.starts_with(".data.");
        let paths = changed_fields(before, after).into_iter().map(|(at, ..)| at).filter(|at| is_secret(at));
        paths.filter(|at| self.fields.contains(&(key.to_owned(), at.clone()))).collect()
    }

    /// The differences of two undisturbed runs.
    pub(crate) fn between(one: &Snapshot, other: &Snapshot) -> Self {
        let mut noise = Self::default();
        for key in one.objects.keys().chain(other.objects.keys()) {
            match (one.objects.get(key), other.objects.get(key)) {
                (Some(one), Some(other)) => {
                    noise.fields.extend(changed_fields(one, other).into_iter().map(|(at, ..)| (key.clone(), at)));
                }
                _ => drop(noise.objects.insert(key.clone())),
            }
        }
        noise
    }
}

/// A line for each difference between an expected and an actual snapshot: `-` for expected, `+` for actual.
pub(crate) fn diff(expected: &Snapshot, actual: &Snapshot, noise: &Noise) -> Vec<String> {
    lines(expected, actual, noise, |_, _, _| true)
}

/// The differences in fields that still have their value of before. Of lists only conditions count: others may be histories.
pub(crate) fn stale_fields(before: &Snapshot, expected: &Snapshot, actual: &Snapshot, noise: &Noise) -> Vec<String> {
    let before: BTreeMap<_, _> = before.objects.iter().map(|(key, entry)| (key, fields(Some(entry)))).collect();
    let is_stale = |key: &String, at: &str, now: Option<&Value>| {
        let may_be_history = at.contains('[') && !at.starts_with(".status.conditions[");
        !may_be_history && before.get(key).is_some_and(|before| before.get(at) == now)
    };
    lines(expected, actual, noise, is_stale)
}

/// The random fields of an object that have another value in a later snapshot, though the object has the same UID.
pub(crate) fn regenerated_fields(entry: &Entry, now: &Snapshot, noise: &Noise) -> Vec<String> {
    let uid = |entry: &Entry| entry.raw["metadata"]["uid"].clone();
    let Some((key, now)) = now.objects.iter().find(|(_, now)| uid(now) == uid(entry)) else { return Vec::new() };
    let is_random = |at: &String| {
        let is_reported = at.starts_with(".status") || at.starts_with(".metadata");
        !is_reported && noise.fields.contains(&(key.clone(), at.clone()))
    };
    let changed_fields = changed_fields(entry, now).into_iter().filter(|(at, ..)| is_random(at));
    let lines: Vec<String> = changed_fields.map(|(at, ..)| format!("    {at}")).collect();
    if lines.is_empty() { lines } else { [vec![format!("  {key}")], lines].concat() }
}

fn lines(
    expected: &Snapshot,
    actual: &Snapshot,
    noise: &Noise,
    which: impl Fn(&String, &str, Option<&Value>) -> bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    let keys: BTreeSet<_> = expected.objects.keys().chain(actual.objects.keys()).collect();
    for key in keys.into_iter().filter(|key| !noise.objects.contains(*key)) {
        match (expected.objects.get(key), actual.objects.get(key)) {
            (Some(_), None) => lines.push(format!("- {key}")),
            (None, Some(_)) => lines.push(format!("+ {key}")),
            (Some(expected), Some(actual)) => {
                let changed_fields = changed_fields(expected, actual);
                let is_significant = |at: &String| !noise.fields.contains(&(key.clone(), at.clone()));
                let changed_fields: Vec<_> = changed_fields
                    .iter()
                    .filter(|(at, _, now)| is_significant(at) && which(key, at, now.as_ref()))
                    .collect();
                if !changed_fields.is_empty() {
                    lines.push(format!("  {key}"));
                }
                for (at, expected, actual) in changed_fields {
                    let line = |sign, value: &Option<Value>| {
                        value.as_ref().map(|value| format!("{sign}   {at}: {}", redacted(value)))
                    };
                    lines.extend(line('-', expected));
                    lines.extend(line('+', actual));
                }
            }
            (None, None) => {}
        }
    }
    lines
}

/// A value as a report shows it: without the content of Secrets.
fn redacted(value: &Value) -> String {
    match value.as_str() {
        Some(text) if text.starts_with(SECRET_DIGEST) => "<secret>".to_owned(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn snapshot(objects: &[Value]) -> Snapshot {
        Snapshot::of(objects.to_vec())
    }

    #[test]
    fn a_difference_names_objects_and_paths_and_no_secret() {
        let map =
            |name: &str, value: &str| json!({"kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": value}});
        let secret = |value: &str| json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"key": value}});
        let (one, other) = (
            snapshot(&[map("m", "1"), map("n", "1"), secret("eA==")]),
            snapshot(&[map("m", "2"), map("o", "1"), secret("eQ==")]),
        );
        let lines = diff(&one, &other, &Noise::default());
        assert_eq!(
            lines,
            [
                "  ConfigMap m",
                "-   .data.a: \"1\"",
                "+   .data.a: \"2\"",
                "- ConfigMap n",
                "+ ConfigMap o",
                "  Secret s",
                "-   .data.key: <secret>",
                "+   .data.key: <secret>",
            ]
        );
        assert!(diff(&one, &other, &Noise::between(&one, &other)).is_empty());
    }

    #[test]
    fn fields_that_an_edit_left_unchanged_are_stale_except_histories() {
        let status_of = |image: &str, message: &str, reason: &str| {
            let conditions = json!([{"type": "Ready", "status": "True", "reason": reason, "message": message}]);
            let status = json!({"conditions": conditions, "images": [image]});
            snapshot(&[json!({"kind": "Web", "metadata": {"name": "w"}, "status": status})])
        };
        let before = status_of("web:1", "web:1 runs", "Begun");
        let expected = status_of("web:2", "web:2 runs", "Begun");
        let found = status_of("web:1", "web:1 runs", "Edited");
        assert_eq!(
            stale_fields(&before, &expected, &found, &Noise::default()),
            [
                "  Web w",
                "-   .status.conditions[0].message: \"web:2 runs\"",
                "+   .status.conditions[0].message: \"web:1 runs\"",
            ]
        );
        assert!(stale_fields(&before, &expected, &expected, &Noise::default()).is_empty());
    }
}
