//! `PreservedPart` stores the parts of an object that a conversion to another version of its kind loses, and restores them in the
//! conversion back.

use super::{
    conversion::Conversion,
    digest::digest,
    field_path::join,
    item_position::{ItemIdentity, positions},
    problem::FieldProblem,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The parts of a value that are not the same after a conversion to another version and back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PreservedPart {
    Value(PreservedValue),
    Fields(BTreeMap<String, Self>),
    Items(Vec<PreservedItem>),
}

/// A value that is restored unless a client of the other version has changed the field that represents it there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PreservedValue {
    /// The digest of the value that the conversion back gives without this data; `None` if it gives none.
    #[serde(rename = "seen", default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The digests of the fields that a function has converted together with this one: all are restored, or none.
    #[serde(rename = "with", default, skip_serializing_if = "BTreeMap::is_empty")]
    other_digests: BTreeMap<String, Option<String>>,
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
    #[serde(flatten)]
    identity: ItemIdentity,
    part: PreservedPart,
}

/// Distinguishes `null` from a missing value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A comparison of an object before and after a conversion to another version and back.
pub(super) struct Comparison<'a> {
    /// The problems of the conversion, with the paths in the version of `original`.
    pub(super) problems: &'a [FieldProblem],
}

impl Comparison<'_> {
    /// Returns the parts of `original` that are not the same in `back`, which is `original` after a conversion to another version and back.
    /// `None` if nothing differs, and the value at `path` itself could be converted. `conversion` is the conversion of the value's type,
    /// and `list_keys` are the key fields of a list map.
    pub(super) fn difference(
        &self,
        back: Option<&Value>,
        original: Option<&Value>,
        conversion: Option<&Conversion>,
        list_keys: &[&str],
        path: &str,
    ) -> Option<PreservedPart> {
        let problem = self.problems.iter().find(|problem| problem.path == path);
        if problem.is_none() && back == original {
            return None;
        }
        match (back, original) {
            // A value that became another variant is restored as a whole, or not at all.
            (Some(Value::Object(back)), Some(Value::Object(original)))
                if problem.is_none()
                    && !conversion.is_some_and(|conversion| conversion.are_other_variants(back, original)) =>
            {
                let names: BTreeSet<_> = back.keys().chain(original.keys()).collect();
                let field = |name: &String| {
                    // A field that a function converts is preserved with the digests of the fields that it is converted with.
                    let together = conversion.map(|conversion| conversion.converted_with(name)).unwrap_or_default();
                    if !together.is_empty() {
                        let value = self.value(back.get(name), original.get(name), &join(path, &[name.as_str()]));
                        let digest_of = |other: &str| (other.to_owned(), back.get(other).map(digest));
                        let other_digests = together.into_iter().filter(|other| other != name).map(digest_of).collect();
                        let value = PreservedValue { other_digests, ..value? };
                        return Some((name.clone(), PreservedPart::Value(value)));
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
                (!fields.is_empty()).then_some(PreservedPart::Fields(fields))
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
                    let identity = ItemIdentity { index, len, key, digest: digest(back) };
                    Some(PreservedItem { identity, part })
                };
                let items: Vec<_> = back.iter().zip(original).enumerate().filter_map(item).collect();
                (!items.is_empty()).then_some(PreservedPart::Items(items))
            }
            (back, original) => self.value(back, original, path).map(PreservedPart::Value),
        }
    }

    /// Returns `original` as a whole, if it differs from `back` or if its conversion failed.
    fn value(&self, back: Option<&Value>, original: Option<&Value>, path: &str) -> Option<PreservedValue> {
        let problem = self.problems.iter().find(|problem| problem.path == path);
        (problem.is_some() || back != original).then(|| PreservedValue {
            digest: back.map(digest),
            other_digests: BTreeMap::new(),
            value: original.cloned(),
            problem: problem.map(|problem| problem.message.clone()),
        })
    }
}

impl PreservedPart {
    /// Restores the parts in `value`, the result of a conversion. A part is not restored if a client of the other version has changed the
    /// field that represents it, or has removed the object around it.
    pub(super) fn restore(self, value: &mut Value) {
        let mut slot = Some(std::mem::take(value));
        self.restore_slot(&mut slot);
        *value = slot.unwrap_or_default();
    }

    /// Restores the parts in a value that may be missing, as [`PreservedPart::restore`] does. Removes a value that was missing originally.
    fn restore_slot(self, slot: &mut Option<Value>) {
        match (self, slot) {
            (Self::Value(preserved), slot) if preserved.is_unchanged(slot.as_ref()) => *slot = preserved.value,
            (Self::Fields(mut fields), Some(Value::Object(object))) => {
                // Before any field is restored, since a restored field would count as changed by a client.
                fields.retain(|_, part| part.are_others_unchanged(object));
                for (name, part) in fields {
                    let mut field = object.remove(&name);
                    part.restore_slot(&mut field);
                    object.extend(field.map(|field| (name, field)));
                }
            }
            (Self::Items(items), Some(Value::Array(values))) => {
                let positions = positions(items.iter().map(|item| &item.identity), values);
                for (item, position) in items.into_iter().zip(positions) {
                    if let Some(value) = position.and_then(|position| values.get_mut(position)) {
                        item.part.restore(value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds a problem for each part that could not be converted, unless a client of another version has changed the field since. `value` is
    /// the result of the conversion back without these preserved parts.
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
                let positions = positions(items.iter().map(|item| &item.identity), values);
                for (item, position) in items.iter().zip(positions) {
                    if let Some(position) = position {
                        item.part.problems(values.get(position), &format!("{path}[{position}]"), problems);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns whether no client has changed the other fields that a user's function has converted together with this one. `object` is the
    /// object with these fields, after the conversion back.
    fn are_others_unchanged(&self, object: &Map<String, Value>) -> bool {
        match self {
            Self::Value(value) => {
                value.other_digests.iter().all(|(name, digest_of)| *digest_of == object.get(name).map(digest))
            }
            Self::Fields(_) | Self::Items(_) => true,
        }
    }

    /// Returns whether this part, or a part in it, has the message of a failed conversion.
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
        self.digest == value.map(digest)
    }
}
