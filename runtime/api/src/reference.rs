//! Fields of a spec that name other objects, by name or by labels.

use crate::kind::Kind;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// A field of a spec that names objects of another kind; `#[managed(reference = Kind)]` makes it.
pub struct ReferenceField<K: 'static> {
    /// The field by its JSON path, for messages.
    pub field: &'static str,
    /// The kind of the objects.
    pub kind: fn() -> Kind,
    /// What the field says now.
    pub names: fn(&K) -> Vec<ReferenceTarget>,
    /// Whether the objects may be in another namespace than the one that names them, if they [allow it](ALLOW_FROM).
    /// Default: `false`; a field that names an object of another namespace is refused then.
    pub granted: bool,
}

impl<K> fmt::Debug for ReferenceField<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceField").field("field", &self.field).finish_non_exhaustive()
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
pub enum ReferenceTarget {
    /// One object, by its name.
    Named(NamespacedName),
    /// All objects with these labels, in the namespace of the object that selects them; of an object without a namespace, in
    /// all that the operator watches. Never the object itself.
    Labelled(LabelSelector),
}

impl ReferenceTarget {
    /// Calls the function of the variant. A new variant adds a parameter, so `opgen` can't ignore it.
    #[doc(hidden)]
    pub fn fold<T>(self, named: impl FnOnce(NamespacedName) -> T, labelled: impl FnOnce(LabelSelector) -> T) -> T {
        match self {
            Self::Named(name) => named(name),
            Self::Labelled(labels) => labelled(labels),
        }
    }
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
    fn names(&self) -> Vec<ReferenceTarget>;
}

impl Names for String {
    fn names(&self) -> Vec<ReferenceTarget> {
        NamespacedName::cluster(self).names()
    }
}

impl Names for NamespacedName {
    fn names(&self) -> Vec<ReferenceTarget> {
        if self.name.is_empty() { Vec::new() } else { vec![ReferenceTarget::Named(self.clone())] }
    }
}

impl Names for LabelSelector {
    fn names(&self) -> Vec<ReferenceTarget> {
        vec![ReferenceTarget::Labelled(self.clone())]
    }
}

impl<T: Names> Names for Option<T> {
    fn names(&self) -> Vec<ReferenceTarget> {
        self.iter().flat_map(Names::names).collect()
    }
}

impl<T: Names> Names for Vec<T> {
    fn names(&self) -> Vec<ReferenceTarget> {
        self.iter().flat_map(Names::names).collect()
    }
}

impl<T: Names> Names for BTreeSet<T> {
    fn names(&self) -> Vec<ReferenceTarget> {
        self.iter().flat_map(Names::names).collect()
    }
}

/// The schema of a [`LabelSelector`], for a field of a spec: `#[schemars(schema_with = "opgen::reference::label_selector")]`.
///
/// It needs no feature of `k8s-openapi`, and refuses at the API server what would select nothing sensible.
pub fn label_selector(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "The objects with all of these labels; empty for all objects.",
        "type": "object",
        "properties": {
            "matchLabels": {
                "description": "Labels with their values.",
                "type": "object",
                "additionalProperties": {"type": "string"},
            },
            "matchExpressions": {
                "description": "What else has to be true of the labels.",
                "type": "array",
                "x-kubernetes-list-type": "atomic",
                "items": {
                    "type": "object",
                    "required": ["key", "operator"],
                    "properties": {
                        "key": {"description": "The label.", "type": "string"},
                        "operator": {
                            "description": "What has to be true of it.",
                            "type": "string",
                            "enum": ["In", "NotIn", "Exists", "DoesNotExist"],
                        },
                        "values": {
                            "description": "The values of `In` and `NotIn`, one at least; none for the others.",
                            "type": "array",
                            "x-kubernetes-list-type": "atomic",
                            "items": {"type": "string"},
                        },
                    },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_names_what_its_type_can() {
        let named = |name: &str| ReferenceTarget::Named(NamespacedName::cluster(name));
        assert_eq!("a".to_owned().names(), [named("a")]);
        assert!(String::new().names().is_empty() && None::<String>.names().is_empty());
        assert_eq!(vec!["a".to_owned(), "b".to_owned()].names(), [named("a"), named("b")]);
        assert_eq!(Some(NamespacedName::cluster("a")).names(), [named("a")]);
        assert!(None::<LabelSelector>.names().is_empty());
        assert_eq!(LabelSelector::default().names(), [ReferenceTarget::Labelled(LabelSelector::default())]);
    }
}
