//! Checks the API versions that `#[versions(...)]` lists: their names, their order and their options.

use crate::{
    attrs::versions::VersionInput,
    check::{managed::check_deprecation, names::is_version},
    diag::Diags,
    model::versions::VersionsModule,
};
use proc_macro2::Ident;

const OPTIONS: [&str; 3] = ["deprecated", "not_served", "stored"];

/// Checks the arguments of `#[versions(...)]`: the names, the order and the options of the versions, and that `crate` and the option
/// `stored` appear at most once.
pub(super) fn check(model: &VersionsModule, diags: &mut Diags) {
    if let [first, second, ..] = model.crates.as_slice() {
        diags.conflict(second, "`crate` appears twice", "remove one", first, "the first is here");
    }
    if model.versions.is_empty() {
        diags
            .missing("`#[versions(...)]` names no version", "name them, the oldest first: `#[versions(v1alpha1, v1)]`");
    }
    for (index, version) in model.versions.iter().enumerate() {
        let earlier = model.versions.get(..index).unwrap_or_default();
        check_name(version, earlier, diags);
        check_options(version, diags);
        let stored_before = earlier.iter().find_map(|version| version.option("stored"));
        if let (Some(stored), Some(other)) = (version.option("stored"), stored_before) {
            diags.conflict(
                &stored.key,
                "the objects of a kind are stored in one version",
                "keep one `stored`",
                &other.key,
                "also here",
            );
        }
    }
    if let Some(newest) = model.versions.last() {
        check_newest(newest, diags);
    }
}

/// Reports a name that is not a version of Kubernetes, a version that is listed twice, and a version that is listed after a newer one.
fn check_name(version: &VersionInput, earlier: &[VersionInput], diags: &mut Diags) {
    let name = version.name.to_string();
    let is_newer = |other: &&VersionInput| is_older(&version.name, &other.name);
    if !is_version(&name) {
        let fix = "use a name such as `v1`, `v1beta1` or `v2alpha3`";
        diags.error(&version.name, format!("`{name}` is not a valid version"), fix);
    } else if let Some(other) = earlier.iter().find(|other| other.name == version.name) {
        diags.conflict(
            &version.name,
            format!("`{name}` appears twice"),
            "remove one",
            &other.name,
            "the first is here",
        );
    } else if let Some(other) = earlier.iter().rfind(is_newer) {
        let problem = format!("`{name}` is older than `{}` before it", other.name);
        diags.error(&version.name, problem, "name the oldest version first");
    }
}

/// Checks the options of a version. Reports unknown and repeated options, a text for an option other than `deprecated`, an invalid
/// deprecation warning, and `stored` together with `not_served`.
fn check_options(version: &VersionInput, diags: &mut Diags) {
    for (index, option) in version.options.iter().enumerate() {
        let earlier = version.options.get(..index).unwrap_or_default();
        let key = option.key.to_string();
        if !OPTIONS.contains(&key.as_str()) {
            diags.unknown("option", &option.key, &OPTIONS);
        } else if let Some(other) = earlier.iter().find(|other| other.key == option.key) {
            diags.conflict(
                &option.key,
                format!("`{key}` appears twice"),
                "remove one",
                &other.key,
                "the first is here",
            );
        } else if let (true, Some(value)) = (key != "deprecated", &option.value) {
            diags.error(value, format!("`{key}` takes no text"), format!("write `{key}` alone"));
        } else if let Some(warning) = &option.value {
            check_deprecation(warning, diags);
        }
    }
    if let (Some(stored), Some(not_served)) = (version.option("stored"), version.option("not_served")) {
        let problem = "the stored version must be served";
        diags.conflict(&stored.key, problem, "remove one of both", &not_served.key, "not served here");
    }
}

/// Reports options that the newest version can't have: `not_served`, since the operator uses the newest version, and `deprecated` without a
/// text that names a replacement.
fn check_newest(newest: &VersionInput, diags: &mut Diags) {
    let name = &newest.name;
    if let (Some(not_served), None) = (newest.option("not_served"), newest.option("stored")) {
        let problem = format!("the operator works with the newest version, `{name}`, so it must be served");
        diags.error(&not_served.key, problem, "remove `not_served`");
    }
    if let Some(deprecated) = newest.option("deprecated").filter(|deprecated| deprecated.value.is_none()) {
        let problem = format!("`{name}` is the newest version, so that there is none to use instead");
        let fix = "remove `deprecated`, or name the replacement of the kind: `deprecated = \"use Other\"`";
        diags.error(&deprecated.key, problem, fix);
    }
}

/// Returns whether `version` is certainly older than `other`: in the order by major number, and in the order of Kubernetes, which compares
/// the stability (alpha, beta, stable) first. If the orders disagree, the user may list the two versions in either order: `v2alpha1` may
/// follow `v1` (a redesign) or precede it (a redesign that was withdrawn).
fn is_older(version: &Ident, other: &Ident) -> bool {
    if !is_version(&other.to_string()) {
        return false;
    }
    let ((stability, major, minor), (other_stability, other_major, other_minor)) = (parts(version), parts(other));
    (stability, major, minor) < (other_stability, other_major, other_minor)
        && (major, stability, minor) < (other_major, other_stability, other_minor)
}

/// Splits a version into its stability (0 for alpha, 1 for beta, 2 for stable), its major number, and the number after `alpha` or `beta`:
/// `(1, 2, 3)` for `v2beta3`.
fn parts(version: &Ident) -> (u8, u64, u64) {
    let text = version.to_string();
    let rest = text.strip_prefix('v').unwrap_or(&text);
    let number = |text: &str| text.parse().unwrap_or(u64::MAX);
    for (word, stability) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return (stability, number(major), number(minor));
        }
    }
    (2, number(rest), 0)
}

#[cfg(test)]
mod tests {
    use super::is_older;
    use proc_macro2::{Ident, Span};

    #[test]
    fn a_version_is_older_than_another_if_both_orders_agree() {
        let is_older = |version: &str, other: &str| {
            is_older(&Ident::new(version, Span::call_site()), &Ident::new(other, Span::call_site()))
        };
        for order in [["v1alpha1", "v1alpha2", "v1beta1", "v1"], ["v1", "v2beta1", "v2", "v10"]] {
            assert!(order.windows(2).all(|pair| !is_older(pair[1], pair[0])), "{order:?}");
        }
        assert!(is_older("v1beta1", "v1") && is_older("v1alpha1", "v2alpha1") && is_older("v2", "v10"));
        assert!(!is_older("v2alpha1", "v1") && !is_older("v1", "v2alpha1"));
    }
}
