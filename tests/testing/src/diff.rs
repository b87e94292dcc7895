//! Compares snapshots of objects field by field, and ignores fields that differ between undisturbed runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    secret_data::SECRET_DIGEST,
    snapshot::{Entry, Snapshot},
};

/// Objects and fields that differ between two undisturbed runs with different seeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noise {
    objects: BTreeSet<String>,
    fields: BTreeSet<(String, String)>,
}

/// Adds each scalar and each empty map or list in `value` to `found`, by its path such as `.spec.ports[0].name`. `at` is the path of
/// `value`.
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

/// Returns the scalars, and the empty maps and lists, of the normalized object by their paths such as `.spec.ports[0].name`.
fn fields(entry: &Entry) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    collect_leaves(&entry.normalized, String::new(), &mut found);
    found
}

/// A field that differs between two objects; a value is `None` if the object does not have the field.
struct FieldChange {
    path: String,
    before: Option<Value>,
    after: Option<Value>,
}

/// Returns the fields that differ between two objects, sorted by path.
fn changed_fields(before: &Entry, after: &Entry) -> Vec<FieldChange> {
    if before.normalized == after.normalized {
        return Vec::new();
    }
    let (before, mut after) = (fields(before), fields(after));
    let mut changes = Vec::new();
    for (path, value) in before {
        let new = after.remove(&path);
        if new.as_ref() != Some(&value) {
            changes.push(FieldChange { path, before: Some(value), after: new });
        }
    }
    changes.extend(after.into_iter().map(|(path, value)| FieldChange { path, before: None, after: Some(value) }));
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    changes
}

impl Noise {
    /// Returns the paths of the random values, such as passwords, that differ between two states of the Secret with a key. A value is
    /// random if it also differs between two undisturbed runs. Returns nothing for an object that is not a Secret.
    pub(crate) fn changed_random_values(&self, key: &str, before: &Entry, after: &Entry) -> Vec<String> {
        let is_secret = |at: &str| key.starts_with("Secret ") && at.starts_with(".data.");
        let paths = changed_fields(before, after).into_iter().map(|change| change.path).filter(|at| is_secret(at));
        paths.filter(|at| self.fields.contains(&(key.to_owned(), at.clone()))).collect()
    }

    /// Returns the differences between the snapshots of two undisturbed runs: objects that only one of them has, and fields with different
    /// values. Other comparisons ignore these.
    pub(crate) fn between(one: &Snapshot, other: &Snapshot) -> Self {
        let mut noise = Self::default();
        for key in one.objects.keys().chain(other.objects.keys()) {
            match (one.objects.get(key), other.objects.get(key)) {
                (Some(one), Some(other)) => {
                    let changes = changed_fields(one, other).into_iter();
                    noise.fields.extend(changes.map(|change| (key.clone(), change.path)));
                }
                _ => drop(noise.objects.insert(key.clone())),
            }
        }
        noise
    }
}

/// Returns lines for the differences between two snapshots, without the noise, which also differs between undisturbed runs: `-` for
/// expected and `+` for actual. An object that only one snapshot has gives one line; an object in both gives its key and a line for each
/// value that differs.
pub(crate) fn diff(expected: &Snapshot, actual: &Snapshot, noise: &Noise) -> Vec<String> {
    let mut lines = Vec::new();
    let keys: BTreeSet<_> = expected.objects.keys().chain(actual.objects.keys()).collect();
    for key in keys.into_iter().filter(|key| !noise.objects.contains(*key)) {
        match (expected.objects.get(key), actual.objects.get(key)) {
            (Some(_), None) => lines.push(format!("- {key}")),
            (None, Some(_)) => lines.push(format!("+ {key}")),
            (Some(expected), Some(actual)) => lines.extend(field_lines(key, expected, actual, noise, |_, _| true)),
            (None, None) => {}
        }
    }
    lines
}

/// Returns lines for the stale fields after an edit: those whose value in `actual` is not the expected one, but still that of the snapshot
/// `before` the edit. Compares the objects that all three snapshots have, without the noise. Ignores lists except conditions, since a list
/// may be a history.
pub(crate) fn stale_fields(before: &Snapshot, expected: &Snapshot, actual: &Snapshot, noise: &Noise) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, expected) in expected.objects.iter().filter(|(key, _)| !noise.objects.contains(*key)) {
        let (Some(before), Some(actual)) = (before.objects.get(key), actual.objects.get(key)) else { continue };
        let before = fields(before);
        let is_stale = |path: &str, now: Option<&Value>| {
            let may_be_history = path.contains('[') && !path.starts_with(".status.conditions[");
            !may_be_history && before.get(path) == now
        };
        lines.extend(field_lines(key, expected, actual, noise, is_stale));
    }
    lines
}

/// Returns lines for the random fields of an object, such as a generated password, that have another value in the later snapshot `now`,
/// although the object has the same UID. A field is random if it is noise: it differs between undisturbed runs. Empty if no field changed.
pub(crate) fn regenerated_fields(entry: &Entry, now: &Snapshot, noise: &Noise) -> Vec<String> {
    let uid = |entry: &Entry| entry.raw["metadata"]["uid"].clone();
    let Some((key, now)) = now.objects.iter().find(|(_, now)| uid(now) == uid(entry)) else { return Vec::new() };
    let is_random = |at: &String| {
        // Such fields, like times, change in the life of an object: they are not generated values.
        let is_reported = at.starts_with(".status") || at.starts_with(".metadata");
        !is_reported && noise.fields.contains(&(key.clone(), at.clone()))
    };
    let changes = changed_fields(entry, now).into_iter().filter(|change| is_random(&change.path));
    let lines: Vec<String> = changes.map(|change| format!("    {}", change.path)).collect();
    if lines.is_empty() { lines } else { [vec![format!("  {key}")], lines].concat() }
}

/// Returns a line with the key of an object and a line for each value that differs between its two states, is not noise, and is in a field
/// that `accepts_field` accepts by its path and actual value. Returns no line if there is no such field.
fn field_lines(
    key: &str,
    expected: &Entry,
    actual: &Entry,
    noise: &Noise,
    accepts_field: impl Fn(&str, Option<&Value>) -> bool,
) -> Vec<String> {
    let mut changes = changed_fields(expected, actual);
    changes.retain(|FieldChange { path, after, .. }| {
        !noise.fields.contains(&(key.to_owned(), path.clone())) && accepts_field(path, after.as_ref())
    });
    if changes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("  {key}")];
    for FieldChange { path, before, after } in &changes {
        let line =
            |sign, value: &Option<Value>| value.as_ref().map(|value| format!("{sign}   {path}: {}", redacted(value)));
        lines.extend(line('-', before));
        lines.extend(line('+', after));
    }
    lines
}

/// Formats a value for a report, without the content of Secrets.
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
        // The list `images` may be a history, so its old entry is not stale; a condition is.
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
        let none = snapshot(&[]);
        assert!(
            stale_fields(&before, &expected, &none, &Noise::default()).is_empty(),
            "a missing object has no fields"
        );
        assert!(stale_fields(&before, &none, &found, &Noise::default()).is_empty(), "nor has an additional one");
    }
}
