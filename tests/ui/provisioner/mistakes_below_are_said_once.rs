use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
    #[managed(allow(list))]
    pub pools: Vec<Pool>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub struct Pool {
    pub name: String,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = WebApp)]
struct Tree {
    solve: Solve,
    #[provisioner(from(solve))]
    workload: Workload,
    #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: PoolTree,
    #[provisioner(resource, from(workload.service, workload.config))]
    note: ConfigMap,
    group: Group,
}

impl Tree {
    fn note(_: &WebApp, _: &Service, _: &ConfigMap) -> ConfigMap {
        ConfigMap::default()
    }
}

struct Plan;

#[derive(Provisioner)]
#[provisioner(access(ConfigMap: gett), inputs(), output = Plan)]
struct Solve;

impl Provision<WebApp> for Solve {
    async fn provision(cx: &Context<'_, WebApp, Self>) -> Result<()> {
        cx.set_output(Plan);
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = WebApp, inputs(plan: Plan))]
struct Workload {
    #[provisioner(resource, after(servce))]
    config: ConfigMap,
    #[provisioner(resource)]
    service: Service,
}

impl Workload {
    fn config(_: &WebApp) -> ConfigMap {
        ConfigMap::default()
    }

    fn service(_: &WebApp) -> Service {
        Service::default()
    }
}

#[derive(Provisioner)]
#[provisioner(sereal, owner = Each<WebApp, Pool>)]
struct PoolTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl PoolTree {
    fn config(_: &Pool) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
struct Group {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl Group {
    fn config(_: &WebApp) -> ConfigMap {
        ConfigMap::default()
    }
}

// Each mistake is said once, however often the tree is used.
opgen::operator! {
    WebApp => Tree,
}
