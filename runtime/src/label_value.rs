//! Converts strings to valid label values.

/// Converts a text to a valid label value: at most 63 letters, digits, `-`, `_` and `.`, of which the first and the last are letters or
/// digits. Replaces other characters by `_`, cuts a longer text, and removes `-`, `_` and `.` at both ends.
pub(crate) fn label_value(text: &str) -> String {
    let replaced = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let value: String = text.chars().map(replaced).take(63).collect();
    value.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_metadata_of_a_version_fits_a_label() {
        assert_eq!(label_value("1.2.0-rc.1+build/7"), "1.2.0-rc.1_build_7");
        assert_eq!(label_value("1.0+"), "1.0");
    }
}
