//! Defines `Provisioner`: the trait of all types that are nodes of an operator's tree. It describes the node and its children as a
//! constant.

use super::node::Shape;

/// A type that is a node of a tree. It is derived for groups and for hand-written nodes; see the derive of the same name for its
/// attributes.
///
/// ```
/// use k8s_openapi::api::apps::v1::Deployment;
/// use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
/// use opgen::prelude::*;
/// # use kube::{CustomResource, ResourceExt};
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
/// # #[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
/// # #[serde(rename_all = "camelCase")]
/// # pub struct WebAppSpec {
/// #     #[managed(allow(bool))]
/// #     public: bool,
/// #     #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
/// #     pools: Vec<Pool>,
/// # }
/// # #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
/// # pub struct Pool { name: String }
///
/// // Provisions one child after the other, and deprovisions them in reverse order.
/// #[derive(Provisioner)]
/// #[provisioner(serial, owner = WebApp, retired(cache: Deployment))]
/// struct Tree {
///     // Created once, with random text.
///     #[provisioner(resource(once))]
///     password: Secret,
///     // Takes over the object that a Helm chart created, and the fields of its field manager.
///     #[provisioner(resource(adopt("helm")))]
///     config: ConfigMap,
///     count: Count,
///     // Takes the outputs of earlier nodes as inputs.
///     #[provisioner(from(config, count))]
///     workload: Workload,
///     // One subtree for each pool.
///     #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
///     pools: PoolTree,
///     // Only for public applications.
///     #[provisioner(resource, when = |app| app.spec.public, from(workload.service))]
///     note: ConfigMap,
/// }
///
/// impl Tree {
///     fn password(app: &Draft<'_, WebApp>) -> Secret {
///         Secret { string_data: Some([("password".into(), app.random_text(22))].into()), ..Secret::default() }
///     } fn config(_: &WebApp) -> ConfigMap {
///         ConfigMap::default()
///     }
///     fn note(_: &WebApp, service: &Service) -> ConfigMap {
///         ConfigMap { data: Some([("service".into(), service.name_any())].into()), ..ConfigMap::default() }
///     }
/// }
///
/// // A hand-written node with the permissions that it needs.
/// #[derive(Provisioner)]
/// #[provisioner(access(Secret: list), output = usize)]
/// struct Count;
///
/// impl Provision<WebApp> for Count {
///     async fn provision(cx: &Context<'_, WebApp, Self>) -> Result<()> {
///         cx.set_output(cx.object().spec.pools.len());
///         Ok(())
///     }
///     async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
///         Ok(())
///     }
/// }
///
/// // Provisions all children at once, except that the Deployment comes after the Service; deprovisions them one by one.
/// #[derive(Provisioner)]
/// #[provisioner(up = concurrent, down = serial, owner = WebApp, inputs(config: ConfigMap, count: usize))]
/// struct Workload {
///     #[provisioner(resource, from(config))]
///     service: Service,
///     #[provisioner(resource, after(service), from(count))]
///     deployment: Option<Deployment>,
/// }
///
/// impl Workload {
///     fn service(_: &WebApp, config: &ConfigMap) -> Service {
///         let mut service = Service::default();
///         service.metadata.labels = config.metadata.labels.clone();
///         service
///     }
///     fn deployment(_: &WebApp, count: &usize) -> Result<Option<Deployment>> {
///         Ok((*count > 0).then(Deployment::default))
///     }
/// }
///
/// // The objects of one pool.
/// #[derive(Provisioner)]
/// #[provisioner(concurrent, owner = Each<WebApp, Pool>)]
/// struct PoolTree {
///     #[provisioner(resource)]
///     config: ConfigMap,
/// }
///
/// impl PoolTree {
///     fn config(pool: &Pool) -> ConfigMap {
///         let mut config = ConfigMap::default();
///         config.metadata.name = Some(format!("pool-{}", pool.name));
///         config
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a provisioner",
    note = "a field of a group is a provisioner, or a Kubernetes kind marked `#[provisioner(resource)]`"
)]
pub trait Provisioner: Sized + 'static {
    /// The inputs from the parent group that `inputs(...)` declares, as a tuple of [`Output`](crate::Output); `()` without
    /// `inputs(...)`.
    type Inputs: Clone + Send + Sync + 'static;
    /// The type of the output that `output = ...` declares; `()` without it.
    type Output: Send + Sync + 'static;
    /// The description of the node and all nodes below it.
    const SHAPE: Shape;
}
