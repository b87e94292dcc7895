//! `Pointer`: a reference in a field of an object, by name or by label selector. `NamedTarget`: one object that such a reference names.

use super::selector::ScopedSelector;
use crate::{
    cache::{Header, ObjectKey},
    kind::Kind,
};
use opgen_api::reference::{ALLOW_FROM, NamespacedName, ReferenceField, ReferenceTarget};
use std::{collections::HashSet, fmt};

/// A reference in a field: the name of an object or a label selector, not yet resolved to existing objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pointer {
    pub(crate) field: &'static str,
    pub(crate) kind: Kind,
    pub(crate) to: PointerTarget,
    pub(crate) namespace_rule: NamespaceRule,
}

/// Whether a referrer may reference a target in view of their namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceRule {
    /// Allowed: both are in the same namespace, or one of them is cluster-scoped.
    Allowed,
    /// Allowed if the target, which is in another namespace, allows references from this namespace of the referrer.
    IfAllowedFrom(String),
    /// Refused: the target is in another namespace, and the field has no `grant`.
    Refused,
}

/// The target of a reference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PointerTarget {
    /// One object by its key.
    One(ObjectKey),
    /// All objects that a selector matches.
    All(ScopedSelector),
}

impl Pointer {
    /// Returns the kind and key of the target; `None` for a selector.
    pub(crate) fn target(&self) -> Option<(Kind, ObjectKey)> {
        match &self.to {
            PointerTarget::One(key) => Some((self.kind.clone(), key.clone())),
            PointerTarget::All(_) => None,
        }
    }

    /// Reads the values of the reference fields of an object in `namespace`, and returns a pointer for each name and each selector in them.
    pub(crate) fn all<K>(references: &[ReferenceField<K>], object: &K, namespace: Option<&str>) -> Vec<Self> {
        let pointers_of = |reference: &ReferenceField<K>| {
            let (field, kind) = (reference.field, (reference.kind)());
            let pointer = |target| {
                let to = PointerTarget::new(&kind, namespace, target);
                Self { field, kind: kind.clone(), namespace_rule: to.namespace_rule(namespace, reference.granted), to }
            };
            (reference.names)(object).into_iter().map(pointer).collect::<Vec<_>>()
        };
        references.iter().flat_map(pointers_of).collect()
    }
}

impl PointerTarget {
    /// Returns whether a referrer in the namespace `home` (`None` if it is cluster-scoped) may reference this target. `granted` is whether
    /// the field has the attribute `grant`, with which it can name objects in other namespaces that allow it.
    fn namespace_rule(&self, home: Option<&str>, granted: bool) -> NamespaceRule {
        match (self, home) {
            (Self::One(key), Some(home)) if key.namespace().is_some_and(|namespace| namespace != home) => match granted
            {
                true => NamespaceRule::IfAllowedFrom(home.to_owned()),
                false => NamespaceRule::Refused,
            },
            _ => NamespaceRule::Allowed,
        }
    }

    /// Converts the value of a reference field. `home` is the namespace of the referrer: a name without a namespace names an object in
    /// `home`, and a selector matches only objects there. A referrer without a namespace, or a cluster-scoped kind, has no such limit.
    fn new(kind: &Kind, home: Option<&str>, target: ReferenceTarget) -> Self {
        let named = |name: NamespacedName| {
            let namespace = name.namespace.as_deref().or(home).filter(|_| kind.namespaced);
            Self::One(ObjectKey::new(namespace, &name.name))
        };
        let labelled = |labels| {
            let namespace = home.filter(|_| kind.namespaced).map(str::to_owned);
            Self::All(ScopedSelector { namespace, labels })
        };
        target.fold(named, labelled)
    }
}

/// Returns whether the annotation [`ALLOW_FROM`] of an object allows references from a namespace.
pub(crate) fn allows(header: &Header, namespace: &str) -> bool {
    let allowed = header.annotations.get(ALLOW_FROM).unwrap_or_default();
    allowed.split(',').map(str::trim).any(|entry| entry == namespace || entry == "*")
}

/// An existing or missing target of a reference, with the field that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTarget {
    /// The JSON path of the field; empty for the reference of a node.
    pub(crate) field: &'static str,
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    /// Whether a selector matched it. Such a target doesn't have to exist.
    pub(crate) selected: bool,
}

impl NamedTarget {
    /// Removes duplicate targets; the first field that names a target is retained.
    pub(crate) fn deduplicate(named: Vec<Self>) -> Vec<Self> {
        let mut known = HashSet::new();
        named.into_iter().filter(|named| known.insert((named.kind.clone(), named.key.clone()))).collect()
    }
}

impl fmt::Display for NamedTarget {
    /// Writes the target with its field: `spec.net: Net shop/blue`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "{} {}", self.kind, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_allows_the_namespaces_of_its_annotation() {
        let allows = |value: &str, namespace: &str| {
            let object = serde_json::json!({"metadata": {"name": "a", "annotations": {ALLOW_FROM: value}}});
            Header::parse(object.to_string().as_bytes()).is_ok_and(|header| allows(&header, namespace))
        };
        assert!(allows("shop", "shop") && allows("a, shop ,b", "shop") && allows("*", "shop"));
        assert!(!allows("", "shop") && !allows("shops", "shop") && !allows("shop", "") && !allows("sh*", "shop"));
    }

    #[test]
    fn only_an_object_of_another_namespace_is_refused_without_a_grant() {
        let kind = crate::kind::kind_of::<k8s_openapi::api::core::v1::ConfigMap>();
        // The rule for a referrer in `home` whose field names an object in `namespace`.
        let namespace_rule = |home, namespace: Option<&str>, granted| {
            let name = NamespacedName { name: "a".to_owned(), namespace: namespace.map(str::to_owned) };
            PointerTarget::new(&kind, home, ReferenceTarget::Named(name)).namespace_rule(home, granted)
        };
        assert_eq!(namespace_rule(Some("shop"), None, false), NamespaceRule::Allowed);
        assert_eq!(namespace_rule(Some("shop"), Some("shop"), false), NamespaceRule::Allowed);
        assert_eq!(namespace_rule(Some("shop"), Some("other"), false), NamespaceRule::Refused);
        assert_eq!(namespace_rule(Some("shop"), Some("other"), true), NamespaceRule::IfAllowedFrom("shop".to_owned()));
        // A client that may create cluster-scoped objects may reference everything.
        assert_eq!(namespace_rule(None, Some("other"), false), NamespaceRule::Allowed);
    }
}
