//! `Selection` selects the primaries of a controller by labels and fields, and formats the selectors of requests.

use crate::cache::Header;
use serde_json::Value;
use std::collections::BTreeMap;

/// Selects the objects that have all of these labels and all of these fields. The API server applies the selectors to the list
/// and to the watch, so other objects cost the operator nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Selection {
    /// The labels, by name.
    pub(crate) labels: BTreeMap<String, String>,
    /// The fields, by path without a leading dot: `spec.class`.
    pub(crate) fields: BTreeMap<String, String>,
}

impl Selection {
    /// Returns whether it selects all objects.
    pub(crate) fn is_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn label_selector(&self) -> Option<String> {
        format_selector(&self.labels)
    }

    pub(crate) fn field_selector(&self) -> Option<String> {
        format_selector(&self.fields)
    }

    /// Returns pairs of a label selector and a field selector. Together they select every object that this selection doesn't.
    pub(crate) fn inverse_selectors(&self) -> Vec<(Option<String>, Option<String>)> {
        let not_equal = |(name, value): (&String, &String)| Some(format!("{name}!={}", escape(value)));
        let labels = self.labels.iter().map(|label| (not_equal(label), None));
        labels.chain(self.fields.iter().map(|field| (None, not_equal(field)))).collect()
    }

    /// Returns whether an object has all labels of the selection. A header has no fields, so they are not compared.
    pub(crate) fn matches_labels(&self, header: &Header) -> bool {
        self.labels.iter().all(|(name, value)| header.labels.get(name) == Some(value))
    }

    /// Returns whether an object has all labels and all fields of the selection. A field that the object lacks equals the empty string, as
    /// in a field selector of the API server.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        let has_field = |(path, value): (&String, &String)| {
            let field = path.split('.').fold(object, |part, name| &part[name]);
            match field {
                Value::Null => value.is_empty(),
                Value::String(text) => text == value,
                Value::Number(number) => number.to_string() == *value,
                Value::Bool(boolean) => value.parse() == Ok(*boolean),
                Value::Array(_) | Value::Object(_) => false,
            }
        };
        let has_labels = self.labels.iter().all(|(name, value)| labels[name.as_str()] == value.as_str());
        has_labels && self.fields.iter().all(has_field)
    }
}

/// Formats a selector in the syntax of the API: `a=1,b=2`. `None` if there are no requirements.
fn format_selector(requirements: &BTreeMap<String, String>) -> Option<String> {
    let terms: Vec<_> = requirements.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
    (!terms.is_empty()).then(|| terms.join(","))
}

/// Escapes a value for a field selector, where it may be any text. The value of a label has nothing to escape.
fn escape(value: &str) -> String {
    value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=")
}

#[cfg(test)]
mod tests {
    use super::Selection;
    use serde_json::json;

    #[test]
    fn an_object_is_selected_if_it_has_all_labels_and_fields() {
        let pairs = |pairs: [(&str, &str); 2]| pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let selection = Selection {
            labels: pairs([("app", "web"), ("class", "a")]),
            fields: pairs([("spec.class", "blue"), ("spec.size", "3")]),
        };
        let object = |class: &str, blue: &str| json!({"metadata": {"labels": {"app": "web", "class": class}}, "spec": {"class": blue, "size": 3}});
        assert!(selection.matches(&object("a", "blue")));
        assert!(!selection.matches(&object("b", "blue")) && !selection.matches(&object("a", "red")));
        assert!(!selection.matches(&json!({})) && Selection::default().matches(&json!({})));
        assert_eq!(selection.label_selector().as_deref(), Some("app=web,class=a"));
        assert_eq!(selection.inverse_selectors()[1], (Some("class!=a".to_owned()), None));
        assert_eq!(selection.inverse_selectors()[2], (None, Some("spec.class!=blue".to_owned())));
    }

    #[test]
    fn a_field_may_have_any_text() {
        let selection =
            Selection { fields: [("spec.class".to_owned(), r"a=b,c\d".to_owned())].into(), ..Selection::default() };
        assert_eq!(selection.field_selector().as_deref(), Some(r"spec.class=a\=b\,c\\d"));
        assert!(selection.matches(&json!({"spec": {"class": r"a=b,c\d"}})));
    }
}
