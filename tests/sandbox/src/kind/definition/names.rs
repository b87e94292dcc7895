//! Validates the names of a CustomResourceDefinition.

use serde_json::Value;

use crate::{
    failure::Cause,
    object::{self, text},
};

/// The message about a text that is no label by RFC 1035.
pub(super) const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// The message about a text that is no subdomain by RFC 1123.
pub(super) const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// Returns whether a text is a label by RFC 1035.
pub(super) fn is_label(text: &str) -> bool {
    text.len() <= 63 && text.starts_with(|letter: char| letter.is_ascii_lowercase()) && is_dns_part(text)
}

/// Returns whether a text is a subdomain by RFC 1123.
pub(super) fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_dns_part)
}

/// Returns whether a text has only lowercase letters, digits and hyphens, is not empty, and neither starts nor ends with
/// a hyphen.
fn is_dns_part(text: &str) -> bool {
    let is_alphanumeric = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    text.starts_with(is_alphanumeric)
        && text.ends_with(is_alphanumeric)
        && text.chars().all(|letter| is_alphanumeric(letter) || letter == '-')
}

/// Returns the error about a CRD whose `metadata.name` is not `PLURAL.GROUP`; `None` if the name is right.
pub(super) fn validate_object_name(crd: &Value) -> Option<Cause> {
    let name = object::name(crd);
    let expected = format!("{}.{}", text(crd, &["spec", "names", "plural"]), text(crd, &["spec", "group"]));
    let why = "must be spec.names.plural+\".\"+spec.group";
    (name != expected).then(|| Cause::invalid("metadata.name", &name.into(), why))
}

/// Validates `spec.names`. Returns the errors; none if they are valid.
pub(super) fn validate_names(names: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (kind, list_kind) = (text(names, &["kind"]), text(names, &["listKind"]));
    for key in ["plural", "singular", "kind", "listKind"] {
        if text(names, &[key]).is_empty() {
            causes.push(Cause::required(format!("spec.names.{key}"), ""));
        }
    }
    for key in ["plural", "singular"] {
        let name = text(names, &[key]);
        if !name.is_empty() && !is_label(name) {
            causes.push(Cause::invalid(format!("spec.names.{key}"), &name.into(), LABEL));
        }
    }
    for (key, name) in [("kind", kind), ("listKind", list_kind)] {
        if !name.is_empty() && !is_label(&name.to_lowercase()) {
            let why = format!("may have mixed case, but should otherwise match: {LABEL}");
            causes.push(Cause::invalid(format!("spec.names.{key}"), &name.into(), &why));
        }
    }
    if !kind.is_empty() && kind == list_kind {
        let why = "kind and listKind may not be the same";
        causes.push(Cause::invalid("spec.names.listKind", &list_kind.into(), why));
    }
    for key in ["shortNames", "categories"] {
        for (index, name) in names[key].as_array().into_iter().flatten().enumerate() {
            if !name.as_str().is_some_and(is_label) {
                causes.push(Cause::invalid(format!("spec.names.{key}[{index}]"), name, LABEL));
            }
        }
    }
    causes
}
