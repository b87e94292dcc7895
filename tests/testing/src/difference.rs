//! How two states differ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::state::{HIDDEN, Kept, State};

/// What differs between two undisturbed runs with other dice: it says nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noise {
    objects: BTreeSet<String>,
    fields: BTreeSet<(String, String)>,
}

/// The scalars of an object by their place.
fn leaves(value: &Value, at: String, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| leaves(value, format!("{at}.{key}"), found));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(index, item)| leaves(item, format!("{at}[{index}]"), found));
        }
        _ => drop(found.insert(at, value.clone())),
    }
}

fn fields(kept: Option<&Kept>) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    if let Some(kept) = kept {
        leaves(&kept.value, String::new(), &mut found);
    }
    found
}

/// The places at which two objects differ, with what they have there.
fn differing(one: &Kept, other: &Kept) -> Vec<(String, Option<Value>, Option<Value>)> {
    if one.value == other.value {
        return Vec::new();
    }
    let (one, mut other) = (fields(Some(one)), fields(Some(other)));
    let mut differing = Vec::new();
    for (at, value) in one {
        let there = other.remove(&at);
        if there.as_ref() != Some(&value) {
            differing.push((at, Some(value), there));
        }
    }
    differing.extend(other.into_iter().map(|(at, value)| (at, None, Some(value))));
    differing.sort_by(|one, other| one.0.cmp(&other.0));
    differing
}

impl Noise {
    /// The places of a Secret's values that are generated, since they differ from run to run, and that are other ones now.
    pub(crate) fn generated_anew(&self, key: &str, before: &Kept, after: &Kept) -> Vec<String> {
        let is_secret = |at: &str| key.starts_with("Secret ") && at.starts_with(".data.");
        let places = differing(before, after).into_iter().map(|(at, ..)| at).filter(|at| is_secret(at));
        places.filter(|at| self.fields.contains(&(key.to_owned(), at.clone()))).collect()
    }

    pub(crate) fn between(one: &State, other: &State) -> Self {
        let mut noise = Self::default();
        for key in one.objects.keys().chain(other.objects.keys()) {
            match (one.objects.get(key), other.objects.get(key)) {
                (Some(one), Some(other)) => {
                    noise.fields.extend(differing(one, other).into_iter().map(|(at, ..)| (key.clone(), at)));
                }
                _ => drop(noise.objects.insert(key.clone())),
            }
        }
        noise
    }
}

/// From what was expected to what was found, a line for each difference; `-` is expected, `+` found.
pub(crate) fn difference(expected: &State, found: &State, noise: &Noise) -> Vec<String> {
    lines(expected, found, noise, |_, _, _| true)
}

/// Of the difference, what is as it was before. Lists may tell a history, so of them only conditions are looked at.
pub(crate) fn unmoved(before: &State, expected: &State, found: &State, noise: &Noise) -> Vec<String> {
    let before: BTreeMap<_, _> = before.objects.iter().map(|(key, kept)| (key, fields(Some(kept)))).collect();
    let is_unmoved = |key: &String, at: &str, now: Option<&Value>| {
        let may_tell_a_history = at.contains('[') && !at.starts_with(".status.conditions[");
        !may_tell_a_history && before.get(key).is_some_and(|before| before.get(at) == now)
    };
    lines(expected, found, noise, is_unmoved)
}

/// Of the fields of an object that chance alone decides, those that are others now in the same object: generated anew.
pub(crate) fn rolled(kept: &Kept, now: &State, noise: &Noise) -> Vec<String> {
    let uid = |kept: &Kept| kept.origin["metadata"]["uid"].clone();
    let Some((key, now)) = now.objects.iter().find(|(_, now)| uid(now) == uid(kept)) else { return Vec::new() };
    let is_generated = |at: &String| {
        let is_said = at.starts_with(".status") || at.starts_with(".metadata");
        !is_said && noise.fields.contains(&(key.clone(), at.clone()))
    };
    let differing = differing(kept, now).into_iter().filter(|(at, ..)| is_generated(at));
    let lines: Vec<String> = differing.map(|(at, ..)| format!("    {at}")).collect();
    if lines.is_empty() { lines } else { [vec![format!("  {key}")], lines].concat() }
}

fn lines(
    expected: &State,
    found: &State,
    noise: &Noise,
    which: impl Fn(&String, &str, Option<&Value>) -> bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    let keys: BTreeSet<_> = expected.objects.keys().chain(found.objects.keys()).collect();
    for key in keys.into_iter().filter(|key| !noise.objects.contains(*key)) {
        match (expected.objects.get(key), found.objects.get(key)) {
            (Some(_), None) => lines.push(format!("- {key}")),
            (None, Some(_)) => lines.push(format!("+ {key}")),
            (Some(expected), Some(found)) => {
                let differing = differing(expected, found);
                let tells = |at: &String| !noise.fields.contains(&(key.clone(), at.clone()));
                let differing: Vec<_> =
                    differing.iter().filter(|(at, _, now)| tells(at) && which(key, at, now.as_ref())).collect();
                if !differing.is_empty() {
                    lines.push(format!("  {key}"));
                }
                for (at, expected, found) in differing {
                    let shown = |sign, value: &Option<Value>| {
                        value.as_ref().map(|value| format!("{sign}   {at}: {}", open(value)))
                    };
                    lines.extend(shown('-', expected));
                    lines.extend(shown('+', found));
                }
            }
            (None, None) => {}
        }
    }
    lines
}

/// A value for people; nothing of a Secret.
fn open(value: &Value) -> String {
    match value.as_str() {
        Some(text) if text.starts_with(HIDDEN) => "<secret>".to_owned(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state(objects: &[Value]) -> State {
        State::of(objects.to_vec())
    }

    #[test]
    fn a_difference_names_objects_and_places_and_no_secret() {
        let map =
            |name: &str, value: &str| json!({"kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": value}});
        let secret = |value: &str| json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"key": value}});
        let (one, other) = (
            state(&[map("m", "1"), map("n", "1"), secret("eA==")]),
            state(&[map("m", "2"), map("o", "1"), secret("eQ==")]),
        );
        let lines = difference(&one, &other, &Noise::default());
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
        assert!(difference(&one, &other, &Noise::between(&one, &other)).is_empty());
    }

    #[test]
    fn what_an_edit_has_not_moved_is_told_but_no_history() {
        let said = |image: &str, message: &str, reason: &str| {
            let conditions = json!([{"type": "Ready", "status": "True", "reason": reason, "message": message}]);
            let status = json!({"conditions": conditions, "images": [image]});
            state(&[json!({"kind": "Web", "metadata": {"name": "w"}, "status": status})])
        };
        let before = said("web:1", "web:1 runs", "Begun");
        let expected = said("web:2", "web:2 runs", "Begun");
        let found = said("web:1", "web:1 runs", "Edited");
        assert_eq!(
            unmoved(&before, &expected, &found, &Noise::default()),
            [
                "  Web w",
                "-   .status.conditions[0].message: \"web:2 runs\"",
                "+   .status.conditions[0].message: \"web:1 runs\"",
            ]
        );
        assert!(unmoved(&before, &expected, &expected, &Noise::default()).is_empty());
    }
}
