//! Merges a changed status into the stored JSON, so that a replacing write loses no field that the operator doesn't know.
//!
//! A status is written by PUT, which replaces all of it. The Rust type of a status may know fewer fields than the object has:
//! another controller writes some, a newer release has others. So the typed change (`before` to `after`) is carried over to
//! the JSON as it is stored. Fields of an earlier release, which the type has given up, are found by their field manager.

use serde_json::{Map, Value};

/// The stored JSON with the change from `before` to `after`, both as the operator's type writes them.
///
/// A field that did not change stays as it is stored, byte for byte. An item of a list that did not change keeps fields
/// that the type doesn't know; an item that did change is replaced.
pub(super) fn carry(stored: Value, before: &Value, after: &Value) -> Value {
    match (stored, before, after) {
        (stored, before, after) if before == after => stored,
        (Value::Object(stored), Value::Object(before), Value::Object(after)) => carry_fields(stored, before, after),
        (Value::Array(stored), Value::Array(before), Value::Array(after)) if stored.len() == before.len() => {
            carry_items(&stored, before, after)
        }
        (_, _, after) => after.clone(),
    }
}

fn carry_fields(mut stored: Map<String, Value>, before: &Map<String, Value>, after: &Map<String, Value>) -> Value {
    stored.retain(|name, _| !before.contains_key(name) || after.contains_key(name));
    for (name, value) in after {
        match (before.get(name), stored.remove(name)) {
            (Some(same), None) if same == value => {}
            (before, held) => {
                let held = carry(held.unwrap_or_default(), before.unwrap_or(&Value::Null), value);
                stored.insert(name.clone(), held);
            }
        }
    }
    Value::Object(stored)
}

fn carry_items(stored: &[Value], before: &[Value], after: &[Value]) -> Value {
    let unchanged = |at: usize, item: &Value| match before.get(at) {
        Some(same) if same == item => Some(at),
        _ => before.iter().position(|same| same == item),
    };
    let items = after.iter().enumerate().map(|(at, item)| unchanged(at, item).map_or(item, |at| &stored[at]));
    Value::Array(items.cloned().collect())
}

/// Whether `stored` has a field outside lists that `known` lacks.
pub(super) fn has_unknown(stored: &Value, known: &Value) -> bool {
    let Value::Object(stored) = stored else { return false };
    stored.iter().any(|(name, value)| match known.get(name) {
        Some(known) => has_unknown(value, known),
        None => !value.is_null(),
    })
}

/// Removes the fields that `known` lacks and that belong to the operator alone (`fieldsV1` sets): an earlier release wrote
/// them. Fields that somebody else owns, or nobody, stay.
pub(super) fn remove_given_up(stored: &mut Value, known: &Value, ours: &[&Value], others: &[&Value]) {
    let Value::Object(stored) = stored else { return };
    let below = |sets: &[&Value], step: &str| sets.iter().filter_map(|set| set.get(step)).cloned().collect::<Vec<_>>();
    stored.retain(|name, value| {
        let step = format!("f:{name}");
        let (ours, others) = (below(ours, &step), below(others, &step));
        let Some(known) = known.get(name) else { return ours.is_empty() || !others.is_empty() };
        remove_given_up(value, known, &ours.iter().collect::<Vec<_>>(), &others.iter().collect::<Vec<_>>());
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Jitter as _, Seeded};
    use serde_json::json;

    #[test]
    fn unknown_fields_of_the_status_and_of_unchanged_items_stay() {
        let stored = json!({"url": "a", "theirs": {"x": 1}, "list": [{"n": 1, "new": true}, {"n": 2, "new": true}]});
        let before = json!({"url": "a", "list": [{"n": 1}, {"n": 2}]});
        let after = json!({"url": "b", "list": [{"n": 2}, {"n": 3}]});
        let wanted = json!({"url": "b", "theirs": {"x": 1}, "list": [{"n": 2, "new": true}, {"n": 3}]});
        assert_eq!(carry(stored, &before, &after), wanted);
    }

    #[test]
    fn a_field_that_the_type_drops_is_removed_and_a_default_that_was_never_stored_stays_absent() {
        let (stored, before) = (json!({"url": "a"}), json!({"url": "a", "count": 0}));
        assert_eq!(carry(stored.clone(), &before, &json!({"count": 0})), json!({}));
        assert_eq!(carry(stored, &before, &json!({"url": "a", "count": 1})), json!({"url": "a", "count": 1}));
    }

    #[test]
    fn only_fields_of_the_operator_alone_are_given_up() {
        let known = json!({"kept": {"a": 1}});
        let stored = json!({"kept": {"a": 1, "old": 2}, "ours": 1, "shared": 1, "theirs": 1, "unowned": 1});
        let ours = json!({"f:kept": {"f:a": {}, "f:old": {}}, "f:ours": {}, "f:shared": {}});
        let others = json!({"f:shared": {}, "f:theirs": {}});
        assert!(has_unknown(&stored, &known) && !has_unknown(&known, &known));
        let mut left = stored;
        remove_given_up(&mut left, &known, &[&ours], &[&others]);
        assert_eq!(left, json!({"kept": {"a": 1}, "shared": 1, "theirs": 1, "unowned": 1}));
    }

    /// The typed view of JSON: only the fields that are named by a letter below `n`.
    fn view(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let known = fields.iter().filter(|(name, _)| name.as_str() < "n");
                known.map(|(name, value)| (name.clone(), view(value))).collect()
            }
            Value::Array(items) => items.iter().map(view).collect(),
            other => other.clone(),
        }
    }

    /// The fields outside lists that the typed view leaves out.
    fn unknown(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
        for (name, value) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            if name.as_str() < "n" { unknown(value, &path, found) } else { found.push((path, value.clone())) }
        }
    }

    fn random(dice: &Seeded, depth: u64) -> Value {
        match dice.bits() % if depth == 0 { 2 } else { 5 } {
            0 => json!(dice.bits() % 3),
            1 => json!(["x", "y", "z"][(dice.bits() % 3) as usize]),
            2 => (0..dice.bits() % 3).map(|_| random(dice, depth - 1)).collect(),
            _ => {
                let names = ["a", "b", "c", "x", "y"].iter().filter(|_| dice.bits().is_multiple_of(2));
                names.map(|name| ((*name).to_owned(), random(dice, depth - 1))).collect()
            }
        }
    }

    /// A change that keeps the shape of objects, as one of the same type does.
    fn changed(dice: &Seeded, value: &Value) -> Value {
        match value {
            _ if dice.bits().is_multiple_of(6) => view(&random(dice, 1)),
            Value::Object(fields) => {
                let kept = fields.iter().filter(|_| !dice.bits().is_multiple_of(5));
                kept.map(|(name, value)| (name.clone(), changed(dice, value))).collect()
            }
            other => other.clone(),
        }
    }

    #[test]
    fn any_change_is_carried_out_and_loses_nothing_unknown_beside_it() {
        for seed in 0..20_000 {
            let dice = Seeded::new(seed);
            let stored =
                Value::Object((0..4).map(|at| (["a", "b", "x", "y"][at].to_owned(), random(&dice, 3))).collect());
            let before = view(&stored);
            let mut after = changed(&dice, &before);
            if !after.is_object() {
                after = json!({});
            }
            let written = carry(stored.clone(), &before, &after);
            assert_eq!(view(&written), after, "seed {seed}: {stored} became {written}");
            let (mut had, mut has) = (Vec::new(), Vec::new());
            unknown(&stored, "", &mut had);
            unknown(&written, "", &mut has);
            // What is inside of a field that was replaced by another sort of value, or removed, goes with it.
            let lives = |path: &str| {
                let mut steps = path.trim_start_matches('.').split('.').collect::<Vec<_>>();
                steps.pop();
                let at = |value: &Value| steps.iter().try_fold(value.clone(), |at, step| at.get(step).cloned());
                at(&after).is_some_and(|at| at.is_object())
            };
            had.retain(|(path, _)| lives(path));
            assert_eq!(has, had, "seed {seed}: {stored} became {written} for {after}");
        }
    }
}
