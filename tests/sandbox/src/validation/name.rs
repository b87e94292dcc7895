//! Formats of names and labels.

use crate::kind::Kind;

/// A form of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// RFC 1123: `a.b-c`, up to 253 letters.
    Subdomain,
    /// RFC 1123: `a-b`, up to 63 letters.
    Label,
    /// RFC 1035: a label that begins with a letter.
    LetterLabel,
    /// Whatever a path can have between two slashes.
    Segment,
    /// `example.com/name`
    Qualified,
    /// The value of a label.
    LabelValue,
    /// The name of a port.
    Port,
    /// A key of a ConfigMap or a Secret.
    Key,
    /// A CronJob's name: room is left for what its Jobs append.
    Schedule,
    /// A subdomain that may begin with `*.`.
    Wildcard,
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LETTER_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// The form of the names of a kind's objects.
pub(super) fn rule_of(kind: &Kind) -> NameRule {
    let rbac = kind.group == "rbac.authorization.k8s.io";
    match kind.plural.as_str() {
        _ if kind.custom().is_some() => NameRule::Subdomain,
        "namespaces" | "services" | "statefulsets" => NameRule::Label,
        // Their names follow from what they define.
        "apiservices" => NameRule::Segment,
        "cronjobs" => NameRule::Schedule,
        _ if rbac => NameRule::Segment,
        _ => NameRule::Subdomain,
    }
}

/// Why a text is no such name.
pub(crate) fn fault(rule: NameRule, text: &str) -> Option<String> {
    let too_long = |most: usize| (text.len() > most).then(|| format!("must be no more than {most} bytes"));
    let unless = |good: bool, why: &str| (!good).then(|| why.to_owned());
    match rule {
        NameRule::Subdomain => too_long(253).or_else(|| unless(is_subdomain(text), SUBDOMAIN)),
        // What is a subdomain and no label must have dots.
        NameRule::Label if text.contains('.') && is_subdomain(text) => {
            too_long(63).or_else(|| Some("must not contain dots".to_owned()))
        }
        NameRule::Label => too_long(63).or_else(|| unless(is_label(text), LABEL)),
        NameRule::LetterLabel => {
            let begins = text.starts_with(|letter: char| letter.is_ascii_lowercase());
            too_long(63).or_else(|| unless(begins && is_label(text), LETTER_LABEL))
        }
        NameRule::Segment => segment_fault(text),
        NameRule::Qualified => qualified_fault(text),
        NameRule::LabelValue => too_long(63).or_else(|| unless(text.is_empty() || is_word(text), LABEL_VALUE)),
        NameRule::Port => port_fault(text),
        NameRule::Key => too_long(253).or_else(|| key_fault(text)),
        NameRule::Schedule => too_long(52).or_else(|| unless(is_subdomain(text), SUBDOMAIN)),
        NameRule::Wildcard => {
            let rest = text.strip_prefix("*.").unwrap_or(text);
            let why = if text.contains('*') { WILDCARD } else { SUBDOMAIN };
            too_long(253).or_else(|| unless(is_subdomain(rest), why))
        }
    }
}

fn is_label(text: &str) -> bool {
    let within = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| within(*byte));
    let bytes = text.as_bytes();
    ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(|byte| within(*byte) || *byte == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

/// Letters, digits, `-`, `_` and `.`, with a letter or a digit at both ends.
fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn segment_fault(text: &str) -> Option<String> {
    if matches!(text, "." | "..") {
        return Some(format!("may not be '{text}'"));
    }
    let bad = ['/', '%'].into_iter().find(|bad| text.contains(*bad));
    bad.map(|bad| format!("may not contain '{bad}'"))
}

fn qualified_fault(text: &str) -> Option<String> {
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
        && let Some(why) = fault(NameRule::Subdomain, prefix)
    {
        return Some(format!("prefix part {why}"));
    }
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > 63 {
        return Some("name part must be no more than 63 bytes".to_owned());
    }
    (!is_word(name)).then(|| QUALIFIED.to_owned())
}

fn port_fault(text: &str) -> Option<String> {
    let why = if text.len() > 15 {
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
    Some(why.to_owned())
}

fn key_fault(text: &str) -> Option<String> {
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

/// Each thing that is wrong with the name of a port.
pub(super) fn port_faults(name: &str) -> Vec<String> {
    if name.len() > 15 {
        return fault(NameRule::Port, name).into_iter().collect();
    }
    let mut faults = Vec::new();
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.bytes().all(allowed) {
        faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        faults.push("must contain at least one letter (a-z)".to_owned());
    }
    if name.contains("--") {
        faults.push("must not contain consecutive hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        faults.push("must not begin or end with a hyphen".to_owned());
    }
    faults
}
