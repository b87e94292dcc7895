//! Validates the formats of names, labels and keys.

use crate::kind::Kind;

/// The format of a name, a label or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// A subdomain by RFC 1123: `a.b-c`, up to 253 characters.
    Subdomain,
    /// A label by RFC 1123: `a-b`, up to 63 characters.
    Label,
    /// A label by RFC 1035, which begins with a letter.
    LetterLabel,
    /// A segment of a URL path: anything without `/` and `%`, except `.` and `..`.
    Segment,
    /// A qualified name: `name` or `example.com/name`.
    Qualified,
    /// The value of a label.
    LabelValue,
    /// The name of a port.
    Port,
    /// A key of a ConfigMap or a Secret.
    Key,
    /// The name of a CronJob: a subdomain of at most 52 characters, because its Jobs append a suffix.
    Schedule,
    /// A subdomain that may begin with `*.`.
    Wildcard,
}

/// The messages of kube-apiserver about texts that violate a rule, by the name of the rule.
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LETTER_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// Returns the format of the names of a kind's objects.
pub(super) fn rule_of(kind: &Kind) -> NameRule {
    let rbac = kind.group == "rbac.authorization.k8s.io";
    match kind.plural.as_str() {
        _ if kind.custom().is_some() => NameRule::Subdomain,
        "namespaces" | "services" | "statefulsets" => NameRule::Label,
        // The name of an APIService is `version.group`, and the group may be empty.
        "apiservices" => NameRule::Segment,
        "cronjobs" => NameRule::Schedule,
        _ if rbac => NameRule::Segment,
        _ => NameRule::Subdomain,
    }
}

/// Returns the message about a text that violates the rule; `None` if it satisfies the rule.
pub(crate) fn violation(rule: NameRule, text: &str) -> Option<String> {
    let too_long = |max: usize| (text.len() > max).then(|| format!("must be no more than {max} bytes"));
    let unless = |is_valid: bool, detail: &str| (!is_valid).then(|| detail.to_owned());
    match rule {
        NameRule::Subdomain => too_long(253).or_else(|| unless(is_subdomain(text), SUBDOMAIN)),
        // A name that is invalid only because of its dots has a message of its own.
        NameRule::Label if text.contains('.') && is_subdomain(text) => {
            too_long(63).or_else(|| Some("must not contain dots".to_owned()))
        }
        NameRule::Label => too_long(63).or_else(|| unless(is_label(text), LABEL)),
        NameRule::LetterLabel => {
            let begins_with_letter = text.starts_with(|letter: char| letter.is_ascii_lowercase());
            too_long(63).or_else(|| unless(begins_with_letter && is_label(text), LETTER_LABEL))
        }
        NameRule::Segment => path_segment_violation(text),
        NameRule::Qualified => qualified_name_violation(text),
        NameRule::LabelValue => {
            too_long(63).or_else(|| unless(text.is_empty() || is_qualified_part(text), LABEL_VALUE))
        }
        NameRule::Port => port_name_violation(text),
        NameRule::Key => too_long(253).or_else(|| config_key_violation(text)),
        NameRule::Schedule => too_long(52).or_else(|| unless(is_subdomain(text), SUBDOMAIN)),
        NameRule::Wildcard => {
            let domain = text.strip_prefix("*.").unwrap_or(text);
            let detail = if text.contains('*') { WILDCARD } else { SUBDOMAIN };
            too_long(253).or_else(|| unless(is_subdomain(domain), detail))
        }
    }
}

/// Returns whether a text is a label by RFC 1123: lowercase letters, digits and hyphens, without a hyphen at the ends. Doesn't check the
/// length.
fn is_label(text: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_end = |byte: Option<&u8>| byte.is_some_and(|byte| is_alphanumeric(*byte));
    let bytes = text.as_bytes();
    is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(|byte| is_alphanumeric(*byte) || *byte == b'-')
}

/// Returns whether a text consists of labels by RFC 1123, separated by dots, whatever its length.
fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

/// Returns whether a text has only letters, digits, `-`, `_` and `.`, with a letter or a digit at both ends.
fn is_qualified_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

/// Returns the message about a text that can't be a path segment of a URL; `None` if it can (upstream: `IsValidPathSegmentName`).
fn path_segment_violation(text: &str) -> Option<String> {
    if matches!(text, "." | "..") {
        return Some(format!("may not be '{text}'"));
    }
    let forbidden = ['/', '%'].into_iter().find(|forbidden| text.contains(*forbidden));
    forbidden.map(|forbidden| format!("may not contain '{forbidden}'"))
}

/// Returns the message about a text that is no qualified name, such as `name` or `example.com/name`; `None` if it is one (upstream:
/// `IsQualifiedName`).
fn qualified_name_violation(text: &str) -> Option<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((_, name)) if name.contains('/') => {
            return Some(format!(
                "a qualified name {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
        }
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if let Some(prefix) = prefix
        && let Some(detail) = violation(NameRule::Subdomain, prefix)
    {
        return Some(format!("prefix part {detail}"));
    }
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > 63 {
        return Some("name part must be no more than 63 bytes".to_owned());
    }
    (!is_qualified_part(name)).then(|| QUALIFIED.to_owned())
}

/// Returns the first message about an invalid name of a port; `None` if it is valid.
fn port_name_violation(text: &str) -> Option<String> {
    let detail = if text.len() > 15 {
        "must be no more than 15 characters"
    } else if !text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    } else if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        "must contain at least one letter (a-z)"
    } else if text.contains("--") {
        "must not contain consecutive hyphens"
    } else if text.starts_with('-') || text.ends_with('-') {
        "must not begin or end with a hyphen"
    } else {
        return None;
    };
    Some(detail.to_owned())
}

/// Returns the message about an invalid key of a ConfigMap or a Secret; `None` if it is valid (upstream: `IsConfigMapKey`).
fn config_key_violation(text: &str) -> Option<String> {
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) || text.is_empty() {
        return Some(KEY.to_owned());
    }
    match text {
        "." => Some("must not be '.'".to_owned()),
        ".." => Some("must not be '..'".to_owned()),
        _ if text.starts_with("..") => Some("must not start with '..'".to_owned()),
        _ => None,
    }
}

/// Returns all messages about the name of a port, or only one if the name is too long; empty for a valid name (upstream:
/// `IsValidPortName`).
pub(super) fn port_name_violations(name: &str) -> Vec<String> {
    if name.len() > 15 {
        return violation(NameRule::Port, name).into_iter().collect();
    }
    let mut messages = Vec::new();
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.bytes().all(allowed) {
        messages.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        messages.push("must contain at least one letter (a-z)".to_owned());
    }
    if name.contains("--") {
        messages.push("must not contain consecutive hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        messages.push("must not begin or end with a hyphen".to_owned());
    }
    messages
}
