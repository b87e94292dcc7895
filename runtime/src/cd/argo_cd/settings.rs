//! `ArgoCdSettings`: the settings of an installation of Argo CD.

/// The settings of an installation of Argo CD.
pub trait ArgoCdSettings: 'static {
    /// The namespace of Argo CD, where its applications are. Default: `argocd`.
    const NAMESPACE: &'static str = "argocd";
    /// The project of the applications. Default: `default`.
    const PROJECT: &'static str = "default";
    /// The name of the cluster in Argo CD into which the applications are deployed. Default: `in-cluster`, the cluster of Argo CD.
    const CLUSTER: &'static str = "in-cluster";
}

/// The settings of Argo CD as its manifests install it.
#[derive(Debug)]
#[non_exhaustive]
pub struct DefaultArgoCd;

impl ArgoCdSettings for DefaultArgoCd {}
