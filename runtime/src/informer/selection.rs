//! Which objects of a kind are meant.

use crate::cache::Header;
use serde_json::Value;
use std::collections::BTreeMap;

/// The objects that have all of these labels and all of these fields. The server selects them, for the list and for the watch:
/// others cost the operator nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// The labels, by name.
    pub labels: BTreeMap<String, String>,
    /// The fields, by path without a leading dot: `spec.class`.
    pub fields: BTreeMap<String, String>,
}

impl Selection {
    /// Whether all objects are meant.
    pub fn is_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn label_selector(&self) -> Option<String> {
        selector(&self.labels)
    }

    pub(crate) fn field_selector(&self) -> Option<String> {
        selector(&self.fields)
    }

    /// Selectors that have among them every object that is not meant: labels, and fields.
    pub(crate) fn of_others(&self) -> Vec<(Option<String>, Option<String>)> {
        let one = |(name, value): (&String, &String)| Some(format!("{name}!={}", escaped(value)));
        let labels = self.labels.iter().map(|label| (one(label), None));
        labels.chain(self.fields.iter().map(|field| (None, one(field)))).collect()
    }

    /// Whether an object has the labels.
    pub(crate) fn has_labels(&self, header: &Header) -> bool {
        self.labels.iter().all(|(name, value)| header.labels.get(name) == Some(value))
    }

    /// Whether an object is meant. What it lacks is an empty text, as to the server.
    pub(crate) fn includes(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        let has = |(path, value): (&String, &String)| {
            let field = path.split('.').fold(object, |part, name| &part[name]);
            match field {
                Value::Null => value.is_empty(),
                Value::String(text) => text == value,
                Value::Number(number) => number.to_string() == *value,
                Value::Bool(is) => value.parse() == Ok(*is),
                Value::Array(_) | Value::Object(_) => false,
            }
        };
        self.labels.iter().all(|(name, value)| labels[name.as_str()] == value.as_str()) && self.fields.iter().all(has)
    }
}

fn selector(wanted: &BTreeMap<String, String>) -> Option<String> {
    let all: Vec<_> = wanted.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    (!all.is_empty()).then(|| all.join(","))
}

/// A field may have any text; a label's has nothing to escape.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=")
}

#[cfg(test)]
mod tests {
    use super::Selection;
    use serde_json::json;

    #[test]
    fn an_object_is_meant_if_it_has_all_labels_and_fields() {
        let pairs = |pairs: [(&str, &str); 2]| pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let selection = Selection {
            labels: pairs([("app", "web"), ("class", "a")]),
            fields: pairs([("spec.class", "blue"), ("spec.size", "3")]),
        };
        let object = |class: &str, blue: &str| json!({"metadata": {"labels": {"app": "web", "class": class}}, "spec": {"class": blue, "size": 3}});
        assert!(selection.includes(&object("a", "blue")));
        assert!(!selection.includes(&object("b", "blue")) && !selection.includes(&object("a", "red")));
        assert!(!selection.includes(&json!({})) && Selection::default().includes(&json!({})));
        assert_eq!(selection.label_selector().as_deref(), Some("app=web,class=a"));
        assert_eq!(selection.of_others()[1], (Some("class!=a".to_owned()), None));
        assert_eq!(selection.of_others()[2], (None, Some("spec.class!=blue".to_owned())));
    }

    #[test]
    fn a_field_may_have_any_text() {
        let selection =
            Selection { fields: [("spec.class".to_owned(), r"a=b,c\d".to_owned())].into(), ..Selection::default() };
        assert_eq!(selection.field_selector().as_deref(), Some(r"spec.class=a\=b\,c\\d"));
        assert!(selection.includes(&json!({"spec": {"class": r"a=b,c\d"}})));
    }
}
