//! `ApplicationHarness`: for tests of CD drivers. It adds all defaults to an application, as the operator does before it calls a driver.

use crate::{
    cd::{
        application::{Application, ApplicationOwner},
        driver::{ApplicationSpec, Driver, InvalidApplication},
        registered_cluster::RegisteredCluster,
    },
    engine::identity::REMOTE_NAMESPACE,
    shape::{Access, ClusterCredentials},
};

/// The owner and the node of an application, for tests of a driver. It returns the application with all defaults, as the operator passes
/// it to [`Driver::objects`].
///
/// The crate `opgen-testing` has a suite for drivers, `opgen_testing::driver`, which checks a driver with many applications.
///
/// # Example
///
/// ```
/// use opgen::cd::{Application, ArgoCd, Driver};
/// use opgen::testing::ApplicationHarness;
///
/// # fn main() -> Result<(), opgen::cd::InvalidApplication> {
/// let application = Application::chart("https://charts.example.com", "web", "1.2.3").release("shop");
/// let spec = ApplicationHarness::new().resolve::<ArgoCd>(application)?;
/// let objects = <ArgoCd>::objects(&spec)?;
/// assert_eq!(objects[0]["spec"]["source"]["helm"]["releaseName"], "shop");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ApplicationHarness {
    operator: String,
    owner: String,
    namespace: Option<String>,
    node: String,
    /// The kubeconfig of the remote node that the application is below: the name of its Secret, and its credentials.
    remote: Option<(String, ClusterCredentials)>,
}

impl Default for ApplicationHarness {
    fn default() -> Self {
        Self::new()
    }
}

impl ApplicationHarness {
    /// Returns the node `web` of the owner `one` in the namespace `shop`, of the operator `demo`.
    pub fn new() -> Self {
        Self {
            operator: "demo".to_owned(),
            owner: "one".to_owned(),
            namespace: Some("shop".to_owned()),
            node: "web".to_owned(),
            remote: None,
        }
    }

    /// Sets the name of the operator.
    #[must_use]
    pub fn operator(mut self, name: impl Into<String>) -> Self {
        self.operator = name.into();
        self
    }

    /// Sets the name of the owner.
    #[must_use]
    pub fn owner(mut self, name: impl Into<String>) -> Self {
        self.owner = name.into();
        self
    }

    /// Sets the namespace of the owner.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Makes the owner cluster-scoped.
    #[must_use]
    pub fn cluster_scoped(mut self) -> Self {
        self.namespace = None;
        self
    }

    /// Sets the path of the node, with keys: `pools[blue]/web`.
    #[must_use]
    pub fn node(mut self, path: impl Into<String>) -> Self {
        self.node = path.into();
        self
    }

    /// Puts the node below a remote node: the name of the Secret with the kubeconfig, and the credentials in it. If the driver has a
    /// registration, the application is deployed into the registered cluster.
    #[must_use]
    pub fn remote(mut self, kubeconfig: impl Into<String>, credentials: ClusterCredentials) -> Self {
        self.remote = Some((kubeconfig.into(), credentials));
        self
    }

    /// Returns an application as the operator passes it to the driver `D`.
    ///
    /// # Errors
    /// If a part of the application is invalid.
    pub fn resolve<D: Driver>(&self, application: Application) -> Result<ApplicationSpec, InvalidApplication> {
        let namespace = self.namespace.as_deref();
        let is_remote = self.remote.is_some();
        // A driver without a registration deploys by objects in the cluster of the remote node, and not in that of the operator.
        let has_remote_objects = is_remote && D::REGISTRATION.is_none();
        // The operator identifies a cluster by the path of the Secret with its kubeconfig, which starts in the operator's cluster.
        let cluster = match &self.remote {
            Some((kubeconfig, _)) => format!("/{}/{kubeconfig}", namespace.unwrap_or(REMOTE_NAMESPACE)),
            None => String::new(),
        };
        let owner = ApplicationOwner {
            operator: &self.operator,
            kind: "stacks.example.com".to_owned(),
            name: &self.owner,
            namespace: if is_remote { Some(REMOTE_NAMESPACE) } else { namespace },
            object_namespace: if has_remote_objects { Some(REMOTE_NAMESPACE) } else { namespace },
            node: &self.node,
            cluster: &cluster,
        };
        application.resolve(&owner, self.registered_cluster::<D>().as_ref())
    }

    /// Returns the cluster of the remote node, as it is registered with the CD system of the driver. `None` if the application is not below
    /// a remote node, or if the driver has no registration.
    fn registered_cluster<D: Driver>(&self) -> Option<RegisteredCluster> {
        let ((kubeconfig, credentials), registration) = self.remote.as_ref().zip(D::REGISTRATION)?;
        // The last kind of the driver is that of the object which deploys the application.
        let deploying_kind = D::ACCESS.iter().rev().find_map(Access::kind)?;
        Some(RegisteredCluster::new(registration, credentials, kubeconfig, self.namespace.as_deref(), &deploying_kind))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cd::{ApplicationDestination, ArgoCd, InCluster, flux};

    fn chart() -> Application {
        Application::chart("https://charts.example.com", "web", "1.2.3")
    }

    fn credentials() -> ClusterCredentials {
        ClusterCredentials { server: "https://blue.example.com".to_owned(), ..ClusterCredentials::default() }
    }

    #[test]
    fn an_application_below_a_remote_node_goes_into_its_cluster() {
        let harness = ApplicationHarness::new().remote("blue", credentials());
        let spec = harness.resolve::<ArgoCd>(chart()).unwrap();
        assert!(
            matches!(&spec.destination, ApplicationDestination::Registered(name) if name.starts_with("opgen-cluster-"))
        );
        assert_eq!((spec.owner_namespace.as_deref(), &*spec.namespace), (Some("shop"), "default"));
        let spec = harness.resolve::<flux::HelmCharts>(chart()).unwrap();
        assert!(
            matches!(&spec.destination, ApplicationDestination::Kubeconfig { namespace, .. } if namespace == "shop")
        );
        let spec = harness.resolve::<InCluster<ArgoCd>>(chart()).unwrap();
        assert_eq!(
            (spec.destination, spec.owner_namespace.as_deref()),
            (ApplicationDestination::Default, Some("default"))
        );
    }

    #[test]
    fn each_part_of_the_owner_gives_another_name() {
        let harness = ApplicationHarness::new;
        let harnesses = [
            harness(),
            harness().operator("other"),
            harness().owner("two"),
            harness().namespace("elsewhere"),
            harness().cluster_scoped(),
            harness().node("pools[blue]/web"),
            harness().remote("blue", credentials()),
        ];
        let names = harnesses.map(|harness| harness.resolve::<ArgoCd>(chart()).unwrap().object_name);
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
    }
}
