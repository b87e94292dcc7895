//! What goes on by itself: the garbage collector, namespaces, CRDs, and, if wished, workloads.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::{authorization, sandbox::Server};

mod crd;
mod crd_removal;
mod naming;

/// The running controllers; they end with this.
#[derive(Debug)]
pub(crate) struct Controllers {
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Controllers {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Starts them on the current runtime.
pub(crate) fn start(server: &Arc<Server>) -> Controllers {
    let tasks =
        vec![tokio::spawn(crd::run(server.clone())), tokio::spawn(authorization::aggregation::run(server.clone()))];
    Controllers { tasks }
}
