//! What a field says of the objects that it means, and which those are.

use super::selector::Selected;
use crate::{
    cache::{Header, ObjectKey},
    kind::Kind,
};
use opgen_api::reference::{ALLOW_FROM, NamespacedName, ReferenceField, ReferenceTarget};
use std::{collections::HashSet, fmt};

/// What a spec says of objects of a kind, with the field that does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pointer {
    pub(crate) field: &'static str,
    pub(crate) kind: Kind,
    pub(crate) to: To,
    pub(crate) reach: NamespaceRule,
}

/// Whether an object may be named from where it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceRule {
    /// It is in the namespace of the object that names it, or one of them is in none.
    Home,
    /// It is in another namespace than this, and has to allow it.
    From(String),
    /// It is in another namespace, and the field names none of these.
    Refused,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum To {
    One(ObjectKey),
    All(Selected),
}

impl Pointer {
    /// The one object that is named, if it is one.
    pub(crate) fn target(&self) -> Option<(Kind, ObjectKey)> {
        match &self.to {
            To::One(key) => Some((self.kind.clone(), key.clone())),
            To::All(_) => None,
        }
    }

    /// What the references of an object say.
    pub(crate) fn all<K>(references: &[ReferenceField<K>], object: &K, namespace: Option<&str>) -> Vec<Self> {
        let of_one = |reference: &ReferenceField<K>| {
            let (field, kind) = (reference.field, (reference.kind)());
            let pointer = |meant| {
                let to = To::new(&kind, namespace, meant);
                Self { field, kind: kind.clone(), reach: to.reach(namespace, reference.granted), to }
            };
            (reference.names)(object).into_iter().map(pointer).collect::<Vec<_>>()
        };
        references.iter().flat_map(of_one).collect()
    }
}

impl To {
    fn reach(&self, home: Option<&str>, granted: bool) -> NamespaceRule {
        match (self, home) {
            (Self::One(key), Some(home)) if key.namespace().is_some_and(|namespace| namespace != home) => match granted
            {
                true => NamespaceRule::From(home.to_owned()),
                false => NamespaceRule::Refused,
            },
            _ => NamespaceRule::Home,
        }
    }

    fn new(kind: &Kind, home: Option<&str>, meant: ReferenceTarget) -> Self {
        let named = |name: NamespacedName| {
            let namespace = name.namespace.as_deref().or(home).filter(|_| kind.namespaced);
            Self::One(ObjectKey::new(namespace, &name.name))
        };
        let labelled = |labels| {
            let namespace = home.filter(|_| kind.namespaced).map(str::to_owned);
            Self::All(Selected { namespace, labels })
        };
        meant.fold(named, labelled)
    }
}

/// Whether an object allows references from a namespace.
pub(crate) fn allows(header: &Header, namespace: &str) -> bool {
    let allowed = header.annotations.get(ALLOW_FROM).unwrap_or_default();
    allowed.split(',').map(str::trim).any(|one| one == namespace || one == "*")
}

/// An object that is named, with the field that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Empty for a node's.
    pub(crate) field: &'static str,
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    /// Whether it is meant for its labels, and so may as well not be there.
    pub(crate) selected: bool,
}

impl Named {
    /// Each object once: the first that names it speaks for it.
    pub(crate) fn once(named: Vec<Self>) -> Vec<Self> {
        let mut known = HashSet::new();
        named.into_iter().filter(|named| known.insert((named.kind.clone(), named.key.clone()))).collect()
    }
}

/// The object for people, with the field that names it: `spec.net: Net shop/blue`.
impl fmt::Display for Named {
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
    fn only_an_object_of_another_namespace_is_out_of_reach() {
        let kind = crate::kind::kind_of::<k8s_openapi::api::core::v1::ConfigMap>();
        let reach = |home, namespace: Option<&str>, granted| {
            let name = NamespacedName { name: "a".to_owned(), namespace: namespace.map(str::to_owned) };
            To::new(&kind, home, ReferenceTarget::Named(name)).reach(home, granted)
        };
        assert_eq!(reach(Some("shop"), None, false), NamespaceRule::Home);
        assert_eq!(reach(Some("shop"), Some("shop"), false), NamespaceRule::Home);
        assert_eq!(reach(Some("shop"), Some("other"), false), NamespaceRule::Refused);
        assert_eq!(reach(Some("shop"), Some("other"), true), NamespaceRule::From("shop".to_owned()));
        // What is in no namespace is made by those who may name everything.
        assert_eq!(reach(None, Some("other"), false), NamespaceRule::Home);
    }
}
