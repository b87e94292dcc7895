//! Parses the lists of pairs in the variables of OpenTelemetry: `key=value,other=value`, with percent-encoded values.

use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// Parses a list such as `key=value,other=value`, with percent-encoded values; an empty text is an empty list.
///
/// # Errors
/// Fails for an entry without `=`, an empty key, and an invalid percent-encoding.
pub(crate) fn parse_pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(parse_pair).collect()
}

/// Parses one pair. An error does not quote the value, which may be a secret.
fn parse_pair(entry: &str) -> Result<(String, String), String> {
    let (key, value) = entry.split_once('=').ok_or("an entry has no `=`; write `key=value,key=value`")?;
    let key = key.trim();
    if key.is_empty() {
        return Err("an entry has no key; write `key=value,key=value`".to_owned());
    }
    let value = decode(value.trim()).ok_or_else(|| format!("the value of `{key}` has an invalid percent-encoding"))?;
    Ok((key.to_owned(), value))
}

/// Decodes the percent-encoding of a text; `None` if an escape is invalid or the result is not UTF-8.
fn decode(text: &str) -> Option<String> {
    // `percent_decode_str` copies an invalid escape unchanged, so each `%` is checked first: two hexadecimal digits have to follow.
    let begins_with_digits =
        |after: &str| after.get(..2).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    if !text.split('%').skip(1).all(begins_with_digits) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_separated_by_commas_and_values_are_percent_encoded() {
        let pairs = parse_pairs(" api-key=a%2Cb%20c , team = blue=green,").unwrap();
        let pairs: Vec<_> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("api-key", "a,b c"), ("team", "blue=green")]);
        assert_eq!(parse_pairs(""), Ok(vec![]));
    }

    #[test]
    fn an_error_names_the_key_and_not_the_value() {
        for (text, error) in [
            ("secret", "an entry has no `=`; write `key=value,key=value`"),
            ("=secret", "an entry has no key; write `key=value,key=value`"),
            ("a=secret%2", "the value of `a` has an invalid percent-encoding"),
            ("a=secret%zz", "the value of `a` has an invalid percent-encoding"),
            ("a=%ff", "the value of `a` has an invalid percent-encoding"),
        ] {
            assert_eq!(parse_pairs(text), Err(error.to_owned()));
        }
    }
}
