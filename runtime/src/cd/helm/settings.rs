//! `HelmSettings`: the rights and the limits of the releases that an operator deploys.

use crate::shape::Access;
use std::time::Duration;

/// The settings of [`Operator::deploys_with_helm`](crate::Operator::deploys_with_helm). See the [module](crate::cd::helm) for an
/// example.
pub trait HelmSettings: 'static {
    /// The permissions for the objects in the charts and for their hooks, by [`Access::applied`] for each kind. For workloads, Helm
    /// also needs `list` of Pods and of ReplicaSets, and for applications that create their namespace `create` and `patch` of Namespaces.
    /// If the charts have roles, the operator needs the rights that these roles grant. The rights for the releases of Helm, which are
    /// Secrets, are added.
    const ACCESS: &'static [Access];
    /// The maximum duration of a run of `helm`, which is killed then. Default: five minutes.
    const DEADLINE: Duration = Duration::from_secs(300);
    /// The number of revisions of a release that Helm keeps. Default: 10.
    const REVISIONS: u32 = 10;
}
