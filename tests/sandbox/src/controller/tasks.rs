//! `Controllers`: the tasks of the running controllers.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::{
    client::ControllerClient,
    reconcile::{self, Controller},
};
use crate::server::Server;

/// The running controllers; dropping this aborts them.
#[derive(Debug)]
pub(crate) struct Controllers {
    pub(super) tasks: Vec<JoinHandle<()>>,
}

impl Drop for Controllers {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Controllers {
    /// Starts a controller of kube-controller-manager with its ServiceAccount.
    pub(super) fn add(&mut self, server: &Arc<Server>, account: &str, controller: impl Controller) {
        self.add_as(ControllerClient::controller(server, account), controller);
    }

    /// Starts a controller of kube-controller-manager with its ServiceAccount, but only once an object of a group resource exists.
    pub(super) fn add_with_first(
        &mut self,
        server: &Arc<Server>,
        group_resource: &str,
        account: &str,
        controller: impl Controller,
    ) {
        let client = ControllerClient::controller(server, account);
        let (store, group_resource) = (server.store.clone(), Arc::<str>::from(group_resource));
        let mut subscription = store.subscribe(&group_resource);
        self.tasks.push(tokio::spawn(async move {
            let (_, existing) = store.list(&group_resource, None);
            if existing.is_empty() && subscription.changed().await.is_err() {
                return;
            }
            reconcile::run(controller, client).await;
        }));
    }

    /// Starts a controller with a client.
    pub(super) fn add_as(&mut self, client: ControllerClient, controller: impl Controller) {
        self.tasks.push(tokio::spawn(reconcile::run(controller, client)));
    }
}
