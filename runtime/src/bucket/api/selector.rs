//! `ObjectSelector`: decides whether an object matches the namespace, the label selector and the field selector of a request.

use super::{call::CallOptions, failure::ApiFailure};
use std::{borrow::Cow, collections::BTreeMap};

/// Selects objects by namespace, labels, and fields of the metadata.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectSelector {
    /// Empty for all namespaces.
    namespace: String,
    labels: Vec<LabelRequirement>,
    fields: Vec<FieldRequirement>,
}

/// A requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelRequirement {
    label: String,
    operator: LabelOperator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LabelOperator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
    Greater(i64),
    Less(i64),
}

/// A requirement on `metadata.name` or `metadata.namespace`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldRequirement {
    is_name: bool,
    value: String,
    /// Whether the field must have the value, or another one.
    is_equal: bool,
}

impl ObjectSelector {
    /// Parses the selectors of a request.
    ///
    /// # Errors
    /// 400 for an invalid selector, and for a field other than `metadata.name` and `metadata.namespace`.
    pub(super) fn parse(namespace: &str, options: &CallOptions) -> Result<Self, ApiFailure> {
        let labels = split_requirements(&options.label_selector).map(LabelRequirement::parse);
        let fields = split_fields(&options.field_selector).into_iter().map(|part| FieldRequirement::parse(&part));
        Ok(Self {
            namespace: namespace.to_owned(),
            labels: labels.collect::<Result<_, _>>()?,
            fields: fields.collect::<Result<_, _>>()?,
        })
    }

    /// Returns whether an object is selected. `labels` are its labels as a JSON object; empty if it has none.
    pub(super) fn matches(&self, namespace: &str, name: &str, labels: &str) -> bool {
        self.is_in_namespace(namespace)
            && self.fields.iter().all(|requirement| requirement.matches(namespace, name))
            && self.match_labels(labels)
    }

    /// Returns whether the selector can match only the object of this name, because it has the requirement `metadata.name=<name>`.
    pub(super) fn names(&self, namespace: &str, name: &str) -> bool {
        self.is_in_namespace(namespace)
            && self
                .fields
                .iter()
                .any(|requirement| requirement.is_name && requirement.is_equal && requirement.value == name)
    }

    /// Returns whether the objects of a namespace are selected.
    fn is_in_namespace(&self, namespace: &str) -> bool {
        self.namespace.is_empty() || self.namespace == namespace
    }

    /// Returns whether labels meet all requirements of the label selector. `labels` is a JSON object, or empty if there are no labels.
    fn match_labels(&self, labels: &str) -> bool {
        if self.labels.is_empty() {
            return true;
        }
        let labels: BTreeMap<Cow<'_, str>, Cow<'_, str>> = serde_json::from_str(labels).unwrap_or_default();
        self.labels
            .iter()
            .all(|requirement| requirement.matches(labels.get(requirement.label.as_str()).map(Cow::as_ref)))
    }
}

/// Splits a label selector at the commas that are not in parentheses, as in `a in (b,c),d`.
fn split_requirements(selector: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = selector.split(move |character: char| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        character == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// Splits a field selector at its commas, except escaped ones (`\,`). The escapes stay in the parts; [`unescape`] resolves them later.
fn split_fields(selector: &str) -> Vec<String> {
    let (mut parts, mut is_escaped) = (vec![String::new()], false);
    for character in selector.chars() {
        match character {
            ',' if !is_escaped => parts.push(String::new()),
            _ => {
                if let Some(part) = parts.last_mut() {
                    part.push(character);
                }
            }
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

impl LabelRequirement {
    /// Parses `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1` or `a<1`.
    fn parse(part: &str) -> Result<Self, ApiFailure> {
        let invalid = || ApiFailure::bad_request(format!("unable to parse requirement: found '{part}'"));
        let (label, operator) = Self::split(part).ok_or_else(invalid)?;
        let label = label.trim();
        let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
        if label.is_empty() || !label.chars().all(is_allowed) {
            return Err(invalid());
        }
        Ok(Self { label: label.to_owned(), operator })
    }

    /// Splits a requirement into its label and its operator with the values; `None` if the operator or a value is invalid.
    fn split(part: &str) -> Option<(&str, LabelOperator)> {
        if let Some(label) = part.strip_prefix('!') {
            return Some((label, LabelOperator::Absent));
        }
        let single = |value: &str| vec![value.trim().to_owned()];
        if let Some((label, value)) = part.split_once("!=") {
            return Some((label, LabelOperator::NotIn(single(value))));
        }
        if let Some((label, value)) = part.split_once('=') {
            return Some((label, LabelOperator::In(single(value.strip_prefix('=').unwrap_or(value)))));
        }
        if let Some((label, value)) = part.split_once('>') {
            return Some((label, LabelOperator::Greater(value.trim().parse().ok()?)));
        }
        if let Some((label, value)) = part.split_once('<') {
            return Some((label, LabelOperator::Less(value.trim().parse().ok()?)));
        }
        let Some((before, values)) = part.split_once('(') else { return Some((part, LabelOperator::Exists)) };
        let values = values.trim().strip_suffix(')')?.split(',').map(|value| value.trim().to_owned()).collect();
        let (label, word) = before.trim().split_once(char::is_whitespace)?;
        match word.trim() {
            "in" => Some((label, LabelOperator::In(values))),
            "notin" => Some((label, LabelOperator::NotIn(values))),
            _ => None,
        }
    }

    /// Returns whether an object meets the requirement. `value` is the value of its label, `None` for an object without the label.
    fn matches(&self, value: Option<&str>) -> bool {
        let is_one_of = |values: &[String]| value.is_some_and(|value| values.iter().any(|allowed| allowed == value));
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.operator {
            LabelOperator::In(values) => is_one_of(values),
            LabelOperator::NotIn(values) => !is_one_of(values),
            LabelOperator::Exists => value.is_some(),
            LabelOperator::Absent => value.is_none(),
            LabelOperator::Greater(bound) => number().is_some_and(|number| number > *bound),
            LabelOperator::Less(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

impl FieldRequirement {
    /// Parses a requirement of a field selector, such as `metadata.name=web`.
    ///
    /// # Errors
    /// 400 for another field than the name and the namespace, and for a text without an operator.
    fn parse(part: &str) -> Result<Self, ApiFailure> {
        let unequal = part.split_once("!=").map(|(field, value)| (field, value, false));
        let equal =
            || part.split_once('=').map(|(field, value)| (field, value.strip_prefix('=').unwrap_or(value), true));
        let (field, value, is_equal) = unequal
            .or_else(equal)
            .ok_or_else(|| ApiFailure::bad_request(format!("invalid selector: '{part}'; can't understand '{part}'")))?;
        let is_name = match field.trim() {
            "metadata.name" => true,
            "metadata.namespace" => false,
            field => return Err(ApiFailure::bad_request(format!("field label not supported: {field}"))),
        };
        Ok(Self { is_name, value: unescape(value.trim()), is_equal })
    }

    fn matches(&self, namespace: &str, name: &str) -> bool {
        let value = if self.is_name { name } else { namespace };
        (value == self.value) == self.is_equal
    }
}

/// Removes the backslashes of the escapes `\,`, `\=` and `\\` from a value.
fn unescape(value: &str) -> String {
    let mut is_escaped = false;
    let is_content = |character: &char| {
        is_escaped = *character == '\\' && !is_escaped;
        !is_escaped
    };
    value.chars().filter(is_content).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Parses a label selector and a field selector for all namespaces.
    fn selector(labels: &str, fields: &str) -> Result<ObjectSelector, ApiFailure> {
        let mut options = CallOptions::default();
        options.label_selector = labels.to_owned();
        options.field_selector = fields.to_owned();
        ObjectSelector::parse("", &options)
    }

    #[test]
    fn labels_are_selected_as_kubernetes_does() {
        let labels = r#"{"app": "web", "tier": "1"}"#;
        for text in ["", "app=web", "app==web,tier", "app in (db, web)", "tier notin (2)", "!gone", "gone!=x", "tier>0"]
        {
            assert!(selector(text, "").unwrap().matches("shop", "web", labels), "{text}");
        }
        for text in
            ["app=db", "app!=web", "app notin (web,db)", "!app", "gone", "tier<1", "gone in (x)", "app=web,gone"]
        {
            assert!(!selector(text, "").unwrap().matches("shop", "web", labels), "{text}");
        }
        for text in ["a b", "%", "a near (b)", "a in (b", "a>b"] {
            assert_eq!(selector(text, "").unwrap_err().code, 400, "{text}");
        }
        assert!(!selector("app=web", "").unwrap().matches("shop", "web", ""));
    }

    #[test]
    fn fields_of_the_metadata_are_selected() {
        for (text, expected) in [
            ("metadata.name=web", true),
            ("metadata.name==web,metadata.namespace=shop", true),
            ("metadata.name!=web", false),
            ("metadata.namespace!=blog", true),
            (r"metadata.name=we\,b", false),
        ] {
            assert_eq!(selector("", text).unwrap().matches("shop", "web", ""), expected, "{text}");
        }
        assert!(selector("", r"metadata.name=a\,b\=c\\d").unwrap().matches("", r"a,b=c\d", ""));
        assert_eq!(selector("", "spec.size=1").unwrap_err().code, 400);
    }
}
