//! Deletes objects with the Namespace of their tree, by the key `deleted_with` of their node.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{
    Api, CustomResource,
    api::{DeleteParams, Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kinds::{holding, named};
use crate::operator::{
    kinds::available,
    rest,
    site::{Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_deleted_with_its_namespace_has_no_deletion_of_its_own", with_namespace),
        case("node_deleted_with_its_namespace_keeps_the_owner_until_its_finalizer_is_removed", held),
        case("node_deleted_with_its_namespace_is_not_deleted_again_if_another_client_deletes_that", by_another_client),
        case("node_deleted_with_a_namespace_deletes_an_object_in_another_namespace", elsewhere),
        case("node_deleted_with_a_namespace_that_does_not_exist_deletes_its_objects", without_namespace),
        case("node_deleted_with_its_namespace_deletes_its_object_if_only_the_node_goes", only_the_node),
    ]
}

const TENANT: &str = "tenant";
const FINALIZER: &str = "example.com/hold";

/// It is watched in all namespaces. Each case selects its own by a label.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Tenant", namespaced, status = "Status")]
pub(crate) struct TenantSpec {
    /// The Namespace of the tree, if it has one.
    space: Option<String>,
    /// A namespace that is not of the tree.
    elsewhere: Option<String>,
    #[serde(default)]
    extra: bool,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Tenant)]
struct TenantTree {
    #[provisioner(resource)]
    space: Option<Namespace>,
    #[provisioner(resource, deleted_with(space))]
    config: Vec<ConfigMap>,
    #[provisioner(resource, deleted_with(space), when = |tenant| tenant.spec.extra)]
    extra: Option<ConfigMap>,
    #[provisioner(deleted_with(space))]
    keys: TenantKeys,
}

impl TenantTree {
    fn space(tenant: &Tenant) -> Option<Namespace> {
        let name = tenant.spec.space.as_deref()?;
        Some(Namespace { metadata: named(name), ..Namespace::default() })
    }

    fn config(tenant: &Tenant) -> Vec<ConfigMap> {
        let spaces = [("inside", &tenant.spec.space), ("outside", &tenant.spec.elsewhere)];
        spaces.into_iter().filter_map(|(name, space)| Some(config_in(space.as_deref()?, name))).collect()
    }

    fn extra(tenant: &Tenant) -> Option<ConfigMap> {
        Some(config_in(tenant.spec.space.as_deref()?, "extra"))
    }
}

/// Its object is deleted with the Namespace of the group around it.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Tenant)]
struct TenantKeys {
    #[provisioner(resource)]
    key: Option<Secret>,
}

impl TenantKeys {
    fn key(tenant: &Tenant) -> Option<Secret> {
        let mut metadata = named("key");
        metadata.namespace = Some(tenant.spec.space.clone()?);
        Some(Secret { metadata, ..Secret::default() })
    }
}

fn config_in(space: &str, name: &str) -> ConfigMap {
    let mut config = holding(name, "");
    config.metadata.namespace = Some(space.to_owned());
    config
}

/// A running operator with one tenant.
struct TenantSite {
    site: Site,
    operator: &'static str,
    /// The name of the Namespace of the tree.
    space: String,
    _running: Running,
}

impl TenantSite {
    /// Runs an operator of this name, and creates the tenant with a spec that depends on the name of the Namespace.
    async fn start(plane: &Arc<Plane>, operator: &'static str, spec: impl FnOnce(&str) -> TenantSpec) -> Self {
        let site = Site::new(plane).await;
        let built = Operator::new(operator)
            .namespace(&site.namespace)
            .environment(site.environment())
            .controls_with::<Tenant, TenantTree>(|controller| controller.labels([("case", operator)]));
        site.install(&built).await;
        let client = plane.service_account(&site.namespace, operator).await.client();
        let running = Site::run_with(&built, client, RunOptions::default());
        let space = format!("{}-space", site.namespace);
        let mut tenant = Tenant::new(TENANT, spec(&space));
        tenant.metadata.labels = Some([("case".to_owned(), operator.to_owned())].into());
        site.create(&tenant).await;
        let started = Self { site, operator, space, _running: running };
        started.done().await;
        started
    }

    /// Waits until the tenant is available in its latest generation.
    async fn done(&self) {
        let is_done = |tenant: &Tenant| {
            let observed = tenant.status.as_ref().and_then(|status| status.observed_generation);
            observed == tenant.metadata.generation
                && available(tenant.status.as_ref()).is_some_and(|(truth, ..)| truth == "True")
        };
        until_object(&self.site.api::<Tenant>(), TENANT, "is available", is_done).await;
    }

    /// Waits until the operator is at rest, and returns the objects that it has deleted.
    async fn deletions(&self) -> Vec<String> {
        let asked = async || self.site.plane.audit().await.by_account(&self.site.namespace, self.operator);
        let deletions = rest::settled(asked).await.verb("delete");
        deletions.iter().map(|entry| format!("{} {}", entry.resource, entry.name)).collect()
    }

    fn spaces(&self) -> Api<Namespace> {
        Api::all(self.site.plane.client())
    }

    fn configs(&self, space: &str) -> Api<ConfigMap> {
        Api::namespaced(self.site.plane.client(), space)
    }

    /// Sets the finalizers of the ConfigMap in the Namespace.
    async fn set_finalizers(&self, finalizers: Value) {
        let patch = Patch::Merge(json!({"metadata": {"finalizers": finalizers}}));
        self.configs(&self.space).patch("inside", &PatchParams::default(), &patch).await.unwrap();
    }

    /// Waits until the Namespace is being deleted, and only the finalizer of the ConfigMap holds it.
    async fn is_held(&self) {
        let is_going = |config: &ConfigMap| config.metadata.deletion_timestamp.is_some();
        until_object(&self.configs(&self.space), "inside", "is being deleted", is_going).await;
        until_gone(&Api::<Secret>::namespaced(self.site.plane.client(), &self.space), "key").await;
    }

    /// Waits until the tenant and its Namespace are gone.
    async fn gone(&self) {
        until_gone(&self.site.api::<Tenant>(), TENANT).await;
        // The teardown has waited for the Namespace, and the Namespace for its objects.
        assert!(self.spaces().get_opt(&self.space).await.unwrap().is_none(), "the Namespace is left");
        assert!(self.configs(&self.space).get_opt("inside").await.unwrap().is_none(), "the ConfigMap is left");
    }
}

/// The spec of a tenant with a Namespace and all nodes.
fn whole(space: &str) -> TenantSpec {
    TenantSpec { space: Some(space.to_owned()), extra: true, elsewhere: None }
}

async fn with_namespace(plane: Arc<Plane>) {
    let tenant = TenantSite::start(&plane, "with-namespace", whole).await;
    tenant.configs(&tenant.space).get("extra").await.unwrap();
    tenant.site.delete::<Tenant>(TENANT).await;
    tenant.gone().await;
    assert_eq!(tenant.deletions().await, [format!("namespaces {}", tenant.space)]);
}

async fn held(plane: Arc<Plane>) {
    let tenant = TenantSite::start(&plane, "held-namespace", whole).await;
    tenant.set_finalizers(json!([FINALIZER])).await;
    tenant.site.delete::<Tenant>(TENANT).await;
    tenant.is_held().await;
    assert_eq!(tenant.deletions().await, [format!("namespaces {}", tenant.space)]);
    assert!(tenant.site.api::<Tenant>().get_opt(TENANT).await.unwrap().is_some(), "it waits for its Namespace");
    tenant.set_finalizers(Value::Null).await;
    tenant.gone().await;
    assert_eq!(tenant.deletions().await, [format!("namespaces {}", tenant.space)]);
}

async fn by_another_client(plane: Arc<Plane>) {
    let tenant = TenantSite::start(&plane, "namespace-of-another", whole).await;
    tenant.set_finalizers(json!([FINALIZER])).await;
    tenant.spaces().delete(&tenant.space, &DeleteParams::default()).await.unwrap();
    tenant.is_held().await;
    tenant.site.delete::<Tenant>(TENANT).await;
    let none: [String; 0] = [];
    assert_eq!(tenant.deletions().await, none);
    tenant.set_finalizers(Value::Null).await;
    tenant.gone().await;
    assert_eq!(tenant.deletions().await, none);
}

async fn elsewhere(plane: Arc<Plane>) {
    let elsewhere = plane.namespace("elsewhere").await;
    let spec = |space: &str| TenantSpec { elsewhere: Some(elsewhere.clone()), ..whole(space) };
    let tenant = TenantSite::start(&plane, "elsewhere", spec).await;
    tenant.site.delete::<Tenant>(TENANT).await;
    tenant.gone().await;
    assert!(tenant.configs(&elsewhere).get_opt("outside").await.unwrap().is_none(), "the other ConfigMap is left");
    let expected = ["configmaps outside".to_owned(), format!("namespaces {}", tenant.space)];
    assert_eq!(tenant.deletions().await, expected);
}

async fn without_namespace(plane: Arc<Plane>) {
    let elsewhere = plane.namespace("elsewhere").await;
    let spec = |_: &str| TenantSpec { elsewhere: Some(elsewhere.clone()), ..TenantSpec::default() };
    let tenant = TenantSite::start(&plane, "without-namespace", spec).await;
    tenant.site.delete::<Tenant>(TENANT).await;
    tenant.gone().await;
    assert!(tenant.configs(&elsewhere).get_opt("outside").await.unwrap().is_none(), "the ConfigMap is left");
    assert_eq!(tenant.deletions().await, ["configmaps outside"]);
    assert!(tenant.spaces().get_opt(&elsewhere).await.unwrap().is_some(), "the Namespace is not of the tree");
}

async fn only_the_node(plane: Arc<Plane>) {
    let tenant = TenantSite::start(&plane, "only-the-node", whole).await;
    tenant.site.patch::<Tenant>(TENANT, &json!({"spec": {"extra": false}})).await;
    until_gone(&tenant.configs(&tenant.space), "extra").await;
    tenant.done().await;
    assert_eq!(tenant.deletions().await, ["configmaps extra"]);
    tenant.configs(&tenant.space).get("inside").await.unwrap();
    let space = tenant.spaces().get(&tenant.space).await.unwrap();
    assert_eq!(space.metadata.deletion_timestamp, None);
}
