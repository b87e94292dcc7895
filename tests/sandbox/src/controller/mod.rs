//! What goes on by itself: the garbage collector, namespaces, CRDs, and, if wished, workloads.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::{authorization, sandbox::Server};
use actor::{Actor, Refused};
use reconcile::{Controller, Next, Outcome, Seen, Watches};

pub(crate) mod accounts;
mod actor;
mod api_services;
mod collector;
mod crd;
mod crd_removal;
mod flow_schemas;
mod namespaces;
mod naming;
mod protection;
mod queue;
mod quotas;
mod reconcile;
mod tokens;
mod workload;

/// The running controllers; they end with this.
#[derive(Debug)]
pub(crate) struct Controllers {
    tasks: Vec<JoinHandle<()>>,
}

/// An object by namespace and name.
type Key = (String, String);

impl Drop for Controllers {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Controllers {
    fn add(&mut self, server: &Arc<Server>, account: &str, controller: impl Controller) {
        self.add_as(Actor::controller(server, account), controller);
    }

    /// One that has nothing to do before there is an object on a shelf.
    fn add_with_first(&mut self, server: &Arc<Server>, shelf: &str, account: &str, controller: impl Controller) {
        let actor = Actor::controller(server, account);
        let (store, shelf) = (server.store.clone(), Arc::<str>::from(shelf));
        let mut news = store.news(&shelf);
        self.tasks.push(tokio::spawn(async move {
            let (_, there) = store.list(&shelf, None);
            if there.is_empty() && news.changed().await.is_err() {
                return;
            }
            reconcile::run(controller, actor).await;
        }));
    }

    fn add_as(&mut self, actor: Actor, controller: impl Controller) {
        self.tasks.push(tokio::spawn(reconcile::run(controller, actor)));
    }
}

/// Starts them on the current runtime.
pub(crate) fn start(server: &Arc<Server>) -> Controllers {
    accounts::begin(server);
    let tasks =
        vec![tokio::spawn(crd::run(server.clone())), tokio::spawn(authorization::aggregation::run(server.clone()))];
    let mut all = Controllers { tasks };
    all.add(server, "generic-garbage-collector", collector::Collector::default());
    all.add(server, "namespace-controller", namespaces::Namespaces::default());
    all.add(server, "service-account-controller", accounts::Accounts);
    all.add(server, "pvc-protection-controller", protection::Protection);
    all.add_as(Actor::component(server, "system:apiserver", "kube-apiserver"), api_services::ApiServices);
    let manager = Actor::component(server, "system:kube-controller-manager", "kube-controller-manager");
    all.add_as(manager, tokens::Tokens);
    let server_itself = Actor::component(server, "system:apiserver", flow_schemas::AGENT);
    all.add_as(server_itself, flow_schemas::FlowSchemas);
    for quotas in [quotas::Quotas::of_lives(), quotas::Quotas::of_changes()] {
        all.add_with_first(server, quotas::QUOTAS, "resourcequota-controller", quotas);
    }
    if server.options.workloads {
        workload::start(&mut all, server);
    }
    all
}
