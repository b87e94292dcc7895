//! What a field says of the objects that it means, and which those are.

use super::selector::Selected;
use crate::{
    cache::{Header, ObjectKey},
    kind::Kind,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeSet, HashSet},
    fmt,
};

/// A field of a spec that names objects of another kind; `#[managed(reference = Kind)]` makes it.
pub struct ReferenceField<K: 'static> {
    /// The field by its JSON path, for messages.
    pub field: &'static str,
    /// The kind of the objects.
    pub kind: fn() -> Kind,
    /// What the field says now.
    pub names: fn(&K) -> Vec<Meant>,
    /// Whether the objects may be in another namespace than the one that names them, if they [allow it](ALLOW_FROM).
    /// Default: `false`; a field that names an object of another namespace is refused then.
    pub granted: bool,
}

impl<K> fmt::Debug for ReferenceField<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("field", &self.field).finish_non_exhaustive()
    }
}

/// The annotation by which an object allows that objects of other namespaces reference it: these namespaces, separated by
/// commas, or `*` for all. Example: `opgen.dev/allow-references-from: shop, team-a`.
///
/// A reference keeps an object from being deleted, so it needs the word of who owns the object, as with the `ReferenceGrant` of
/// the Gateway API. An object without a namespace needs no annotation: everybody who may create a referrer may reference it, in
/// every namespace that the operator watches. The same holds for a referrer without a namespace. Without the annotation nobody learns whether there is such an object. Once the annotation no longer names a
/// namespace, the references from there are released.
pub const ALLOW_FROM: &str = "opgen.dev/allow-references-from";

/// An object by its name, and by its namespace if that is another than the one of the object that names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct NamespacedName {
    /// The name.
    pub name: String,
    /// The namespace. Default: that of the object that names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

impl NamespacedName {
    /// An object of that name, in no namespace or in that of the object that names it.
    pub fn cluster(name: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: None }
    }

    /// An object of that name in a namespace.
    pub fn in_namespace(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: Some(namespace.into()) }
    }
}

/// What a field says of objects.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Meant {
    /// One object, by its name.
    Named(NamespacedName),
    /// All objects with these labels, in the namespace of the object that selects them; of an object without a namespace, in
    /// all that the operator watches. Never the object itself.
    Labelled(LabelSelector),
}

/// A type of a field that names objects: a name, an optional one, several, or a label selector.
///
/// An empty name names nothing. A selector means what has its labels at the time: an object that begins to have them is
/// referenced and waited for, one that ceases is let go. As everywhere in Kubernetes, the empty selector `{}` means all
/// objects of the kind, and no selector (`None`) none. A selector that nothing matches is no fault: nothing is waited for,
/// and the pass goes on; who needs at least one says so in a node. An object that is being deleted is not taken up any more.
///
/// An object of a kind that this operator controls is ready when its controller has said so. Any other is judged as kstatus
/// judges it, by its own rule or by its conditions; one that has no conditions is ready.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` can't be a reference",
    label = "names no objects",
    note = "use `String`, `opgen::NamespacedName`, or an `Option`, `Vec` or `BTreeSet` of these",
    note = "or `LabelSelector` of `k8s-openapi`, for all objects with some labels"
)]
pub trait Names {
    /// What it says.
    fn names(&self) -> Vec<Meant>;
}

impl Names for String {
    fn names(&self) -> Vec<Meant> {
        NamespacedName::cluster(self).names()
    }
}

impl Names for NamespacedName {
    fn names(&self) -> Vec<Meant> {
        if self.name.is_empty() { Vec::new() } else { vec![Meant::Named(self.clone())] }
    }
}

impl Names for LabelSelector {
    fn names(&self) -> Vec<Meant> {
        vec![Meant::Labelled(self.clone())]
    }
}

impl<T: Names> Names for Option<T> {
    fn names(&self) -> Vec<Meant> {
        self.iter().flat_map(Names::names).collect()
    }
}

impl<T: Names> Names for Vec<T> {
    fn names(&self) -> Vec<Meant> {
        self.iter().flat_map(Names::names).collect()
    }
}

impl<T: Names> Names for BTreeSet<T> {
    fn names(&self) -> Vec<Meant> {
        self.iter().flat_map(Names::names).collect()
    }
}

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

    fn new(kind: &Kind, home: Option<&str>, meant: Meant) -> Self {
        match meant {
            Meant::Named(name) => {
                let namespace = name.namespace.as_deref().or(home).filter(|_| kind.namespaced);
                Self::One(ObjectKey::new(namespace, &name.name))
            }
            Meant::Labelled(labels) => {
                let namespace = home.filter(|_| kind.namespaced).map(str::to_owned);
                Self::All(Selected { namespace, labels })
            }
        }
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
            To::new(&kind, home, Meant::Named(name)).reach(home, granted)
        };
        assert_eq!(reach(Some("shop"), None, false), NamespaceRule::Home);
        assert_eq!(reach(Some("shop"), Some("shop"), false), NamespaceRule::Home);
        assert_eq!(reach(Some("shop"), Some("other"), false), NamespaceRule::Refused);
        assert_eq!(reach(Some("shop"), Some("other"), true), NamespaceRule::From("shop".to_owned()));
        // What is in no namespace is made by those who may name everything.
        assert_eq!(reach(None, Some("other"), false), NamespaceRule::Home);
    }

    #[test]
    fn a_field_names_what_its_type_can() {
        let named = |name: &str| Meant::Named(NamespacedName::cluster(name));
        assert_eq!("a".to_owned().names(), [named("a")]);
        assert!(String::new().names().is_empty() && None::<String>.names().is_empty());
        assert_eq!(vec!["a".to_owned(), "b".to_owned()].names(), [named("a"), named("b")]);
        assert_eq!(Some(NamespacedName::cluster("a")).names(), [named("a")]);
        assert!(None::<LabelSelector>.names().is_empty());
        assert_eq!(LabelSelector::default().names(), [Meant::Labelled(LabelSelector::default())]);
    }
}
