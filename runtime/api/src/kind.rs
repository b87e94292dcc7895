//! Defines `Kind`, the group, version, kind, plural and scope of a Kubernetes resource type, and reads it from Rust types.

pub(crate) mod dynamic;

use std::borrow::Cow;

/// A kind of the Kubernetes API: group, version, kind, plural and scope, as requests, watches and RBAC rules need them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

    /// Returns `<plural>.<group>`, or the plural alone for the core group. For a custom kind, it is the name of its
    /// CustomResourceDefinition.
    pub fn full_name(&self) -> String {
        if self.group.is_empty() { self.plural.to_string() } else { format!("{}.{}", self.plural, self.group) }
    }
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
