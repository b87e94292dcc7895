//! Defines the types of spec fields that reference other objects, by name or by label selector.

use crate::{bucket::KindInBucket, kind::Kind};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// A field of a spec that names objects of another kind, as `#[managed(reference = Kind)]` declares it.
pub struct ReferenceField<K: 'static> {
    /// The JSON path of the field, for messages.
    pub field: &'static str,
    /// Returns the kind of the named objects.
    pub kind: fn() -> Kind,
    /// Returns the bucket of the kind; `None` for a kind in Kubernetes.
    pub bucket: fn() -> Option<KindInBucket>,
    /// Returns the current targets of the field.
    pub names: fn(&K) -> Vec<ReferenceTarget>,
    /// Whether the field may name objects in other namespaces that [allow it](ALLOW_FROM). Default: `false`, which refuses the
    /// name of an object in another namespace.
    pub granted: bool,
}

impl<K> fmt::Debug for ReferenceField<K> {
    /// Shows the JSON path of the field only; the other fields are functions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceField").field("field", &self.field).finish_non_exhaustive()
    }
}

/// The annotation of an object that lists the other namespaces from which objects may reference it, separated by commas, or `*`
/// for all.
/// Example: `opgen.dev/allow-references-from: shop, team-a`.
///
/// A reference keeps an object from being deleted, so the owner of the object has to permit it, as with the `ReferenceGrant` of
/// the
/// Gateway API. A cluster-scoped object needs no annotation: every client that may create a referrer, in any namespace that the
/// operator watches, may reference it. A cluster-scoped referrer needs no annotation on its targets either. Without the
/// annotation, the status of a referrer doesn't reveal whether the object exists. If the annotation no longer lists a namespace,
/// the references from there are released.
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
    /// Returns the name of a cluster-scoped object, or of an object in the namespace of the object that names it.
    pub fn cluster(name: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: None }
    }

    /// Returns the name of an object in a namespace.
    pub fn in_namespace(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: Some(namespace.into()) }
    }
}

/// The target of a reference in a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReferenceTarget {
    /// One object, by its name.
    Named(NamespacedName),
    /// All objects with these labels in the namespace of the referrer, except the referrer itself. For a cluster-scoped referrer,
    /// the objects in all namespaces that the operator watches.
    Labelled(LabelSelector),
}

impl ReferenceTarget {
    /// Calls the function for the variant with its content, and returns the result. `opgen` uses this instead of a `match`, which would
    /// need a wildcard for the non-exhaustive enum: a new variant adds a parameter, so the compiler reports each use.
    #[doc(hidden)]
    pub fn fold<T>(self, named: impl FnOnce(NamespacedName) -> T, labelled: impl FnOnce(LabelSelector) -> T) -> T {
        match self {
            Self::Named(name) => named(name),
            Self::Labelled(labels) => labelled(labels),
        }
    }
}

/// A type of a field that names objects: a name, an optional name, several names, or a label selector.
///
/// An empty name names no object. A selector matches the objects that currently have its labels: an object that gets the labels
/// is referenced and waited for, and one that loses them is released. As everywhere in Kubernetes, the empty selector `{}`
/// matches all objects of the kind, and an absent selector (`None`) matches none. A selector without a match is no error: the
/// pass waits for nothing and continues. If at least one object is required, check it in a node. An object that is already being
/// deleted gets no new reference.
///
/// An object of a kind that this operator controls is ready when its controller has set its conditions accordingly. Any other
/// object is ready by the rules of kstatus, by the rule of its kind or by its conditions; an object without conditions is ready.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` can't be a reference",
    label = "can't name objects",
    note = "use `String`, `opgen::NamespacedName`, or an `Option`, `Vec` or `BTreeSet` of these",
    note = "or `LabelSelector` of `k8s-openapi`, for all objects with some labels"
)]
pub trait Names {
    /// Returns the targets.
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

/// Returns the schema of a [`LabelSelector`] for a field of a spec:
/// `#[schemars(schema_with = "opgen::reference::label_selector")]`.
///
/// It needs no feature of `k8s-openapi`. With it, the API server refuses a selector with an unknown operator or without a key.
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
                "description": "Further requirements on the labels.",
                "type": "array",
                "x-kubernetes-list-type": "atomic",
                "items": {
                    "type": "object",
                    "required": ["key", "operator"],
                    "properties": {
                        "key": {"description": "The label.", "type": "string"},
                        "operator": {
                            "description": "The relation of the label to the values.",
                            "type": "string",
                            "enum": ["In", "NotIn", "Exists", "DoesNotExist"],
                        },
                        "values": {
                            "description": "The values of `In` and `NotIn`, at least one; empty for other operators.",
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
    fn each_supported_type_returns_its_targets() {
        let named = |name: &str| ReferenceTarget::Named(NamespacedName::cluster(name));
        assert_eq!("a".to_owned().names(), [named("a")]);
        assert!(String::new().names().is_empty() && None::<String>.names().is_empty());
        assert_eq!(vec!["a".to_owned(), "b".to_owned()].names(), [named("a"), named("b")]);
        assert_eq!(Some(NamespacedName::cluster("a")).names(), [named("a")]);
        assert!(None::<LabelSelector>.names().is_empty());
        assert_eq!(LabelSelector::default().names(), [ReferenceTarget::Labelled(LabelSelector::default())]);
    }
}
