//! The tree that reconciles a `HelmDeployment`: one hand-written node, which runs `helm` to deploy and remove the release.

use super::{
    deployment::{HelmDeployment, HelmKubeconfig},
    runner::ReleaseRunner,
    settings::HelmSettings,
};
use crate::{
    access,
    cd::kubeconfig::kubeconfig,
    context::{Calls, Context, Teardown},
    engine::pass::PassCore,
    error::{Error, Result, yield_because},
    kind::kind_of,
    provisioner::{
        Provision,
        group::{down, up},
    },
    readiness::{DEGRADED, Readiness},
    scope::{KubeconfigSecret, read_credentials},
    shape::{Access, Edge, Node, Provisioner, Shape, SourceLocation, Verb},
};
use k8s_openapi::api::core::v1::Secret;
use std::marker::PhantomData;

/// The permissions for the Secrets in which Helm stores releases, and for those with kubeconfigs.
const STORAGE: &[Access] = &[Access::to(
    kind_of::<Secret>,
    &[Verb::Get, Verb::List, Verb::Create, Verb::Update, Verb::Delete],
    SourceLocation::UNKNOWN,
)];

/// The tree of a `HelmDeployment`: a group with the permissions that every release needs. Its node has those for the objects of the charts.
pub(super) struct HelmTree<S>(PhantomData<fn() -> S>);

impl<S: HelmSettings> Provisioner for HelmTree<S> {
    type Inputs = ();
    type Output = ();
    const SHAPE: Shape = Shape {
        node: Node::SERIAL,
        access: STORAGE,
        children: &[Edge::plain("release", &ReleaseNode::<S>::SHAPE, SourceLocation::UNKNOWN)],
    };
}

impl<S: HelmSettings> Provision<HelmDeployment> for HelmTree<S> {
    async fn provision(cx: &Context<'_, HelmDeployment, Self>) -> Result<()> {
        up::<ReleaseNode<S>, HelmDeployment, Self>(cx, "release").await
    }

    async fn deprovision(cx: &Teardown<'_, HelmDeployment, Self>) -> Result<()> {
        down::<ReleaseNode<S>, HelmDeployment, Self>(cx, "release").await
    }
}

/// The node that deploys and removes the release.
struct ReleaseNode<S>(PhantomData<fn() -> S>);

impl<S: HelmSettings> Provisioner for ReleaseNode<S> {
    type Inputs = ();
    type Output = ();
    const SHAPE: Shape = Shape { node: Node::Custom, access: S::ACCESS, children: &[] };
}

impl<S> access::Get<ReleaseNode<S>> for Secret {}

impl<S: HelmSettings> Provision<HelmDeployment> for ReleaseNode<S> {
    /// Deploys the release with `helm` if needed. Yields (waits for the next pass) until the objects of the release are ready, unless the
    /// spec allows a degraded release.
    async fn provision(cx: &Context<'_, HelmDeployment, Self>) -> Result<()> {
        let deployment = cx.object();
        if let Some(problem) = deployment.spec.problem() {
            return Err(Error::user_action("InvalidDeployment", problem));
        }
        let kubeconfig = match find_kubeconfig(cx, deployment).await? {
            ReleaseCluster::Own => None,
            ReleaseCluster::Remote(kubeconfig) => Some(kubeconfig),
            ReleaseCluster::Gone(secret) => {
                return yield_because("KubeconfigMissing", format!("{secret} with the kubeconfig does not exist"));
            }
        };
        let release = runner::<S>(cx.core(), deployment, kubeconfig).deploy(cx.now()).await?;
        if deployment.spec.allow_degraded {
            return Ok(());
        }
        match release.readiness() {
            Readiness::Ready => Ok(()),
            Readiness::NotReady(progress) => yield_because("Progressing", progress),
            Readiness::HeldUp(problem) => yield_because(DEGRADED, problem),
        }
    }

    /// Uninstalls the release with `helm`, and yields (waits for the next pass) until the release and its objects are gone.
    async fn deprovision(cx: &Teardown<'_, HelmDeployment, Self>) -> Result<()> {
        let deployment = cx.object();
        // A release with an invalid name or namespace was never deployed.
        if deployment.spec.release_problem().is_some() {
            return Ok(());
        }
        let kubeconfig = match find_kubeconfig(cx, deployment).await? {
            ReleaseCluster::Own => None,
            ReleaseCluster::Remote(kubeconfig) => Some(kubeconfig),
            // The cluster is gone, and the release with it.
            ReleaseCluster::Gone(_) => return Ok(()),
        };
        if runner::<S>(cx.core(), deployment, kubeconfig).remove().await? {
            return Ok(());
        }
        yield_because("Uninstalling", format!("release {} is being uninstalled", deployment.spec.release))
    }
}

/// The cluster of a release.
enum ReleaseCluster {
    /// That of the operator.
    Own,
    /// That of a kubeconfig.
    Remote(String),
    /// The Secret with the kubeconfig does not exist.
    Gone(KubeconfigSecret),
}

/// Returns the cluster of a `HelmDeployment`, from the Secret with the kubeconfig that its spec names. The kubeconfig for `helm` contains
/// only the credentials from the Secret, so that it can't name a file or a program in the operator's container.
async fn find_kubeconfig<S>(calls: &Calls<'_, ReleaseNode<S>>, deployment: &HelmDeployment) -> Result<ReleaseCluster> {
    let Some(HelmKubeconfig { name, key }) = &deployment.spec.kubeconfig else { return Ok(ReleaseCluster::Own) };
    let namespace = deployment.metadata.namespace.clone().unwrap_or_default();
    let secret = KubeconfigSecret { namespace, name: name.clone(), key: key.clone(), server: None };
    match calls.find::<Secret>(name).await? {
        Some(found) => {
            let credentials = read_credentials(&secret, &found).await?;
            Ok(ReleaseCluster::Remote(kubeconfig(&credentials).to_string()))
        }
        None => Ok(ReleaseCluster::Gone(secret)),
    }
}

/// Returns the runner for the release of a `HelmDeployment`, in the cluster of `kubeconfig`, or in that of the operator if it is `None`.
fn runner<'a, S: HelmSettings>(
    core: &'a PassCore<'_>,
    deployment: &'a HelmDeployment,
    kubeconfig: Option<String>,
) -> ReleaseRunner<'a> {
    let metadata = &deployment.metadata;
    let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
    ReleaseRunner {
        program: core.shared.environment.helm_program(),
        spec: &deployment.spec,
        owner: format!("{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default()),
        kubeconfig,
        deadline: S::DEADLINE,
        revisions: S::REVISIONS,
    }
}
