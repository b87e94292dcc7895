//! Simulates Argo CD, Flux and an operator that deploys Helm charts: defines their custom kinds, and deploys one ConfigMap for each
//! application.
//!
//! No chart is fetched or rendered. An application deploys one ConfigMap, with the name of its release, in its namespace; the
//! ConfigMap holds the source and the values. The status, the finalizers and their order are those of the real systems, as far as
//! other programs depend on them. An application of the chart `degraded` never becomes healthy.

mod argo_cd;
mod definitions;
mod deployment;
mod flux;
mod helm;
mod steps;

use std::sync::Arc;

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    tasks::Controllers,
};
use crate::server::Server;

/// Starts the controllers that simulate Argo CD, Flux and an operator for Helm charts.
pub(super) fn start(all: &mut Controllers, server: &Arc<Server>) {
    all.add(server, "cd-definitions", definitions::Definitions);
    all.add_as(ControllerClient::component(server, "argocd", "argocd-application-controller"), argo_cd::ArgoCd);
    all.add_as(ControllerClient::component(server, "source-controller", "source-controller"), flux::Sources);
    all.add_as(ControllerClient::component(server, "helm-controller", "helm-controller"), flux::Releases);
    all.add_as(ControllerClient::component(server, "helm-operator", "helm-operator"), helm::HelmDeployments);
}
