//! Computes short hexadecimal hashes of lists of texts, for names of objects and tokens.

use sha2::{Digest, Sha256};

/// Returns the first `bytes` bytes of the SHA-256 of a list of texts, in hexadecimal digits. Each text is hashed with its length, so that
/// the lists `ab`, `c` and `a`, `bc` have different hashes.
pub(crate) fn text_hash<'a>(texts: impl IntoIterator<Item = &'a str>, bytes: usize) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.len().to_le_bytes());
        hasher.update(text);
    }
    hasher.finalize().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_texts_do_not_run_together() {
        assert_eq!(text_hash(["ab", "c"], 4).len(), 8);
        assert_ne!(text_hash(["ab", "c"], 4), text_hash(["a", "bc"], 4));
    }
}
