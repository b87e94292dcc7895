//! Checks that the key of a bucket entry has an allowed length and only allowed characters. Defines the key prefix of the entries that keep
//! copies of objects with finalizers.

use super::error::BucketError;

/// The maximum number of characters of a key.
const MAX_LENGTH: usize = 1024;

/// The prefix of the keys of claims, which are copies of objects with finalizers. Keys that begin with `_` are reserved for opgen.
pub(crate) const CLAIM_PREFIX: &str = "_claim.";

/// Checks that a key has one to 1,024 characters of `-/_=.a-zA-Z0-9`, and no dot at its start or end or beside another dot.
///
/// # Errors
/// [`BucketError::InvalidKey`] if it does not.
pub(crate) fn check_key(key: &str) -> Result<(), BucketError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-/_=.".contains(&byte);
    let is_valid = key.len() <= MAX_LENGTH
        && key.bytes().all(is_allowed)
        // An empty part is an empty key, or a dot at the start, at the end or beside another dot.
        && key.split('.').all(|part| !part.is_empty());
    if is_valid { Ok(()) } else { Err(BucketError::invalid_key(key)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_checked_as_nats_checks_them() {
        for key in ["a", "shop.web", "_claim.shop.web", "a/b=c-d_E.0", &"a".repeat(MAX_LENGTH)] {
            assert_eq!(check_key(key), Ok(()), "{key}");
        }
        for key in ["", ".", ".a", "a.", "a..b", "a b", "a*", "a>", "ä", &"a".repeat(MAX_LENGTH + 1)] {
            assert_eq!(check_key(key), Err(BucketError::invalid_key(key)), "{key}");
        }
    }
}
