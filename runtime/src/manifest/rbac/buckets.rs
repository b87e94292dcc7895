//! `BucketAccess`: the access of an operator to the objects of a kind in a bucket.

use super::grant::{all_grants, is_on};
use crate::{kind::Kind, manifest::Project};

/// The access of the operator to the objects of a kind in a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BucketAccess {
    /// No part of the operator uses the objects.
    #[default]
    None,
    /// The operator reads and watches the objects.
    Read,
    /// The operator also writes objects: it controls, creates or references them, or writes their finalizers.
    Write,
}

/// Verbs of RBAC that change nothing.
const READ_VERBS: [&str; 3] = ["get", "list", "watch"];

/// Returns the access of the operator to the objects of a kind in a bucket. It follows from the verbs of the RBAC rules that the operator
/// would need if the kind were in Kubernetes.
pub(crate) fn bucket_access(project: &Project, kind: &Kind) -> BucketAccess {
    // The process itself writes objects of these kinds, for example events.
    if project.own_buckets.iter().any(|(own, _)| own == kind) {
        return BucketAccess::Write;
    }
    let grants = all_grants(project);
    let rules = grants.iter().map(|grant| &grant.rule).filter(|rule| is_on(rule, kind));
    let access = rules.flat_map(|rule| &rule.verbs).map(|verb| match READ_VERBS.contains(&verb.as_str()) {
        true => BucketAccess::Read,
        false => BucketAccess::Write,
    });
    access.max().unwrap_or_default()
}
