//! Defines a set of fields and its `fieldsV1` encoding.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Element;

/// Field paths as a tree. The set can contain a field without the fields inside it, and the reverse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set {
    nodes: BTreeMap<Element, SetNode>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SetNode {
    /// Whether the field itself is in the set.
    member: bool,
    below: Set,
}

impl SetNode {
    fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

impl Set {
    /// Builds a set from paths of field names.
    pub(crate) fn of(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            if let Some((last, before)) = path.split_last() {
                let mut here = &mut set;
                for name in before {
                    here = &mut here.nodes.entry(Element::field(name)).or_default().below;
                }
                here.insert(Element::field(last));
            }
        }
        set
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds a field of this level.
    pub(crate) fn insert(&mut self, element: Element) {
        self.nodes.entry(element).or_default().member = true;
    }

    /// Adds the fields of `below` under a field, and the field itself if it is a `member`.
    pub(crate) fn graft(&mut self, element: &Element, member: bool, below: Self) {
        if !member && below.is_empty() {
            return;
        }
        let node = self.nodes.entry(element.clone()).or_default();
        node.member |= member;
        if node.below.is_empty() {
            node.below = below;
        } else {
            node.below.absorb(below);
        }
    }

    /// Whether a field of this level is in the set.
    pub(crate) fn has(&self, element: &Element) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// Whether the set contains the field at a path of field names.
    pub(crate) fn has_path(&self, path: &[&str]) -> bool {
        let Some((last, before)) = path.split_last() else { return false };
        let at = before.iter().try_fold(self, |set, name| set.below(&Element::field(name)));
        at.is_some_and(|set| set.has(&Element::field(last)))
    }

    /// The part of the set under a field of this level.
    pub(crate) fn below(&self, element: &Element) -> Option<&Self> {
        self.nodes.get(element).map(|node| &node.below).filter(|below| !below.is_empty())
    }

    /// The fields of this level: whether each is a member, and the set under it.
    pub(crate) fn level(&self) -> impl Iterator<Item = (&Element, bool, &Self)> {
        self.nodes.iter().map(|(element, node)| (element, node.member, &node.below))
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.absorb(other.clone());
        both
    }

    /// Adds the fields of another set.
    pub(crate) fn absorb(&mut self, other: Self) {
        if self.nodes.is_empty() {
            *self = other;
            return;
        }
        for (element, node) in other.nodes {
            if node.is_empty() {
                continue;
            }
            let own = self.nodes.entry(element).or_default();
            own.member |= node.member;
            own.below.absorb(node.below);
        }
    }

    /// Removes the fields of the other set; a field stays if the other set contains only a parent of it.
    pub(crate) fn subtract(&mut self, other: &Self) {
        for (element, theirs) in &other.nodes {
            let Some(own) = self.nodes.get_mut(element) else { continue };
            own.member &= !theirs.member;
            own.below.subtract(&theirs.below);
            if own.is_empty() {
                self.nodes.remove(element);
            }
        }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.combined(other, |own, theirs| SetNode {
            member: own.member && theirs.member,
            below: own.below.intersection(&theirs.below),
        })
    }

    /// The fields of this set that are not in the other; a field stays if the other set contains only a parent of it.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.subtract(other);
        rest
    }

    /// The fields of this set for which the other set contains neither the field nor a parent of it.
    pub(crate) fn without(&self, other: &Self) -> Self {
        self.reduced(other, |own, theirs| {
            if theirs.member {
                return SetNode::default();
            }
            SetNode { member: own.member, below: own.below.without(&theirs.below) }
        })
    }

    /// Combines the nodes that both sets have; drops all other nodes.
    fn combined(&self, other: &Self, each: impl Fn(&SetNode, &SetNode) -> SetNode) -> Self {
        let shared = self.nodes.iter().filter_map(|(element, own)| Some((element, own, other.nodes.get(element)?)));
        let nodes = shared.map(|(element, own, theirs)| (element.clone(), each(own, theirs)));
        Self { nodes: nodes.filter(|(_, node)| !node.is_empty()).collect() }
    }

    /// Changes the nodes that both sets have; keeps all other nodes.
    fn reduced(&self, other: &Self, each: impl Fn(&SetNode, &SetNode) -> SetNode) -> Self {
        let nodes = self.nodes.iter().map(|(element, own)| {
            let node = other.nodes.get(element).map_or_else(|| own.clone(), |theirs| each(own, theirs));
            (element.clone(), node)
        });
        Self { nodes: nodes.filter(|(_, node)| !node.is_empty()).collect() }
    }

    /// The paths of the set as a conflict message lists them: the fields of a level before those under them.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.list("", &mut paths);
        paths
    }

    fn list(&self, before: &str, paths: &mut Vec<String>) {
        paths.extend(self.level().filter(|(_, member, _)| *member).map(|(element, _, _)| format!("{before}{element}")));
        for (element, _, below) in self.level().filter(|(_, _, below)| !below.is_empty()) {
            below.list(&format!("{before}{element}"), paths);
        }
    }

    /// Decodes `FieldsV1`; `None` if it is invalid.
    pub(crate) fn decoded(fields: &Value) -> Option<Self> {
        let mut set = Self::default();
        for (name, inner) in fields.as_object()? {
            if name == "." {
                continue;
            }
            let element = Element::decoded(name)?;
            let below = Self::decoded(inner)?;
            let member = inner.get(".").is_some() || below.is_empty();
            set.graft(&element, member, below);
        }
        Some(set)
    }

    /// Encodes the set as `FieldsV1`; a member that contains other members gets a `.` key.
    pub(crate) fn encoded(&self) -> Value {
        let encoded = |node: &SetNode| {
            let Value::Object(mut below) = node.below.encoded() else { return Value::Null };
            if node.member && !below.is_empty() {
                below.insert(".".into(), Value::Object(Map::new()));
            }
            Value::Object(below)
        };
        Value::Object(self.nodes.iter().map(|(element, node)| (element.encoded(), encoded(node))).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(fields: &Value) -> Set {
        Set::decoded(fields).unwrap()
    }

    #[test]
    fn sets_are_read_and_written_as_fields_v1() {
        let written = json!({"f:spec": {".": {}, "f:a": {}, "f:b": {"k:{\"n\":1}": {".": {}, "f:n": {}}}}});
        assert_eq!(set(&written).encoded(), written);
        assert_eq!(Set::decoded(&json!({"spec": {}})), None);
        assert_eq!(Set::decoded(&json!("f:spec")), None);
    }

    #[test]
    fn difference_keeps_nested_fields_and_without_drops_them() {
        let all = set(&json!({"f:spec": {".": {}, "f:a": {".": {}, "f:b": {}}}, "f:c": {}}));
        let some = Set::of(&[&["spec", "a"], &["c"]]);
        assert_eq!(all.difference(&some).encoded(), json!({"f:spec": {".": {}, "f:a": {"f:b": {}}}}));
        assert_eq!(all.without(&some).encoded(), json!({"f:spec": {}}));
        assert!(all.without(&Set::of(&[&["spec"], &["c"]])).is_empty());
        assert_eq!(all.intersection(&some), some);
    }

    #[test]
    fn a_union_has_the_members_of_both() {
        let (a, b) = (set(&json!({"f:a": {"f:b": {}}})), set(&json!({"f:a": {}, "f:c": {}})));
        assert_eq!(a.union(&b).encoded(), json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
    }

    #[test]
    fn paths_are_listed_level_by_level() {
        let written = json!({"f:b": {".": {}, "k:{\"n\":\"x\",\"p\":1}": {"f:n": {}}}, "f:a": {"v:\"q\"": {}}});
        assert_eq!(set(&written).paths(), [".b", ".a[=\"q\"]", ".b[n=\"x\",p=1].n"]);
    }
}
