//! Checks that the name of a NATS bucket has only letters, digits, `-` and `_`.

/// Returns whether a bucket can have this name.
pub(super) fn is_bucket_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || "-_".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_buckets_are_single_tokens() {
        assert!(["machines", "A_b-1"].into_iter().all(is_bucket_name));
        assert!(["", "a.b", "a b", "a*", "a>", "ä"].into_iter().all(|name| !is_bucket_name(name)));
    }
}
