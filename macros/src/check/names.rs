//! Checks names by the grammars of the API server: labels, subdomains, versions and finalizers.

/// Returns whether a text is a DNS label of RFC 1035: at most 63 of `a-z`, `0-9` and `-`, a letter first, no hyphen last.
pub(super) fn is_label(text: &str) -> bool {
    is_dns_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Returns whether a text is a DNS subdomain: dot-separated labels of RFC 1123, at most 253 characters.
pub(super) fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_dns_label)
}

/// Returns whether a text is a version of an API: `v1`, `v1alpha1`, `v2beta3`.
pub(super) fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else { return false };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, rest) = rest.split_at(digits);
    let stage = rest.strip_prefix("alpha").or_else(|| rest.strip_prefix("beta"));
    is_number(major) && (rest.is_empty() || stage.is_some_and(is_number))
}

/// Returns whether a text is a qualified name: `name` or `domain/name`. The name has at most 63 letters, digits, `-`, `_` and
/// `.`, and starts and ends with a letter or digit.
pub(super) fn is_qualified(text: &str) -> bool {
    match text.split_once('/') {
        Some((domain, name)) => is_subdomain(domain) && is_name_part(name),
        None => is_name_part(text),
    }
}

/// Returns whether a text is a finalizer: `domain/name`, with a dot in the domain.
pub(super) fn is_finalizer(text: &str) -> bool {
    text.split_once('/').is_some_and(|(domain, _)| domain.contains('.')) && is_qualified(text)
}

/// Returns whether a text is the value of a label: empty, or like the name in a qualified name.
pub(super) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_name_part(text)
}

/// Returns whether a text has letters and digits only, an upper case letter first.
pub(super) fn is_pascal(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase()) && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Returns whether a domain is reserved for Kubernetes: `k8s.io`, `kubernetes.io` or a subdomain of these.
pub(super) fn is_protected(domain: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|reserved| domain.strip_suffix(reserved).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// Returns a valid kind that resembles a text, for messages: `MyKind` for `my kind`.
pub(super) fn pascal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let pascal: String = words
        .flat_map(|word| word.chars().take(1).map(|c| c.to_ascii_uppercase()).chain(word.chars().skip(1)))
        .collect();
    let pascal = pascal.trim_start_matches(|c: char| c.is_ascii_digit());
    if pascal.is_empty() { "WebApp".to_owned() } else { pascal.to_owned() }
}

/// Returns a valid label that resembles a text, for messages: `web-apps` for `Web_Apps`.
pub(super) fn label(text: &str) -> String {
    let label: String =
        text.to_ascii_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let label = label.trim_matches(|c: char| c == '-' || c.is_ascii_digit());
    let label = label.get(..label.len().min(63)).unwrap_or_default();
    if label.is_empty() { "webapps".to_owned() } else { label.to_owned() }
}

/// Returns whether a text is a DNS label of RFC 1123: at most 63 of `a-z`, `0-9` and `-`, without a hyphen at its start or end.
fn is_dns_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.len() <= 63 && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// Returns whether a text can be the name in a qualified name, which is the part after the `/`; see [`is_qualified`].
fn is_name_part(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let at_both_ends = |c: char| c.is_ascii_alphanumeric();
    (1..=63).contains(&text.len())
        && text.chars().all(inner)
        && text.starts_with(at_both_ends)
        && text.ends_with(at_both_ends)
}

/// Returns whether a text is a decimal number without leading zeros.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::{is_finalizer, is_label, is_protected, is_subdomain, is_version, label, pascal};

    #[test]
    fn versions_follow_the_grammar_of_kubernetes() {
        assert!(["v1", "v10", "v1alpha1", "v2beta3"].into_iter().all(is_version));
        assert!(
            !["", "1", "v", "v01", "v1alpha", "v1gamma1", "v1alpha1beta1", "V1", "one"].into_iter().any(is_version)
        );
    }

    #[test]
    fn labels_subdomains_and_finalizers_follow_the_grammar_of_kubernetes() {
        assert!(is_label(&"a".repeat(63)) && !is_label(&"a".repeat(64)) && !is_label("1a") && !is_label("a-"));
        assert!(is_subdomain("a.1b.c") && !is_subdomain("a..b") && !is_subdomain("a.B"));
        assert!(is_finalizer("example.com/a_b.c") && !is_finalizer("example/a") && !is_finalizer("example.com/"));
        assert!(!is_finalizer(&format!("example.com/{}", "a".repeat(64))) && !is_finalizer("a.b/c/d"));
    }

    #[test]
    fn only_whole_labels_make_a_domain_reserved() {
        assert!(is_protected("k8s.io") && is_protected("apps.k8s.io") && is_protected("a.b.kubernetes.io"));
        assert!(!is_protected("notk8s.io") && !is_protected("k8s.io.example.com"));
    }

    #[test]
    fn suggested_names_are_valid() {
        assert_eq!(pascal("my kind-2"), "MyKind2");
        assert_eq!(label("Web_Apps"), "web-apps");
        assert!(is_label(&label("9")) && is_label(&label(&"Ä".repeat(70))));
    }
}
