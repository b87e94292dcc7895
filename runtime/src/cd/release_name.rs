//! Checks the names of Helm releases, as Helm does.

use crate::dns_name::is_dns_subdomain;

/// The maximum length of the name of a release.
///
/// Source: the package `chart/v2/util` of Helm.
pub(super) const MAX_RELEASE_NAME: usize = 53;

/// Returns why Helm refuses the name of a release; `None` if it does not.
pub(super) fn release_problem(release: &str) -> Option<&'static str> {
    if release.len() > MAX_RELEASE_NAME {
        return Some("the name of the release is longer than 53 characters");
    }
    let is_valid = is_dns_subdomain(release);
    (!is_valid).then_some("the name of the release is not a DNS name of lower-case letters, digits, hyphens and dots")
}
