//! `Set`: a set of fields, with its operations and its encoding as `FieldsV1`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Element;

/// A set of field paths as a tree (upstream: `fieldpath.Set`). The set can contain a field without the fields inside
/// it, and fields inside a field without the field itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set {
    nodes: BTreeMap<Element, SetNode>,
}

/// A field of a set, and the fields inside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SetNode {
    /// Whether the field itself is in the set.
    member: bool,
    children: Set,
}

/// A field of one level of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetEntry<'a> {
    pub(crate) element: &'a Element,
    /// Whether the field itself is in the set.
    pub(crate) member: bool,
    /// The fields under it that are in the set.
    pub(crate) children: &'a Set,
}

impl SetNode {
    /// Returns whether neither the field nor a field inside it is in the set.
    fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

impl Set {
    /// Builds a set from paths of field names.
    pub(crate) fn from_paths(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            if let Some((last, parents)) = path.split_last() {
                let mut parent = &mut set;
                for name in parents {
                    parent = &mut parent.nodes.entry(Element::field(name)).or_default().children;
                }
                parent.insert(Element::field(last));
            }
        }
        set
    }

    /// Returns whether the set has no fields.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds a field of the top level of the set.
    pub(crate) fn insert(&mut self, element: Element) {
        self.nodes.entry(element).or_default().member = true;
    }

    /// Adds the fields of `children` under a field, and the field itself if it is a `member`.
    pub(crate) fn insert_subtree(&mut self, element: &Element, member: bool, children: Self) {
        if !member && children.is_empty() {
            return;
        }
        let node = self.nodes.entry(element.clone()).or_default();
        node.member |= member;
        if node.children.is_empty() {
            node.children = children;
        } else {
            node.children.insert_all(children);
        }
    }

    /// Returns whether a field of the top level is in the set, apart from the fields inside it.
    pub(crate) fn has(&self, element: &Element) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// Returns whether the set contains the field at a path of field names.
    pub(crate) fn has_path(&self, path: &[&str]) -> bool {
        let Some((last, parents)) = path.split_last() else { return false };
        let parent = parents.iter().try_fold(self, |set, name| set.children(&Element::field(name)));
        parent.is_some_and(|set| set.has(&Element::field(last)))
    }

    /// Returns the part of the set under a field of the top level; `None` if it is empty.
    pub(crate) fn children(&self, element: &Element) -> Option<&Self> {
        self.nodes.get(element).map(|node| &node.children).filter(|children| !children.is_empty())
    }

    /// Returns the fields of the top level, each with the part of the set under it.
    pub(crate) fn level(&self) -> impl Iterator<Item = SetEntry<'_>> {
        self.nodes.iter().map(|(element, node)| SetEntry { element, member: node.member, children: &node.children })
    }

    /// Returns the fields that are in at least one of the sets.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.insert_all(other.clone());
        union
    }

    /// Adds the fields of another set.
    pub(crate) fn insert_all(&mut self, other: Self) {
        if self.nodes.is_empty() {
            *self = other;
            return;
        }
        for (element, node) in other.nodes {
            if node.is_empty() {
                continue;
            }
            let ours = self.nodes.entry(element).or_default();
            ours.member |= node.member;
            ours.children.insert_all(node.children);
        }
    }

    /// Removes the fields of the other set; a field stays if the other set contains only a parent of it.
    pub(crate) fn subtract(&mut self, other: &Self) {
        for (element, theirs) in &other.nodes {
            let Some(ours) = self.nodes.get_mut(element) else { continue };
            ours.member &= !theirs.member;
            ours.children.subtract(&theirs.children);
            if ours.is_empty() {
                self.nodes.remove(element);
            }
        }
    }

    /// Returns the fields that are in both sets.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.combine_shared(other, |ours, theirs| SetNode {
            member: ours.member && theirs.member,
            children: ours.children.intersection(&theirs.children),
        })
    }

    /// Returns the fields of this set that are not in the other. A field stays if the other set contains only a parent
    /// of it (upstream: `Difference`).
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        difference.subtract(other);
        difference
    }

    /// Returns the fields of this set except for the fields of the other set and everything inside them (upstream:
    /// `RecursiveDifference`).
    pub(crate) fn without(&self, other: &Self) -> Self {
        self.map_shared(other, |ours, theirs| {
            if theirs.member {
                return SetNode::default();
            }
            SetNode { member: ours.member, children: ours.children.without(&theirs.children) }
        })
    }

    /// Combines the nodes that both sets have; drops all other nodes.
    fn combine_shared(&self, other: &Self, each: impl Fn(&SetNode, &SetNode) -> SetNode) -> Self {
        let shared = self.nodes.iter().filter_map(|(element, ours)| Some((element, ours, other.nodes.get(element)?)));
        let nodes = shared.map(|(element, ours, theirs)| (element.clone(), each(ours, theirs)));
        Self { nodes: nodes.filter(|(_, node)| !node.is_empty()).collect() }
    }

    /// Changes the nodes that both sets have; keeps all other nodes.
    fn map_shared(&self, other: &Self, each: impl Fn(&SetNode, &SetNode) -> SetNode) -> Self {
        let nodes = self.nodes.iter().map(|(element, ours)| {
            let node = other.nodes.get(element).map_or_else(|| ours.clone(), |theirs| each(ours, theirs));
            (element.clone(), node)
        });
        Self { nodes: nodes.filter(|(_, node)| !node.is_empty()).collect() }
    }

    /// Returns the paths in the order of a conflict message: in each object, the fields themselves come before the
    /// fields inside them.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.add_paths("", &mut paths);
        paths
    }

    /// Appends the paths of this set to `paths`, each after `prefix`, which is the path of the field that holds this set.
    fn add_paths(&self, prefix: &str, paths: &mut Vec<String>) {
        paths.extend(self.level().filter(|entry| entry.member).map(|entry| format!("{prefix}{}", entry.element)));
        for SetEntry { element, children, .. } in self.level().filter(|entry| !entry.children.is_empty()) {
            children.add_paths(&format!("{prefix}{element}"), paths);
        }
    }

    /// Decodes a `FieldsV1`; `None` if it is invalid. A field is in the set if its value has a `.` key or contains no
    /// other field.
    pub(crate) fn decode(fields: &Value) -> Option<Self> {
        let mut set = Self::default();
        for (name, inner) in fields.as_object()? {
            if name == "." {
                continue;
            }
            let element = Element::decode(name)?;
            let children = Self::decode(inner)?;
            let member = inner.get(".").is_some() || children.is_empty();
            set.insert_subtree(&element, member, children);
        }
        Some(set)
    }

    /// Encodes the set as `FieldsV1`. A member that contains other members gets a `.` key.
    pub(crate) fn encode(&self) -> Value {
        let encoded = |node: &SetNode| {
            let Value::Object(mut children) = node.children.encode() else { return Value::Null };
            if node.member && !children.is_empty() {
                children.insert(".".into(), Value::Object(Map::new()));
            }
            Value::Object(children)
        };
        Value::Object(self.nodes.iter().map(|(element, node)| (element.encode(), encoded(node))).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Decodes a `FieldsV1`.
    fn set(fields: &Value) -> Set {
        Set::decode(fields).unwrap()
    }

    #[test]
    fn sets_are_read_and_written_as_fields_v1() {
        let fields = json!({"f:spec": {".": {}, "f:a": {}, "f:b": {"k:{\"n\":1}": {".": {}, "f:n": {}}}}});
        assert_eq!(set(&fields).encode(), fields);
        assert_eq!(Set::decode(&json!({"spec": {}})), None);
        assert_eq!(Set::decode(&json!("f:spec")), None);
    }

    #[test]
    fn difference_keeps_nested_fields_and_without_drops_them() {
        let all = set(&json!({"f:spec": {".": {}, "f:a": {".": {}, "f:b": {}}}, "f:c": {}}));
        let removed = Set::from_paths(&[&["spec", "a"], &["c"]]);
        assert_eq!(all.difference(&removed).encode(), json!({"f:spec": {".": {}, "f:a": {"f:b": {}}}}));
        assert_eq!(all.without(&removed).encode(), json!({"f:spec": {}}));
        assert!(all.without(&Set::from_paths(&[&["spec"], &["c"]])).is_empty());
        assert_eq!(all.intersection(&removed), removed);
    }

    #[test]
    fn a_union_has_the_members_of_both() {
        let (a, b) = (set(&json!({"f:a": {"f:b": {}}})), set(&json!({"f:a": {}, "f:c": {}})));
        assert_eq!(a.union(&b).encode(), json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
    }

    #[test]
    fn paths_are_listed_level_by_level() {
        let fields = json!({"f:b": {".": {}, "k:{\"n\":\"x\",\"p\":1}": {"f:n": {}}}, "f:a": {"v:\"q\"": {}}});
        assert_eq!(set(&fields).paths(), [".b", ".a[=\"q\"]", ".b[n=\"x\",p=1].n"]);
    }
}
