//! `Preserved`: the parts of an object that another version can't hold, and how they come back.

use super::{conversion::Conversion, field_path::join, problem::FieldProblem};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The parts of a value that are not the same after a conversion to another version and back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Preserved {
    Value(PreservedValue),
    Fields(BTreeMap<String, Self>),
    Items(Vec<PreservedItem>),
}

/// A value that comes back if the other version has not changed what it saw of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PreservedValue {
    /// The digest of the value that the conversion back gives without this data; `None` if it gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<String>,
    /// The digests of the fields that a function has converted together with this one: all come back, or none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    with: BTreeMap<String, Option<String>>,
    /// The value; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    value: Option<Value>,
    /// Why the value could not be converted; `None` if the other version just can't hold all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// A part of an item of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PreservedItem {
    index: usize,
    /// The number of items of the list.
    len: usize,
    /// The fields that identify the item, in a list with `x-kubernetes-list-type: map`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    key: Map<String, Value>,
    /// The digest of the item that the conversion back gives without this data.
    seen: String,
    part: Preserved,
}

/// Distinguishes `null` from a missing value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What a difference is found with.
pub(super) struct Comparison<'a> {
    /// The problems of the conversion, with the paths in the version of `original`.
    pub(super) problems: &'a [FieldProblem],
}

impl Comparison<'_> {
    /// Returns the parts of `original` that are not in `back`, which is `original` after a conversion to another version and back.
    pub(super) fn difference(
        &self,
        back: Option<&Value>,
        original: Option<&Value>,
        conversion: Option<&Conversion>,
        list_keys: &[&str],
        path: &str,
    ) -> Option<Preserved> {
        let problem = self.problems.iter().find(|problem| problem.path == path);
        if problem.is_none() && back == original {
            return None;
        }
        match (back, original) {
            // Another variant comes back as a whole, or not at all.
            (Some(Value::Object(back)), Some(Value::Object(original)))
                if problem.is_none()
                    && !conversion.is_some_and(|conversion| conversion.are_other_variants(back, original)) =>
            {
                let names: BTreeSet<_> = back.keys().chain(original.keys()).collect();
                let field = |name: &String| {
                    let together = conversion.map(|conversion| conversion.converted_with(name)).unwrap_or_default();
                    if !together.is_empty() {
                        let value = self.value(back.get(name), original.get(name), &join(path, &[name.as_str()]));
                        let seen = |other: &str| (other.to_owned(), back.get(other).map(digest));
                        let with = together.into_iter().filter(|other| other != name).map(seen).collect();
                        return Some((name.clone(), Preserved::Value(PreservedValue { with, ..value? })));
                    }
                    let nested = conversion.and_then(|conversion| conversion.field(name));
                    let item = conversion.and_then(Conversion::item);
                    let keys = nested.as_ref().map_or(&[][..], |(_, keys)| *keys);
                    let nested = nested.as_ref().map(|(nested, _)| nested).or(item.as_ref());
                    let (back, original) = (back.get(name), original.get(name));
                    let part = self.difference(back, original, nested, keys, &join(path, &[name.as_str()]))?;
                    Some((name.clone(), part))
                };
                let fields: BTreeMap<_, _> = names.into_iter().filter_map(field).collect();
                (!fields.is_empty()).then_some(Preserved::Fields(fields))
            }
            (Some(Value::Array(back)), Some(Value::Array(original)))
                if problem.is_none() && back.len() == original.len() =>
            {
                let (conversion, len) = (conversion.and_then(Conversion::item), back.len());
                let item = |(index, (back, original)): (usize, (&Value, &Value))| {
                    let path = format!("{path}[{index}]");
                    let part = self.difference(Some(back), Some(original), conversion.as_ref(), &[], &path)?;
                    let key = |key: &&str| Some(((*key).to_owned(), back.get(*key)?.clone()));
                    let key = list_keys.iter().filter_map(key).collect();
                    Some(PreservedItem { index, len, key, seen: digest(back), part })
                };
                let items: Vec<_> = back.iter().zip(original).enumerate().filter_map(item).collect();
                (!items.is_empty()).then_some(Preserved::Items(items))
            }
            (back, original) => self.value(back, original, path).map(Preserved::Value),
        }
    }

    /// Returns the whole value, if it is not the same.
    fn value(&self, back: Option<&Value>, original: Option<&Value>, path: &str) -> Option<PreservedValue> {
        let problem = self.problems.iter().find(|problem| problem.path == path);
        (problem.is_some() || back != original).then(|| PreservedValue {
            seen: back.map(digest),
            with: BTreeMap::new(),
            value: original.cloned(),
            problem: problem.map(|problem| problem.message.clone()),
        })
    }
}

impl Preserved {
    /// Puts the parts back into `value`, which a conversion has given. A part stays away if the other version has changed what it saw of
    /// it, or has removed the object around it.
    pub(super) fn restore(self, value: &mut Value) {
        let mut slot = Some(std::mem::take(value));
        self.restore_slot(&mut slot);
        *value = slot.unwrap_or_default();
    }

    fn restore_slot(self, slot: &mut Option<Value>) {
        match (self, slot) {
            (Self::Value(preserved), slot) if preserved.is_unchanged(slot.as_ref()) => *slot = preserved.value,
            (Self::Fields(mut fields), Some(Value::Object(object))) => {
                // Before any field comes back.
                fields.retain(|_, part| part.are_others_unchanged(object));
                for (name, part) in fields {
                    let mut field = object.remove(&name);
                    part.restore_slot(&mut field);
                    object.extend(field.map(|field| (name, field)));
                }
            }
            (Self::Items(items), Some(Value::Array(values))) => {
                let positions = positions(&items, values);
                for (item, position) in items.into_iter().zip(positions) {
                    if let Some(value) = position.and_then(|position| values.get_mut(position)) {
                        item.part.restore(value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the parts that could not be converted, and that no other version has changed since. `value` is what the conversion back
    /// gives without this data.
    pub(super) fn problems(&self, value: Option<&Value>, path: &str, problems: &mut Vec<FieldProblem>) {
        match (self, value) {
            (Self::Value(preserved), value) if preserved.is_unchanged(value) => {
                let problem = preserved.problem.clone();
                problems.extend(problem.map(|message| FieldProblem { path: path.to_owned(), message }));
            }
            (Self::Fields(fields), Some(Value::Object(object))) => {
                for (name, part) in fields.iter().filter(|(_, part)| part.are_others_unchanged(object)) {
                    part.problems(object.get(name), &join(path, &[name.as_str()]), problems);
                }
            }
            (Self::Items(items), Some(Value::Array(values))) => {
                for (item, position) in items.iter().zip(positions(items, values)) {
                    if let Some(position) = position {
                        item.part.problems(values.get(position), &format!("{path}[{position}]"), problems);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns whether the other version has changed none of the fields that came together with this one.
    fn are_others_unchanged(&self, object: &Map<String, Value>) -> bool {
        match self {
            Self::Value(value) => value.with.iter().all(|(name, seen)| *seen == object.get(name).map(digest)),
            Self::Fields(_) | Self::Items(_) => true,
        }
    }

    /// Returns whether a part could not be converted.
    pub(super) fn has_problem(&self) -> bool {
        match self {
            Self::Value(preserved) => preserved.problem.is_some(),
            Self::Fields(fields) => fields.values().any(Self::has_problem),
            Self::Items(items) => items.iter().any(|item| item.part.has_problem()),
        }
    }
}

impl PreservedValue {
    fn is_unchanged(&self, value: Option<&Value>) -> bool {
        self.seen == value.map(digest)
    }
}

/// Returns where the items are in a list now: by their key, else by their content, else by their index if the list is as long as before.
fn positions(items: &[PreservedItem], values: &[Value]) -> Vec<Option<usize>> {
    let mut places = Places { free: vec![true; values.len()], by_identity: BTreeMap::new() };
    let names: BTreeSet<Vec<&String>> = items.iter().map(|item| item.key.keys().collect()).collect();
    for (index, value) in values.iter().enumerate() {
        for names in &names {
            let identity = if names.is_empty() { Some(digest(value)) } else { key_of(value, names) };
            places.by_identity.entry(identity).or_default().push_back(index);
        }
    }
    let mut found = vec![None; items.len()];
    // Equal items keep their order: those at their index before come first.
    for exact in [true, false] {
        for (item, found) in items.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let identity =
                if item.key.is_empty() { item.seen.clone() } else { digest(&Value::Object(item.key.clone())) };
            *found = places.take(&identity, exact.then_some(item.index));
        }
    }
    for (item, found) in items.iter().zip(&mut found).filter(|(item, found)| found.is_none() && item.key.is_empty()) {
        *found = (item.len == values.len()).then(|| places.take_free(item.index)).flatten();
    }
    found
}

/// The places of a list that no item has yet.
struct Places {
    free: Vec<bool>,
    /// The places of the items with a key or content, by its digest.
    by_identity: BTreeMap<Option<String>, VecDeque<usize>>,
}

impl Places {
    /// Takes a place with this identity: that one, or with `None` the first one.
    fn take(&mut self, identity: &str, index: Option<usize>) -> Option<usize> {
        let places = self.by_identity.get_mut(&Some(identity.to_owned()))?;
        if let Some(index) = index {
            places.binary_search(&index).ok()?;
            return self.take_free(index);
        }
        while let Some(index) = places.pop_front() {
            if self.free.get(index).copied().unwrap_or_default() {
                self.free[index] = false;
                return Some(index);
            }
        }
        None
    }

    fn take_free(&mut self, index: usize) -> Option<usize> {
        let free = self.free.get_mut(index).filter(|free| **free)?;
        *free = false;
        Some(index)
    }
}

/// Returns the digest of the fields that identify an item; `None` if it lacks one.
fn key_of(value: &Value, names: &[&String]) -> Option<String> {
    let field = |name: &&String| Some(((*name).clone(), value.get(name.as_str())?.clone()));
    let key: Option<Map<_, _>> = names.iter().map(field).collect();
    key.map(|key| digest(&Value::Object(key)))
}

/// Returns a digest of a value that does not depend on the order of fields (FNV-1a of 64 bits). It tells whether a value has changed.
fn digest(value: &Value) -> String {
    let mut digest = 0xcbf2_9ce4_8422_2325;
    add_to_digest(value, &mut digest);
    format!("{digest:016x}")
}

/// Returns a number as API servers write it.
fn normal_form(number: &Number) -> String {
    /// Integers up to here are exact in a float.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if !number.is_i64() && !number.is_u64() && float.fract() == 0.0 && float.abs() <= MAX_EXACT => {
            format!("{float:.0}")
        }
        _ => number.to_string(),
    }
}

fn add_to_digest(value: &Value, digest: &mut u64) {
    let mut add = |kind: u8, bytes: &[u8]| {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes();
        for byte in std::iter::once(&kind).chain(&length).chain(bytes) {
            *digest = (*digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    match value {
        Value::Null => add(b'n', &[]),
        Value::Bool(flag) => add(b'b', &[u8::from(*flag)]),
        // API servers write 1.0 as 1.
        Value::Number(number) => add(b'd', normal_form(number).as_bytes()),
        Value::String(text) => add(b's', text.as_bytes()),
        Value::Array(items) => {
            add(b'a', &items.len().to_le_bytes());
            items.iter().for_each(|item| add_to_digest(item, digest));
        }
        Value::Object(object) => {
            add(b'o', &object.len().to_le_bytes());
            let sorted: BTreeMap<_, _> = object.iter().collect();
            for (name, value) in sorted {
                add_to_digest(&Value::String(name.clone()), digest);
                add_to_digest(value, digest);
            }
        }
    }
}
