//! Starts the controllers of the sandbox cluster.

use std::sync::Arc;

use super::{
    accounts, api_services, cd, client::ControllerClient, collector, crd, flow_schemas, namespaces, protection, quotas,
    tasks::Controllers, tokens, workload,
};
use crate::{authorization, server::Server};

/// Starts the controllers of the sandbox cluster on the current tokio runtime. Starts the workload controllers and the simulated CD systems
/// only if the options enable them.
pub(crate) fn start(server: &Arc<Server>) -> Controllers {
    accounts::create_default_accounts(server);
    let tasks =
        vec![tokio::spawn(crd::run(server.clone())), tokio::spawn(authorization::aggregation::run(server.clone()))];
    let mut all = Controllers { tasks };
    all.add(server, "generic-garbage-collector", collector::Collector::default());
    all.add(server, "namespace-controller", namespaces::Namespaces::default());
    all.add(server, "service-account-controller", accounts::Accounts);
    all.add(server, "pvc-protection-controller", protection::Protection);
    all.add_as(ControllerClient::component(server, "system:apiserver", "kube-apiserver"), api_services::ApiServices);
    let manager = ControllerClient::component(server, "system:kube-controller-manager", "kube-controller-manager");
    all.add_as(manager, tokens::Tokens);
    let server_itself = ControllerClient::component(server, "system:apiserver", flow_schemas::AGENT);
    all.add_as(server_itself, flow_schemas::FlowSchemas);
    // One instance handles deletions of all kinds, the other one changes of quotas and Pods.
    for quotas in [quotas::Quotas::of_lifecycle(), quotas::Quotas::of_changes()] {
        all.add_with_first(server, quotas::QUOTAS, "resourcequota-controller", quotas);
    }
    if server.options.workloads {
        workload::start(&mut all, server);
    }
    if server.options.cd_systems {
        cd::start(&mut all, server);
    }
    all
}
