//! Checks strings by the formats of Kubernetes schemas (`k8s.io/kube-openapi/pkg/validation/strfmt`).

use std::{net::IpAddr, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::civil::Date;
use regex::Regex;

/// A known format, with its check.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    /// A format of strings: returns whether a string has it.
    Text(fn(&str) -> bool),
    /// An integer of 32 bits.
    Int32,
    /// A format that every value of its type has.
    Other,
}

/// A check that a string matches a regular expression.
macro_rules! matches_regex {
    ($pattern:literal) => {
        |text| {
            static REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($pattern).ok());
            REGEX.as_ref().is_some_and(|regex| regex.is_match(text))
        }
    };
}

/// Returns whether kube-apiserver knows a format for values of a JSON Schema type. An empty type stands for any.
pub fn is_known_format(type_: &str, name: &str) -> bool {
    Format::of(type_, name).is_some()
}

impl Format {
    /// Returns the format of a type; an empty type has the formats of strings. `None` for an unknown format.
    pub(crate) fn of(type_: &str, name: &str) -> Option<Self> {
        match (type_, name) {
            ("" | "string", name) => Self::of_text(name),
            ("integer", "int32") => Some(Self::Int32),
            ("integer", "int64") | ("number", "float" | "double") => Some(Self::Other),
            _ => None,
        }
    }

    /// Returns a format of strings by its name, in which dashes don't count. `None` for an unknown format.
    fn of_text(name: &str) -> Option<Self> {
        Some(Self::Text(match name.replace('-', "").as_str() {
            "bsonobjectid" => matches_regex!("^[0-9a-fA-F]{24}$"),
            "uri" => is_uri,
            "email" => is_email,
            "hostname" => is_hostname,
            "ipv4" => |text| text.contains('.') && address(text).is_some(),
            "ipv6" => |text| text.contains(':') && address(text).is_some(),
            "cidr" => is_cidr,
            "mac" => matches_regex!(
                "^(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}[:-]){4}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{2}[:-]){7}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\\.){2,3}[0-9a-fA-F]{4})$"
            ),
            "uuid" => matches_regex!("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
            "uuid3" => matches_regex!("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
            "uuid4" => matches_regex!("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
            "uuid5" => matches_regex!("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
            "isbn" => |text| is_isbn10(text) || is_isbn13(text),
            "isbn10" => is_isbn10,
            "isbn13" => is_isbn13,
            "creditcard" => is_credit_card,
            "ssn" => matches_regex!("^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"),
            "hexcolor" => matches_regex!("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
            "rgbcolor" => matches_regex!(
                "^rgb\\(\\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\\s*,\\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\\s*,\\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\\s*\\)$"
            ),
            "byte" => |text| !text.is_empty() && STANDARD.decode(text).is_ok(),
            "password" => |_| true,
            "date" => |text| text.len() == 10 && text.parse::<Date>().is_ok(),
            "duration" => is_duration,
            "datetime" => is_date_time,
            "k8sshortname" => |text| text.len() <= 63 && is_label(text),
            "k8slongname" => |text| text.len() <= 253 && text.split('.').all(is_label),
            _ => return None,
        }))
    }
}

/// Returns whether a text is a DNS label of any length: lower case letters, digits and inner hyphens.
fn is_label(text: &str) -> bool {
    let inner = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let ends = [text.bytes().next(), text.bytes().last()];
    ends.iter().all(|letter| letter.is_some_and(inner)) && text.bytes().all(|letter| inner(letter) || letter == b'-')
}

/// Returns whether a text is an absolute path or a URI with a scheme, as Go's `url.ParseRequestURI` accepts it.
fn is_uri(text: &str) -> bool {
    if text.starts_with('/') {
        return !text.contains(char::is_whitespace);
    }
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut letters = scheme.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
        && !rest.is_empty()
        && !rest.contains(char::is_whitespace)
}

/// Returns whether a text is an address as Go's `mail.ParseAddress` accepts it, also in the form `Name <a@b>`.
fn is_email(text: &str) -> bool {
    let address = match (text.rfind('<'), text.strip_suffix('>')) {
        (Some(start), Some(inner)) => inner.get(start + 1..).unwrap_or_default(),
        _ => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let has_atoms = |part: &str| !part.is_empty() && part.split('.').all(|atom| !atom.is_empty());
    let is_valid = |letter: char| !letter.is_whitespace() && !"()<>[]:;@\\,\"".contains(letter);
    has_atoms(local) && has_atoms(domain) && local.chars().chain(domain.chars()).all(is_valid)
}

/// Returns whether a text is a host name, whose labels may have letters beyond ASCII. With several labels, the last one must be a top-level
/// domain: at least two letters.
fn is_hostname(text: &str) -> bool {
    let is_label = |part: &str| {
        let inner = |letter: char| letter.is_ascii_alphanumeric() || !letter.is_ascii();
        !part.is_empty()
            && part.len() <= 63
            && part.starts_with(inner)
            && part.ends_with(inner)
            && part.chars().all(|letter| inner(letter) || letter == '-')
    };
    let mut parts = text.rsplit('.');
    let last = parts.next().unwrap_or_default();
    let is_top_level =
        |part: &str| part.chars().count() >= 2 && part.chars().all(|c| c.is_ascii_alphabetic() || !c.is_ascii());
    text.len() <= 255 && is_label(last) && (!text.contains('.') || is_top_level(last)) && parts.all(is_label)
}

/// Parses an IP address as Kubernetes does: the numbers of an IPv4 address may have leading zeros and are decimal. `None` if the text is no
/// address.
fn address(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let numbers = text.split('.').map(|number| match number.trim_start_matches('0') {
        "" if !number.is_empty() => "0",
        trimmed => trimmed,
    });
    numbers.collect::<Vec<_>>().join(".").parse().ok()
}

/// Returns whether a text is an IP address with the length of a prefix: `10.0.0.0/8`.
fn is_cidr(text: &str) -> bool {
    let Some((first, length)) = text.split_once('/') else { return false };
    let max_length = match address(first) {
        Some(IpAddr::V4(_)) => 32,
        Some(IpAddr::V6(_)) => 128,
        None => return false,
    };
    length.bytes().all(|digit| digit.is_ascii_digit()) && length.parse::<u8>().is_ok_and(|length| length <= max_length)
}

/// Returns whether a text is an ISBN with ten digits and a valid check digit, which may be `X`.
fn is_isbn10(text: &str) -> bool {
    /// Stands for a character that is no digit.
    const INVALID: u32 = u32::MAX;
    let digits: Vec<u32> = text
        .chars()
        .filter(|letter| !"- ".contains(*letter))
        .map(|letter| if letter == 'X' { 10 } else { letter.to_digit(10).unwrap_or(INVALID) })
        .collect();
    let are_valid = digits.iter().enumerate().all(|(index, digit)| *digit < 10 || index == 9 && *digit == 10);
    digits.len() == 10
        && are_valid
        && (1..).zip(&digits).map(|(weight, digit): (u32, _)| weight * digit).sum::<u32>() % 11 == 0
}

/// Returns whether a text is an ISBN with 13 digits and a valid check digit.
fn is_isbn13(text: &str) -> bool {
    let digits: Option<Vec<u32>> =
        text.chars().filter(|letter| !"- ".contains(*letter)).map(|letter| letter.to_digit(10)).collect();
    let Some(digits) = digits else { return false };
    let sum = |digits: &[u32]| {
        digits.iter().zip([1, 3].into_iter().cycle()).map(|(digit, weight)| digit * weight).sum::<u32>()
    };
    digits.len() == 13 && sum(&digits) % 10 == 0
}

/// Returns whether a text has 13 to 16 digits that pass the Luhn check: every second digit from the right is doubled, minus 9 if the
/// result has two digits, and the sum is a multiple of 10. Other characters are ignored.
fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| if !index.is_multiple_of(2) { doubled(*digit) } else { *digit })
        .sum();
    (13..=16).contains(&digits.len()) && sum.is_multiple_of(10)
}

/// Returns whether a text is a duration of Go's `time.ParseDuration`, or one in words: `3 days`.
fn is_duration(text: &str) -> bool {
    let is_go_duration: fn(&str) -> bool =
        matches_regex!("^[-+]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$");
    let is_in_words: fn(&str) -> bool = matches_regex!(
        "^([0-9]+\\s*(ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)\\s*)+$"
    );
    is_go_duration(text) || is_in_words(&text.to_lowercase())
}

/// Returns whether a text is a date and time of RFC 3339 that exists in the calendar.
fn is_date_time(text: &str) -> bool {
    let has_form: fn(&str) -> bool = matches_regex!(
        "^[0-9]{4}-[0-9]{2}-[0-9]{2}[tT]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([zZ]|[+-][0-9]{2}:[0-9]{2})$"
    );
    has_form(text) && text.get(..10).is_some_and(|date| date.parse::<Date>().is_ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn each_format_accepts_a_valid_and_refuses_an_invalid_text() {
        for (format, good, bad) in [
            ("date", "2026-02-28", "2026-02-30"),
            ("date-time", "2026-02-28T10:11:12.5Z", "2026-02-28 10:11:12"),
            ("duration", "1h30m", "1x"),
            ("email", "a@b.io", "a"),
            ("hostname", "a.example.org", "-a"),
            ("ipv4", "10.0.0.1", "10.0.0.256"),
            ("ipv4", "010.000.0.01", "10..0.1"),
            ("ipv4", "::ffff:10.0.0.1", "::1"),
            ("ipv6", "fe80::1", "10.0.0.1"),
            ("ipv6", "::ffff:10.0.0.1", "::ffff:10.0.0.01"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "00:11:22:33:44:55", "00:11"),
            ("uuid", "9dbca461-9667-4ef2-9268-756ad39e049c", "9dbca461"),
            ("uri", "https://a.b/c", "a b"),
            ("byte", "aGk=", "%"),
            ("isbn", "0321751043", "0321751044"),
            ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
            ("hexcolor", "#FFaa00", "#ggg"),
            ("k8s-short-name", "a-b", "A"),
            ("k8s-long-name", "a.b-c", "a..b"),
        ] {
            let Some(Format::Text(accepts)) = Format::of_text(format) else { unreachable!("{format}") };
            assert!(accepts(good), "{format} {good}");
            assert!(!accepts(bad), "{format} {bad}");
        }
    }
}
