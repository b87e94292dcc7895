//! Determines whether server-side apply merges a value as a whole (atomic), by list items, or by fields.

use serde_json::Value;

use super::Element;
use crate::schema::{List, ListKind, OtherFields, Scalar, Schema, Shape, builtin};

/// The type of a value in server-side apply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type<'a> {
    /// A whole object; its `metadata` always has the built-in type.
    Root(&'a Schema),
    Known(&'a Schema),
    /// Unknown: maps have fields, every other value is atomic.
    Deduced,
    /// Unknown and always atomic.
    Opaque,
}

/// The structure by which a value is merged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Structure<'a> {
    /// An atomic value: a scalar, or an atomic list or map.
    Leaf,
    /// A list whose items are identified by their keys or by their values.
    Items(&'a List),
    Map,
}

/// The type of a field of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldType<'a> {
    pub(crate) type_: Type<'a>,
    /// Whether the schema names the field; false for the keys of a map.
    pub(crate) in_schema: bool,
}

/// The reason why a list item can't be identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidItem {
    /// A null in a list whose items have keys.
    NullInMap,
    /// Another value than an object in a list whose items have keys.
    ScalarInMap,
    /// An object without any of the keys.
    NoKey,
    MapInSet,
    ListInSet,
    NullInSet,
}

impl<'a> Type<'a> {
    /// Returns the structure by which server-side apply merges a value of this type. Looks at the value itself only if
    /// the schema does not declare its structure; an absent value counts as a map then.
    pub(crate) fn structure(self, value: Option<&Value>) -> Structure<'a> {
        match self {
            Self::Opaque => Structure::Leaf,
            Self::Deduced => match value {
                Some(Value::Object(_) | Value::Null) | None => Structure::Map,
                Some(_) => Structure::Leaf,
            },
            Self::Root(schema) | Self::Known(schema) => match &schema.resolve().shape {
                Shape::Any | Shape::Named(_) | Shape::Scalar(Scalar::IntOrText) => Self::Deduced.structure(value),
                Shape::Scalar(_) => Structure::Leaf,
                Shape::Object(fields) if fields.atomic => Structure::Leaf,
                Shape::Object(_) => Structure::Map,
                Shape::List(list) if list.kind == ListKind::Atomic => Structure::Leaf,
                Shape::List(list) => Structure::Items(list),
            },
        }
    }

    /// Returns the type of the field `name` of an object with this type; `None` if the schema has no such field and
    /// allows no other fields.
    pub(crate) fn field(self, name: &str) -> Option<FieldType<'a>> {
        let (Self::Root(schema) | Self::Known(schema)) = self else {
            let type_ = if matches!(self, Self::Opaque) { Self::Opaque } else { Self::Deduced };
            return Some(FieldType { type_, in_schema: false });
        };
        if matches!(self, Self::Root(_)) && name == "metadata" {
            return Some(FieldType { type_: metadata(), in_schema: true });
        }
        // The schema of a custom kind need not declare these two.
        if matches!(self, Self::Root(_)) && matches!(name, "apiVersion" | "kind") {
            return Some(FieldType { type_: Self::Known(&TEXT), in_schema: true });
        }
        let Some(fields) = schema.fields() else { return Some(FieldType { type_: Self::Deduced, in_schema: false }) };
        if let Some(known) = fields.known.get(name) {
            return Some(FieldType { type_: Self::of_schema(known), in_schema: true });
        }
        let type_ = match &fields.others {
            OtherFields::Each(each) => Self::of_schema(each),
            OtherFields::Kept => Self::Deduced,
            OtherFields::Unknown if fields.known.is_empty() || fields.embedded => Self::Deduced,
            OtherFields::Unknown => return None,
        };
        Some(FieldType { type_, in_schema: false })
    }

    /// Returns the type of a value with a schema.
    fn of_schema(schema: &'a Schema) -> Self {
        match &schema.shape {
            // The content of a RawExtension is opaque to the server.
            Shape::Named(definition) if definition.name.ends_with(".RawExtension") => Self::Opaque,
            _ => Self::Known(schema),
        }
    }
}

/// The schema of a text.
static TEXT: Schema = Schema { shape: Shape::Scalar(Scalar::Text), nullable: false, default: None, keywords: None };

/// Returns the type of object metadata.
fn metadata() -> Type<'static> {
    let definition = builtin::definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    definition.map_or(Type::Deduced, |definition| Type::Known(definition.schema()))
}

/// Returns the type of the items of a list.
pub(crate) fn items(list: &List) -> Type<'_> {
    Type::of_schema(&list.items)
}

/// Returns the path element that identifies an item of a list: its keys, with their defaults if the item omits them, or
/// its value in a set.
///
/// # Errors
/// Returns the reason if the item can't be identified.
pub(crate) fn element(list: &List, item: &Value) -> Result<Element, InvalidItem> {
    let ListKind::Map(keys) = &list.kind else {
        return match item {
            Value::Object(_) => Err(InvalidItem::MapInSet),
            Value::Array(_) => Err(InvalidItem::ListInSet),
            Value::Null => Err(InvalidItem::NullInSet),
            scalar => Ok(Element::Value(scalar.clone())),
        };
    };
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err(InvalidItem::NullInMap),
        _ => return Err(InvalidItem::ScalarInMap),
    };
    let value = |key: &str| fields.get(key).or_else(|| list.items.field(key)?.default.as_ref()).cloned();
    let mut key_fields: Vec<_> = keys.iter().filter_map(|key| Some((key.clone(), value(key)?))).collect();
    key_fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    if key_fields.is_empty() { Err(InvalidItem::NoKey) } else { Ok(Element::Key(key_fields)) }
}

impl InvalidItem {
    /// Returns the message of kube-apiserver about an item of `list`.
    pub(crate) fn message(self, list: &List) -> String {
        match self {
            Self::NullInMap => "associative list with keys may not have a null element".to_owned(),
            Self::ScalarInMap => "associative list with keys may not have non-map elements".to_owned(),
            Self::MapInSet => "associative list without keys has an element that's a map type".to_owned(),
            Self::ListInSet => "not supported: associative list with lists as elements".to_owned(),
            Self::NullInSet => "associative list without keys has an element that's an explicit null".to_owned(),
            Self::NoKey => {
                let keys: &[Box<str>] = if let ListKind::Map(keys) = &list.kind { keys } else { &[] };
                let keys: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
                let keys = keys.join(" ");
                format!(
                    "associative list with keys has an element that omits all key fields [{keys}] (and doesn't have default values for any key fields)"
                )
            }
        }
    }
}
