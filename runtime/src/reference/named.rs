//! What a field says of the objects that it means, and which those are.

use super::selector::Selected;
use crate::{cache::ObjectKey, kind::Kind};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeSet, HashSet},
    fmt,
};

/// A field of a spec that names objects of another kind; `#[managed(reference = Kind)]` makes it.
pub struct Reference<K: 'static> {
    /// The field by its JSON path, for messages.
    pub field: &'static str,
    /// The kind of the objects.
    pub kind: fn() -> Kind,
    /// What the field says now.
    pub names: fn(&K) -> Vec<Meant>,
}

impl<K> fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("field", &self.field).finish_non_exhaustive()
    }
}

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
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum To {
    One(ObjectKey),
    All(Selected),
}

impl Pointer {
    /// What the references of an object say.
    pub(crate) fn all<K>(references: &[Reference<K>], object: &K, namespace: Option<&str>) -> Vec<Self> {
        let of_one = |reference: &Reference<K>| {
            let (field, kind) = (reference.field, (reference.kind)());
            let pointer = |meant| Self { field, kind: kind.clone(), to: To::new(&kind, namespace, meant) };
            (reference.names)(object).into_iter().map(pointer).collect::<Vec<_>>()
        };
        references.iter().flat_map(of_one).collect()
    }
}

impl To {
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
