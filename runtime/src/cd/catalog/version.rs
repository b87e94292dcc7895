//! Compares semantic versions, and checks them against constraints.

use semver::{Version, VersionReq};

/// Returns whether a version meets constraints: alternatives separated by `||`, of comparators separated by commas or spaces. `None` if the
/// constraints can't be parsed. A version that can't be parsed meets no constraints except empty ones.
pub(super) fn is_within(version: &str, constraints: &str) -> Option<bool> {
    if constraints.is_empty() {
        return Some(true);
    }
    let alternatives = constraints.split("||").map(parse_alternative).collect::<Option<Vec<_>>>()?;
    let version = parse(version);
    Some(version.is_some_and(|version| alternatives.iter().any(|alternative| alternative.matches(&version))))
}

/// Parses the comparators of one alternative, for example `>=v1.2, < 2`: a version may begin with a `v`, and an operator may be separated
/// from its version by a space. `None` if they are invalid.
fn parse_alternative(text: &str) -> Option<VersionReq> {
    let (mut comparators, mut operator) = (Vec::new(), "");
    for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
        let version = word.trim_start_matches(['<', '>', '=', '^', '~']);
        let own_operator = &word[..word.len() - version.len()];
        if version.is_empty() {
            // The word is an operator alone; its version is the next word.
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

/// Parses a semantic version. A leading `v` is skipped, and missing numbers are zero: `v1.2-rc` is `1.2.0-rc`.
fn parse(version: &str) -> Option<Version> {
    let text = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    // A complete version has two dots.
    let missing = 2usize.checked_sub(numbers.matches('.').count())?;
    Version::parse(&format!("{numbers}{}{rest}", ".0".repeat(missing))).ok()
}
