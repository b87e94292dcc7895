//! Checks names, labels and annotations as the API server does.

use serde_json::Value;

/// The maximum total size of the annotations of an object.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Returns whether a text is a DNS subdomain, the form of the names of most objects.
pub(super) fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_dns_part)
}

/// Returns whether a text is a DNS label, the form of the names of namespaces.
pub(super) fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_dns_part(text)
}

/// Returns whether a text is a DNS label of any length: lowercase letters, digits and `-`, the first and the last not a `-`.
fn is_dns_part(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(is_allowed) && !text.starts_with('-') && !text.ends_with('-')
}

/// Returns whether a text is the value of a label: empty, or at most 63 letters, digits, `-`, `_` and `.`, the first and the last a letter
/// or a digit.
fn is_label_value(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    let mut characters = text.chars();
    text.len() <= 63 && text.chars().all(is_allowed) && is_edge(characters.next()) && is_edge(characters.next_back())
}

/// Returns whether a text is the key of a label or an annotation: a name, with an optional DNS subdomain and a slash in front.
fn is_key(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    prefix.is_none_or(is_dns_subdomain) && !name.is_empty() && is_label_value(name)
}

/// Returns the first problem of the labels and annotations in the metadata of an object: an invalid key or value, or too large annotations.
/// The text has no values, which may be secret. `None` if they are valid.
pub(super) fn metadata_problem(metadata: &Value) -> Option<String> {
    let label_problem = entries_problem("label", &metadata["labels"], is_label_value);
    label_problem.or_else(|| entries_problem("annotation", &metadata["annotations"], |_| true)).or_else(|| {
        let annotations = metadata["annotations"].as_object()?;
        let size: usize = annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
        (size > MAX_ANNOTATIONS).then(|| "the annotations have more than 256 KiB".to_owned())
    })
}

/// Returns the first problem of labels or annotations: a key that is not valid, or a value that is no text or that `is_valid` rejects.
/// `name` is `label` or `annotation`. Ignores entries that are null, since the operator does not apply them.
fn entries_problem(name: &str, entries: &Value, is_valid: fn(&str) -> bool) -> Option<String> {
    if entries.is_null() {
        return None;
    }
    let Some(entries) = entries.as_object() else { return Some(format!("the {name}s are no map")) };
    entries.iter().filter(|(_, value)| !value.is_null()).find_map(|(key, value)| {
        if !is_key(key) {
            return Some(format!("{key:?} is not a valid {name} key"));
        }
        match value.as_str() {
            None => Some(format!("the value of {name} {key} is no text")),
            Some(text) => (!is_valid(text)).then(|| format!("the value of {name} {key} is not valid")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_checked_as_the_api_server_does() {
        let (long, longer) = ("a".repeat(63), "a".repeat(64));
        assert!(is_dns_label(&long) && !is_dns_label(&longer) && is_dns_subdomain(&longer));
        assert!(is_dns_subdomain("a.b-c.0") && !is_dns_subdomain(&"a".repeat(254)));
        for bad in ["", "-a", "a-", "A", "a_b", "a..b", "a/b"] {
            assert!(!is_dns_subdomain(bad), "{bad}");
        }
        assert!(is_label_value("") && is_label_value("1.2.3_b") && is_label_value("a") && is_label_value(&long));
        for bad in ["1.2+b", "-a", "a-", "a b", &longer, "ä"] {
            assert!(!is_label_value(bad), "{bad}");
        }
        assert!(is_key("a") && is_key("example.com/A_b") && !is_key("/a") && !is_key("a/") && !is_key("a/b/c"));
    }

    #[test]
    fn labels_and_annotations_are_checked() {
        assert_eq!(metadata_problem(&json!({"labels": {"a": "b", "c": null}, "annotations": {"a": "x y"}})), None);
        let problem = |metadata: Value| metadata_problem(&metadata).unwrap_or_default();
        assert_eq!(problem(json!({"labels": {"a": "hidden value"}})), "the value of label a is not valid");
        assert_eq!(problem(json!({"annotations": {"a b": ""}})), "\"a b\" is not a valid annotation key");
        assert_eq!(problem(json!({"annotations": {"a": 1}})), "the value of annotation a is no text");
        let large = json!({"annotations": {"a": "x".repeat(MAX_ANNOTATIONS)}});
        assert_eq!(problem(large), "the annotations have more than 256 KiB");
    }
}
