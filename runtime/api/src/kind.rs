//! A kind by its names.

pub(crate) mod dynamic;

use std::borrow::Cow;

/// A kind of the API, by its names: what a request, a watch or a rule needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// The version, for example `v1alpha1`.
    pub version: Cow<'static, str>,
    /// The kind in PascalCase.
    pub kind: Cow<'static, str>,
    /// The name in URLs and rules.
    pub plural: Cow<'static, str>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl Kind {
    /// `group/version`, or the version alone for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_string() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `<plural>.<group>`, or the plural alone for the core group: the name of a custom kind's definition.
    pub fn full_name(&self) -> String {
        if self.group.is_empty() { self.plural.to_string() } else { format!("{}.{}", self.plural, self.group) }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)
    }
}

/// Whether objects live in namespaces, told by `kube`'s scope types.
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
    /// Its names.
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

/// The names of a Rust type that is a kind.
pub fn kind_of<K: Typed>() -> Kind {
    K::names()
}
