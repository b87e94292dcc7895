//! Parses and evaluates label and field selectors.

use super::{
    label_parser,
    requirement::{Operator, Requirement},
};
use crate::failure::Failure;

/// A label selector; all requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector(Vec<Requirement>);

impl LabelSelector {
    /// Parses `a=b,c!=d,e in (f,g),!h,i`. Returns a 400 error if the selector is invalid.
    pub(crate) fn parse(selector: &str) -> Result<Self, Failure> {
        label_parser::parse(selector).map(Self).map_err(Failure::bad_request)
    }

    /// Parses a `LabelSelector` object (`matchLabels`, `matchExpressions`). An empty object selects everything.
    pub(crate) fn of_object(selector: &serde_json::Value) -> Self {
        let string = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let labels = selector["matchLabels"].as_object().into_iter().flatten();
        let labels = labels.map(|(key, value)| Requirement {
            key: key.clone(),
            operator: Operator::In,
            values: vec![string(value)],
        });
        let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
        let expressions = expressions.map(|expression| Requirement {
            key: string(&expression["key"]),
            operator: match expression["operator"].as_str() {
                Some("NotIn") => Operator::NotIn,
                Some("Exists") => Operator::Exists,
                Some("DoesNotExist") => Operator::Absent,
                _ => Operator::In,
            },
            values: expression["values"].as_array().into_iter().flatten().map(string).collect(),
        });
        Self(labels.chain(expressions).collect())
    }

    /// Returns whether the selector selects everything.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether all requirements match. `label` returns the value of a label of the object; `None` if the object
    /// does not have it.
    pub(crate) fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }
}

/// A field selector; all requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector(pub(crate) Vec<FieldRequirement>);

/// A requirement of a field selector: `field=value` or `field!=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldRequirement {
    /// The path of the field, such as `metadata.name`.
    pub(crate) field: String,
    pub(crate) value: String,
    pub(crate) equal: bool,
}

impl FieldSelector {
    /// Parses `metadata.name=a,status.phase!=Running`. Returns a 400 error if a requirement is invalid.
    pub(crate) fn parse(selector: &str) -> Result<Self, Failure> {
        let parts = selector.split(',').filter(|part| !part.trim().is_empty());
        parts
            .map(FieldRequirement::parse)
            .collect::<Result<_, _>>()
            .map(Self)
            .map_err(|part| Failure::bad_request(format!("invalid selector: '{selector}'; can't understand '{part}'")))
    }

    /// Returns whether the selector selects everything.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FieldRequirement {
    /// Parses `field=value`, `field==value` or `field!=value`. The error is the whole text, which has no operator.
    fn parse(part: &str) -> Result<Self, &str> {
        let unequal = part.split_once("!=").map(|(field, value)| (field, value, false));
        let equal =
            || part.split_once("==").or_else(|| part.split_once('=')).map(|(field, value)| (field, value, true));
        let (field, value, equal) = unequal.or_else(equal).ok_or(part)?;
        Ok(Self { field: field.trim().to_owned(), value: value.trim().to_owned(), equal })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    /// Returns whether a label selector selects an object with these labels.
    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let selector = LabelSelector::parse(selector).unwrap();
        selector.matches(|key| labels.iter().find(|(label, _)| *label == key).map(|(_, value)| *value))
    }

    #[test]
    fn label_selectors_select_labels_and_report_syntax_errors() {
        let labels = [("app", "web"), ("tier", "1")];
        for selector in
            ["", "app=web", "app==web,tier", "app in (db, web)", "tier notin (2)", "!gone", "gone!=x", "tier>0"]
        {
            assert!(selects(selector, &labels), "{selector}");
        }
        for selector in ["app=db", "app!=web", "app notin (web,db)", "!app", "gone", "tier<1", "gone in (x)"] {
            assert!(!selects(selector, &labels), "{selector}");
        }
        let error_of = |selector| LabelSelector::parse(selector).unwrap_err().message;
        let unparsable = "unable to parse requirement: found";
        assert_eq!(error_of("a b"), format!("{unparsable} 'b', expected: in, notin, =, ==, !=, gt, lt"));
        assert_eq!(error_of("a===b"), format!("{unparsable} '=', expected: identifier"));
        assert!(error_of("%").starts_with("unable to parse requirement: <nil>: Invalid value: \"%\": name part must"));
        assert_eq!(LabelSelector::parse("a in ()").unwrap(), LabelSelector::parse("a=").unwrap());
    }
}
