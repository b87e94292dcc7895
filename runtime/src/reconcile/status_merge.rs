//! Merges a changed status into the stored JSON, so that a replacing write loses no field that the operator doesn't know.
//!
//! The status is written by PUT, which replaces all of it. The Rust type of a status may have fewer fields than the stored
//! object: another controller writes some, and a newer release of the operator has more. So the change of the typed status
//! (`before` to `after`) is merged into the stored JSON. Obsolete fields, which the type of an earlier release had, are
//! recognised by their field manager.

use serde_json::{Map, Value};

/// Merges the change of a status from `before` to `after`, both as the operator's Rust type encodes them, into the stored JSON, and returns
/// the result.
///
/// A field without a change keeps its stored value, byte for byte. A list item without a change keeps the fields that the Rust type
/// doesn't know; a changed item is replaced.
pub(super) fn merge_change(stored: Value, before: &Value, after: &Value) -> Value {
    match (stored, before, after) {
        (stored, before, after) if before == after => stored,
        (Value::Object(stored), Value::Object(before), Value::Object(after)) => merge_fields(stored, before, after),
        (Value::Array(stored), Value::Array(before), Value::Array(after)) if stored.len() == before.len() => {
            merge_items(&stored, before, after)
        }
        (_, _, after) => after.clone(),
    }
}

/// Merges the change from `before` to `after` into the fields of a stored object: adds, changes and removes the fields that differ, and
/// keeps all other stored fields.
fn merge_fields(mut stored: Map<String, Value>, before: &Map<String, Value>, after: &Map<String, Value>) -> Value {
    stored.retain(|name, _| !before.contains_key(name) || after.contains_key(name));
    for (name, value) in after {
        match (before.get(name), stored.remove(name)) {
            // The stored object lacks a field that the type encodes, for example a default.
            (Some(same), None) if same == value => {}
            (before, stored_value) => {
                let merged = merge_change(stored_value.unwrap_or_default(), before.unwrap_or(&Value::Null), value);
                stored.insert(name.clone(), merged);
            }
        }
    }
    Value::Object(stored)
}

/// Merges the items of a list: an item of `after` that `before` contains keeps its stored value, even if it has moved.
/// `before` is `stored` as the operator's Rust type encodes it, so the two lists have the same length and order.
fn merge_items(stored: &[Value], before: &[Value], after: &[Value]) -> Value {
    // The same position comes first: items that are equal in the operator's type may have different stored fields.
    let position_before = |at: usize, item: &Value| match before.get(at) {
        Some(same) if same == item => Some(at),
        _ => before.iter().position(|same| same == item),
    };
    let items = after.iter().enumerate().map(|(at, item)| position_before(at, item).map_or(item, |at| &stored[at]));
    Value::Array(items.cloned().collect())
}

/// Returns whether `stored` has a field that `known` lacks: the same status as its Rust type encodes it. Lists are compared item by item
/// if they have the same length.
pub(super) fn has_unknown_fields(stored: &Value, known: &Value) -> bool {
    match (stored, known) {
        (Value::Object(stored), Value::Object(known)) => stored.iter().any(|(name, value)| match known.get(name) {
            Some(known) => has_unknown_fields(value, known),
            None => !value.is_null(),
        }),
        (Value::Array(stored), Value::Array(known)) if stored.len() == known.len() => {
            stored.iter().zip(known).any(|(stored, known)| has_unknown_fields(stored, known))
        }
        _ => false,
    }
}

/// The owners of one value in a status, as the subsets of `fieldsV1` sets that begin at its path.
pub(super) struct StatusOwners<'a> {
    ours: Vec<&'a Value>,
    others: Vec<&'a Value>,
    /// Whether the operator owns a whole value that contains this one, such as an atomic list.
    is_in_ours: bool,
    /// Whether another manager owns such a value.
    is_in_others: bool,
}

impl<'a> StatusOwners<'a> {
    pub(super) fn new(ours: &'a [Value], others: &'a [Value]) -> Self {
        let (ours, others) = (ours.iter().collect(), others.iter().collect());
        Self { ours, others, is_in_ours: false, is_in_others: false }
    }

    /// Returns the owners of the field (`f:name`) or list item (`k:{...}`) at this path element within the value. If no set has path
    /// elements within it, the managers whose sets contain it own it as a whole, with everything in it.
    fn of_part(&self, element: &str) -> Self {
        let subsets = |sets: &[&'a Value]| sets.iter().filter_map(|set| set.get(element)).collect::<Vec<_>>();
        let is_leaf = |set: &&Value| set.as_object().is_none_or(Map::is_empty);
        let (ours, others) = (subsets(&self.ours), subsets(&self.others));
        let is_whole = ours.iter().chain(&others).all(is_leaf);
        let is_in_ours = self.is_in_ours || is_whole && !ours.is_empty();
        let is_in_others = self.is_in_others || is_whole && !others.is_empty();
        Self { ours, others, is_in_ours, is_in_others }
    }

    /// Returns the owners of a list item. If no set of fields has the key of the item, its owners are the managers that own the whole list.
    fn of_item(&self, item: &Value) -> Self {
        // `k:{"name":"a"}` is the item whose key fields have these values.
        let is_item_key = |element: &str| {
            let key = element.strip_prefix("k:").and_then(|key| serde_json::from_str::<Map<String, Value>>(key).ok());
            key.is_some_and(|key| key.iter().all(|(name, value)| item.get(name) == Some(value)))
        };
        let sets = self.ours.iter().chain(&self.others);
        let element = sets.filter_map(|set| set.as_object()).flat_map(Map::keys).find(|element| is_item_key(element));
        match element {
            Some(element) => self.of_part(element),
            None => Self { ours: Vec::new(), others: Vec::new(), ..*self },
        }
    }

    /// Returns whether the operator owns the value or a part of it, and no other manager does.
    fn is_ours_alone(&self) -> bool {
        (self.is_in_ours || !self.ours.is_empty()) && !self.is_in_others && self.others.is_empty()
    }
}

/// Removes the obsolete fields from a stored status: fields that `known`, the status as its Rust type encodes it, lacks and that only the
/// operator owns, so that an earlier release of the operator must have written them. Fields of other managers and fields without an owner
/// stay. Returns whether there were obsolete fields.
///
/// Where a field is removed, the fields that `known` has and the object lacks are added: the new name (`serde(alias)`) of the removed
/// field may be among them.
pub(super) fn remove_obsolete(stored: &mut Value, known: &Value, owners: &StatusOwners<'_>) -> bool {
    match (stored, known) {
        (Value::Object(stored), Value::Object(known)) => remove_fields(stored, known, owners),
        (Value::Array(stored), Value::Array(known)) if stored.len() == known.len() => {
            let items = stored.iter_mut().zip(known);
            items.fold(false, |any, (item, known)| {
                let owners = owners.of_item(item);
                remove_obsolete(item, known, &owners) || any
            })
        }
        _ => false,
    }
}

/// Removes the obsolete fields of an object and, recursively, of its values; see [`remove_obsolete`].
fn remove_fields(stored: &mut Map<String, Value>, known: &Map<String, Value>, owners: &StatusOwners<'_>) -> bool {
    let (len_before, mut removed_nested) = (stored.len(), false);
    stored.retain(|name, value| {
        let owners = owners.of_part(&format!("f:{name}"));
        match known.get(name) {
            Some(known) => removed_nested |= remove_obsolete(value, known, &owners),
            // The closure returns whether the field stays.
            None => return value.is_null() || !owners.is_ours_alone(),
        }
        true
    });
    let removed_here = stored.len() < len_before;
    if removed_here {
        for (name, value) in known.iter().filter(|(_, value)| !value.is_null()) {
            stored.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    removed_here || removed_nested
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
        assert_eq!(merge_change(stored, &before, &after), wanted);
    }

    #[test]
    fn a_field_that_the_type_drops_is_removed_and_a_default_that_was_never_stored_stays_absent() {
        let (stored, before) = (json!({"url": "a"}), json!({"url": "a", "count": 0}));
        assert_eq!(merge_change(stored.clone(), &before, &json!({"count": 0})), json!({}));
        assert_eq!(merge_change(stored, &before, &json!({"url": "a", "count": 1})), json!({"url": "a", "count": 1}));
    }

    #[test]
    fn only_fields_that_the_operator_alone_owns_are_removed() {
        let known = json!({"kept": {"a": 1}});
        let stored = json!({"kept": {"a": 1, "old": 2}, "ours": 1, "shared": 1, "theirs": 1, "unowned": 1});
        let ours = json!({"f:kept": {"f:a": {}, "f:old": {}}, "f:ours": {}, "f:shared": {}});
        let others = json!({"f:shared": {}, "f:theirs": {}});
        assert!(has_unknown_fields(&stored, &known) && !has_unknown_fields(&known, &known));
        let mut left = stored;
        assert!(removes_obsolete(&mut left, &known, &ours, &others));
        assert_eq!(left, json!({"kept": {"a": 1}, "shared": 1, "theirs": 1, "unowned": 1}));
        assert!(!removes_obsolete(&mut left, &known, &ours, &others));
    }

    /// Removes the obsolete fields by one set of fields of the operator (`ours`) and one of other managers.
    fn removes_obsolete(stored: &mut Value, known: &Value, ours: &Value, others: &Value) -> bool {
        remove_obsolete(stored, known, &StatusOwners::new(std::slice::from_ref(ours), std::slice::from_ref(others)))
    }

    #[test]
    fn obsolete_fields_are_removed_from_the_items_of_keyed_and_of_atomic_lists() {
        let known = json!({"keyed": [{"name": "a", "up": true}, {"name": "b"}], "atomic": [{"n": 1, "in": {"m": 1}}]});
        let stored = json!({
            "keyed": [{"name": "a", "up": true, "old": 1, "theirs": 1}, {"name": "b", "old": 1, "unowned": 1}],
            "atomic": [{"n": 1, "old": 1, "in": {"m": 1, "old": 1}}],
        });
        assert!(has_unknown_fields(&stored, &known) && !has_unknown_fields(&known, &known));
        let item = |name: &str, fields: Value| (format!("k:{{\"name\":\"{name}\"}}"), fields);
        let keyed: Map<String, Value> = [
            item("a", json!({".": {}, "f:name": {}, "f:up": {}, "f:old": {}})),
            item("b", json!({".": {}, "f:name": {}, "f:old": {}})),
        ]
        .into_iter()
        .collect();
        let ours = json!({"f:keyed": keyed, "f:atomic": {}});
        let theirs: Map<String, Value> = [item("a", json!({"f:theirs": {}}))].into_iter().collect();
        let mut left = stored.clone();
        assert!(removes_obsolete(&mut left, &known, &ours, &json!({"f:keyed": theirs})));
        let kept = json!([{"name": "a", "up": true, "theirs": 1}, {"name": "b", "unowned": 1}]);
        assert_eq!(left, json!({"keyed": kept, "atomic": known["atomic"]}));
        // A list that another manager owns as a whole, too, does not change.
        let mut shared = json!({"atomic": stored["atomic"]});
        assert!(!removes_obsolete(&mut shared, &known, &ours, &json!({"f:atomic": {}})));
        assert_eq!(shared["atomic"], stored["atomic"]);
    }

    #[test]
    fn a_field_that_was_renamed_keeps_its_value() {
        let known = json!({"endpoints": [{"name": "a", "address": "x", "note": null}]});
        let mut stored = json!({"endpoints": [{"name": "a", "ip": "x"}]});
        assert!(removes_obsolete(&mut stored, &known, &json!({"f:endpoints": {}}), &Value::Null));
        assert_eq!(stored, json!({"endpoints": [{"name": "a", "address": "x"}]}));
    }

    /// Returns JSON as a Rust type would encode it that knows only the fields whose name is a letter before `n`.
    fn typed(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let known = fields.iter().filter(|(name, _)| name.as_str() < "n");
                known.map(|(name, value)| (name.clone(), typed(value))).collect()
            }
            Value::Array(items) => items.iter().map(typed).collect(),
            other => other.clone(),
        }
    }

    /// Adds the paths and values of the fields that [`typed`] leaves out to `found`, except those in lists.
    fn add_unknown(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
        for (name, value) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            if name.as_str() < "n" { add_unknown(value, &path, found) } else { found.push((path, value.clone())) }
        }
    }

    /// Returns random JSON with `depth` levels of lists and objects.
    fn random_json(dice: &Seeded, depth: u64) -> Value {
        match dice.bits() % if depth == 0 { 2 } else { 5 } {
            0 => json!(dice.bits() % 3),
            1 => json!(["x", "y", "z"][(dice.bits() % 3) as usize]),
            2 => (0..dice.bits() % 3).map(|_| random_json(dice, depth - 1)).collect(),
            _ => {
                let names = ["a", "b", "c", "x", "y"].iter().filter(|_| dice.bits().is_multiple_of(2));
                names.map(|name| ((*name).to_owned(), random_json(dice, depth - 1))).collect()
            }
        }
    }

    /// Returns the value after a random change of the kind that a Rust type can make: the values of fields change, and fields disappear.
    fn change_randomly(dice: &Seeded, value: &Value) -> Value {
        match value {
            _ if dice.bits().is_multiple_of(6) => typed(&random_json(dice, 1)),
            Value::Object(fields) => {
                let kept = fields.iter().filter(|_| !dice.bits().is_multiple_of(5));
                kept.map(|(name, value)| (name.clone(), change_randomly(dice, value))).collect()
            }
            other => other.clone(),
        }
    }

    #[test]
    fn any_change_is_made_and_no_unknown_field_beside_it_is_lost() {
        for seed in 0..20_000 {
            let dice = Seeded::new(seed);
            let stored =
                Value::Object((0..4).map(|at| (["a", "b", "x", "y"][at].to_owned(), random_json(&dice, 3))).collect());
            let before = typed(&stored);
            let mut after = change_randomly(&dice, &before);
            if !after.is_object() {
                after = json!({});
            }
            let written = merge_change(stored.clone(), &before, &after);
            assert_eq!(typed(&written), after, "seed {seed}: {stored} became {written}");
            let (mut unknown_before, mut unknown_after) = (Vec::new(), Vec::new());
            add_unknown(&stored, "", &mut unknown_before);
            add_unknown(&written, "", &mut unknown_after);
            // A field that was removed, or replaced by a value that is no object, takes the unknown fields in it along.
            let has_parent = |path: &str| {
                let mut steps = path.trim_start_matches('.').split('.').collect::<Vec<_>>();
                steps.pop();
                let at = |value: &Value| steps.iter().try_fold(value.clone(), |at, step| at.get(step).cloned());
                at(&after).is_some_and(|at| at.is_object())
            };
            unknown_before.retain(|(path, _)| has_parent(path));
            assert_eq!(unknown_after, unknown_before, "seed {seed}: {stored} became {written} for {after}");
        }
    }
}
