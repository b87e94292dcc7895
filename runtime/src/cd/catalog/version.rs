//! Compares semantic versions, and checks them against constraints.

use semver::{Version, VersionReq};

/// Returns whether a version meets constraints: alternatives separated by `||`, of comparators separated by commas or spaces. `None` if
/// they can't be read.
pub(super) fn is_within(version: &str, constraints: &str) -> Option<bool> {
    if constraints.is_empty() {
        return Some(true);
    }
    let alternatives = constraints.split("||").map(parse_alternative).collect::<Option<Vec<_>>>()?;
    let version = parse(version);
    Some(version.is_some_and(|version| alternatives.iter().any(|alternative| alternative.matches(&version))))
}

/// Parses comparators of versions, each of which may begin with a `v`.
fn parse_alternative(text: &str) -> Option<VersionReq> {
    let (mut comparators, mut operator) = (Vec::new(), "");
    for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
        let version = word.trim_start_matches(['<', '>', '=', '^', '~']);
        let own_operator = &word[..word.len() - version.len()];
        if version.is_empty() {
            // The version is the next word.
            operator = own_operator;
            continue;
        }
        let operator = if own_operator.is_empty() { std::mem::take(&mut operator) } else { own_operator };
        comparators.push(format!("{operator}{}", version.strip_prefix(['v', 'V']).unwrap_or(version)));
    }
    VersionReq::parse(&comparators.join(",")).ok()
}

/// Returns whether two texts are the same semantic version, or the same text.
pub(super) fn is_same_version(one: &str, other: &str) -> bool {
    match (parse(one), parse(other)) {
        (Some(one), Some(other)) => one.cmp_precedence(&other).is_eq(),
        _ => one == other,
    }
}

/// Parses a semantic version. A leading `v` is skipped, and missing numbers are zero.
fn parse(version: &str) -> Option<Version> {
    let text = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let missing = 2usize.checked_sub(numbers.matches('.').count())?;
    Version::parse(&format!("{numbers}{}{rest}", ".0".repeat(missing))).ok()
}
