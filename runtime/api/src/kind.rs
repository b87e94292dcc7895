//! Defines `Kind`, the group, version, kind, plural and scope of a Kubernetes resource type, and reads it from Rust types.

pub(crate) mod dynamic;

use std::{
    borrow::Cow,
    cmp::Ordering,
    hash::{Hash, Hasher},
};

/// A kind of the Kubernetes API: group, version, kind, plural and scope, as requests, watches and RBAC rules need them.
///
/// Two values are equal if group and kind are: the API server serves each object in all versions of its kind, so the version says
/// only how a client reads and writes it. Order and hash follow the same two fields, and a map with this key has one entry per
/// kind. Where objects are decoded as a Rust type, compare with [`Kind::is_same_version`].
///
/// ```
/// # use k8s_openapi::api::autoscaling::{v1, v2};
/// # use opgen::Typed;
/// let (old, new) = (v1::HorizontalPodAutoscaler::names(), v2::HorizontalPodAutoscaler::names());
/// assert_eq!(old, new);
/// assert!(!old.is_same_version(&new));
/// ```
#[derive(Clone, Debug)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// The version, for example `v1alpha1`.
    pub version: Cow<'static, str>,
    /// The kind in PascalCase.
    pub kind: Cow<'static, str>,
    /// The plural name (resource) in URLs and RBAC rules.
    pub plural: Cow<'static, str>,
    /// Whether the kind is namespaced, and not cluster-scoped.
    pub namespaced: bool,
}

impl Kind {
    /// Returns `group/version`, or the version alone for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_string() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns whether both are the same kind in the same version, so that their objects decode as the same Rust type.
    pub fn is_same_version(&self, other: &Self) -> bool {
        self == other && self.version == other.version
    }

    /// Returns whether an object with this `apiVersion` and `kind`, for example the target of an owner reference, is of this kind in
    /// any version.
    pub fn is_kind_of(&self, api_version: &str, kind: &str) -> bool {
        self.kind == kind && self.group == group_of(api_version)
    }

    /// Returns the group and the name, which identify the kind.
    fn identity(&self) -> (&str, &str) {
        (&self.group, &self.kind)
    }

    /// Returns `<plural>.<group>`, or the plural alone for the core group. For a custom kind, it is the name of its
    /// CustomResourceDefinition.
    pub fn full_name(&self) -> String {
        if self.group.is_empty() { self.plural.to_string() } else { format!("{}.{}", self.plural, self.group) }
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Kind {}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// Returns the group of an `apiVersion`; empty for the core group.
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)
    }
}

/// A scope type of `kube`, as a constant.
pub trait Scoped {
    /// `true` for namespaced kinds.
    const NAMESPACED: bool;
}

impl Scoped for k8s_openapi::NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

impl Scoped for k8s_openapi::ClusterResourceScope {
    const NAMESPACED: bool = false;
}

/// A Rust type that is a Kubernetes kind: every type of `k8s-openapi` with metadata, and every derived custom kind.
pub trait Typed: kube::Resource<DynamicType = ()> + Send + Sync + 'static {
    /// Returns the kind.
    fn names() -> Kind;
}

impl<K: kube::Resource<DynamicType = (), Scope: Scoped> + Send + Sync + 'static> Typed for K {
    /// Returns the kind with the names and the scope of kube's `Resource`.
    fn names() -> Kind {
        Kind {
            group: K::group(&()),
            version: K::version(&()),
            kind: K::kind(&()),
            plural: K::plural(&()),
            namespaced: <K::Scope as Scoped>::NAMESPACED,
        }
    }
}

/// Returns the kind of a Rust type.
pub fn kind_of<K: Typed>() -> Kind {
    K::names()
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::{
        autoscaling::{v1, v2},
        core::v1::{Event, Pod},
        events::v1::Event as EventOfGroup,
    };
    use std::collections::{BTreeSet, HashSet};

    #[test]
    fn a_kind_is_the_same_in_all_versions_and_another_in_another_group() {
        let (old, new) = (kind_of::<v1::HorizontalPodAutoscaler>(), kind_of::<v2::HorizontalPodAutoscaler>());
        assert_eq!(old, new);
        assert!(!old.is_same_version(&new) && old.is_same_version(&old));
        assert_ne!(kind_of::<Event>(), kind_of::<EventOfGroup>());
        assert!(!kind_of::<Event>().is_same_version(&kind_of::<EventOfGroup>()));
        // Order and hash don't include the version, either.
        let kinds = [old, new, kind_of::<Event>(), kind_of::<EventOfGroup>()];
        assert_eq!(kinds.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(kinds.iter().collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn is_kind_of_ignores_the_version_but_not_the_group_or_kind() {
        let autoscaler = kind_of::<v2::HorizontalPodAutoscaler>();
        for version in ["autoscaling/v2", "autoscaling/v1", "autoscaling/v3alpha1"] {
            assert!(autoscaler.is_kind_of(version, "HorizontalPodAutoscaler"), "{version}");
        }
        for (version, kind) in [("v2", "HorizontalPodAutoscaler"), ("autoscaling/v2", "Scale"), ("scaling/v2", "Pod")] {
            assert!(!autoscaler.is_kind_of(version, kind), "{version} {kind}");
        }
        assert!(kind_of::<Pod>().is_kind_of("v1", "Pod"));
    }
}
