//! `Element`: one step of a field path in `managedFields`, such as a field name or the key of a list item, with its encoding and its order.

use std::{cmp::Ordering, fmt};

use serde_json::Value;

/// A step from a value to a value that it contains.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    /// A field of an object: `f:replicas`.
    Field(Box<str>),
    /// An item of a list, identified by some of its fields, sorted by name: `k:{"type":"Ready"}`.
    Key(Vec<(Box<str>, Value)>),
    /// An item of a set: `v:"a"`.
    Value(Value),
    /// An item by its index: `i:0`.
    Index(i64),
}

impl Element {
    /// Returns the element of a field with a name.
    pub(crate) fn field(name: &str) -> Self {
        Self::Field(name.into())
    }

    /// Decodes a key of `FieldsV1`, such as `f:replicas`; `None` if the key is not a valid path element.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let (prefix, encoded) = (text.get(..2)?, text.get(2..)?);
        match prefix {
            "f:" => Some(Self::field(encoded)),
            "v:" => serde_json::from_str(encoded).ok().map(Self::Value),
            "i:" => encoded.parse().ok().map(Self::Index),
            "k:" => {
                let Value::Object(fields) = serde_json::from_str(encoded).ok()? else { return None };
                let mut key: Vec<_> = fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
                key.sort_by(|(a, _): &(Box<str>, Value), (b, _)| a.cmp(b));
                Some(Self::Key(key))
            }
            _ => None,
        }
    }

    /// Encodes the element as a key of `FieldsV1`.
    pub(super) fn encode(&self) -> String {
        match self {
            Self::Field(name) => ["f:", name].concat(),
            Self::Value(value) => format!("v:{value}"),
            Self::Index(index) => format!("i:{index}"),
            Self::Key(key) => {
                let fields: Vec<_> =
                    key.iter().map(|(name, value)| format!("{}:{value}", Value::from(&**name))).collect();
                format!("k:{{{}}}", fields.join(","))
            }
        }
    }

    /// Returns the rank of the variant in the order: fields first, then keys, values and indices.
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl fmt::Display for Element {
    /// Formats the element as in conflict messages of kube-apiserver: `.replicas`, `[type="Ready"]`, `[="a"]`, `[0]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(key) => {
                let fields: Vec<_> = key.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "[{}]", fields.join(","))
            }
        }
    }
}

impl Ord for Element {
    /// Orders elements as in `managedFields`: fields, then keys, values and indices; elements of one variant by their contents. Of two
    /// keys, the first pair of name and value that differs decides.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            (Self::Value(a), Self::Value(b)) => compare_values(a, b),
            (Self::Key(a), Self::Key(b)) => {
                let pairs = a.iter().zip(b).map(|((name, value), (other, other_value))| {
                    name.cmp(other).then_with(|| compare_values(value, other_value))
                });
                pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Element {}

/// Orders JSON values: numbers, then strings, booleans, lists, objects and null. Lists and objects are ordered by their JSON text.
fn compare_values(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => x.as_f64().unwrap_or(0.0).total_cmp(&y.as_f64().unwrap_or(0.0)),
        },
        (Value::String(x), Value::String(y)) => x.cmp(y),
        (Value::Bool(x), Value::Bool(y)) => x.cmp(y),
        _ => scalar_rank(a).cmp(&scalar_rank(b)).then_with(|| a.to_string().cmp(&b.to_string())),
    }
}

/// Returns the rank of the type of a JSON value in the order of [`compare_values`].
fn scalar_rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_decoded_from_and_encoded_as_fields_v1() {
        for text in ["f:replicas", "v:\"a\"", "v:5", "i:0", "k:{\"containerPort\":80,\"protocol\":\"TCP\"}", "f:a:b"] {
            assert_eq!(Element::decode(text).unwrap().encode(), text);
        }
        for text in ["", ".", "x:1", "v:", "k:[]", "i:a"] {
            assert_eq!(Element::decode(text), None, "{text}");
        }
    }

    #[test]
    fn elements_are_ordered_by_variant_then_by_value() {
        let ordered = ["f:a", "f:b", "k:{\"port\":80}", "k:{\"port\":443}", "v:2", "v:10", "v:\"a\"", "i:1"];
        let mut elements: Vec<_> = ordered.iter().map(|text| Element::decode(text).unwrap()).collect();
        elements.reverse();
        elements.sort();
        assert_eq!(elements.iter().map(Element::encode).collect::<Vec<_>>(), ordered);
    }
}
