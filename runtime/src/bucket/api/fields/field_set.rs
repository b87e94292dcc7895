//! `FieldSet`: a set of fields of an object, with its encoding as `FieldsV1`.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A set of fields as a tree. A step is encoded as in `FieldsV1`: `f:name`, `k:{"key":"value"}` or `v:"item"`. The set can have a field
/// without the fields below it, and the reverse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSet {
    nodes: BTreeMap<String, FieldNode>,
}

/// A field of a set, and the fields below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldNode {
    /// Whether the field itself is in the set.
    pub(super) is_member: bool,
    pub(super) nested: FieldSet,
}

impl FieldNode {
    fn is_empty(&self) -> bool {
        !self.is_member && self.nested.is_empty()
    }
}

/// Returns the step to a field.
pub(super) fn field_step(name: &str) -> String {
    format!("f:{name}")
}

impl FieldSet {
    /// Returns the set with these paths of field names.
    pub(super) fn from_paths(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert_path(path);
        }
        set
    }

    /// Adds the field at a path of field names.
    fn insert_path(&mut self, path: &[&str]) {
        let [name, rest @ ..] = path else { return };
        let node = self.nodes.entry(field_step(name)).or_default();
        if rest.is_empty() {
            node.is_member = true;
        } else {
            node.nested.insert_path(rest);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds the field at a step if `is_member` is true, and the `nested` fields below it.
    pub(super) fn insert(&mut self, step: &str, is_member: bool, nested: Self) {
        let node = FieldNode { is_member, nested };
        if node.is_empty() {
            return;
        }
        let own = self.nodes.entry(step.to_owned()).or_default();
        own.is_member |= node.is_member;
        own.nested.extend(&node.nested);
    }

    /// Returns the field at a step.
    pub(super) fn get(&self, step: &str) -> Option<&FieldNode> {
        self.nodes.get(step)
    }

    /// Returns the fields of the first level with their steps.
    pub(super) fn level(&self) -> impl Iterator<Item = (&str, &FieldNode)> {
        self.nodes.iter().map(|(step, node)| (step.as_str(), node))
    }

    /// Adds the fields of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        for (step, node) in &other.nodes {
            let own = self.nodes.entry(step.clone()).or_default();
            own.is_member |= node.is_member;
            own.nested.extend(&node.nested);
        }
    }

    /// Returns the fields that are in at least one of the sets.
    pub(super) fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.extend(other);
        union
    }

    /// Removes the fields of another set from this one. The fields below a removed field stay, unless the other set has them, too.
    pub(super) fn subtract(&mut self, other: &Self) {
        for (step, removed) in &other.nodes {
            if let Some(own) = self.nodes.get_mut(step) {
                own.is_member &= !removed.is_member;
                own.nested.subtract(&removed.nested);
                if own.is_empty() {
                    self.nodes.remove(step);
                }
            }
        }
    }

    /// Returns the fields of this set without those of another, as [`subtract`](Self::subtract).
    pub(super) fn difference(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        difference.subtract(other);
        difference
    }

    /// Returns this set without the fields of another set and without all fields below those.
    pub(super) fn without(&self, other: &Self) -> Self {
        let mut remaining = Self::default();
        for (step, node) in &self.nodes {
            match other.nodes.get(step) {
                None => remaining.insert(step, node.is_member, node.nested.clone()),
                Some(removed) if removed.is_member => {}
                Some(removed) => remaining.insert(step, node.is_member, node.nested.without(&removed.nested)),
            }
        }
        remaining
    }

    /// Returns the set of the fields that are in both sets.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut shared = Self::default();
        for (step, node) in &self.nodes {
            if let Some(theirs) = other.nodes.get(step) {
                let is_member = node.is_member && theirs.is_member;
                shared.insert(step, is_member, node.nested.intersection(&theirs.nested));
            }
        }
        shared
    }

    /// Returns the paths of the members, as messages have them: `.spec.ports[k:{"port":80}].name`.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.add_paths("", &mut paths);
        paths
    }

    /// Adds the paths of all fields of the set to `paths`. `prefix` is the path of the field that contains this level.
    fn add_paths(&self, prefix: &str, paths: &mut Vec<String>) {
        for (step, node) in &self.nodes {
            let path = match step.strip_prefix("f:") {
                Some(name) => format!("{prefix}.{name}"),
                None => format!("{prefix}[{step}]"),
            };
            if node.is_member {
                paths.push(path.clone());
            }
            node.nested.add_paths(&path, paths);
        }
    }

    /// Decodes `FieldsV1`; `None` if it is no map of maps.
    pub(super) fn decode(fields: &Value) -> Option<Self> {
        let mut set = Self::default();
        for (step, inner) in fields.as_object()?.iter().filter(|(step, _)| *step != ".") {
            let nested = Self::decode(inner)?;
            let is_member = inner.get(".").is_some() || nested.is_empty();
            set.insert(step, is_member, nested);
        }
        Some(set)
    }

    /// Encodes the set as `FieldsV1`. As `FieldsV1` requires, a field that is in the set together with fields below it has the key `.`.
    pub(super) fn encode(&self) -> Value {
        let encode = |(step, node): (&String, &FieldNode)| {
            let mut nested = node.nested.encode();
            if let Some(fields) = nested.as_object_mut().filter(|fields| node.is_member && !fields.is_empty()) {
                fields.insert(".".to_owned(), Value::Object(Map::new()));
            }
            (step.clone(), nested)
        };
        Value::Object(self.nodes.iter().map(encode).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(fields: &Value) -> FieldSet {
        FieldSet::decode(fields).unwrap()
    }

    #[test]
    fn a_set_is_encoded_as_it_was_decoded() {
        let fields = json!({"f:spec": {".": {}, "f:a": {}, "f:list": {"k:{\"n\":1}": {".": {}, "f:n": {}}}}});
        assert_eq!(set(&fields).encode(), fields);
        assert_eq!(FieldSet::decode(&json!({"f:spec": 1})), None);
    }

    #[test]
    fn a_difference_keeps_what_is_below_a_removed_field() {
        let all = set(&json!({"f:spec": {".": {}, "f:a": {".": {}, "f:b": {}}}, "f:c": {}}));
        let removed = FieldSet::from_paths(&[&["spec", "a"], &["c"]]);
        assert_eq!(all.difference(&removed).encode(), json!({"f:spec": {".": {}, "f:a": {"f:b": {}}}}));
        assert_eq!(all.without(&removed).encode(), json!({"f:spec": {}}));
        assert_eq!(all.intersection(&removed), removed);
        assert_eq!(all.union(&removed), all);
        assert_eq!(removed.paths(), [".c", ".spec.a"]);
    }
}
