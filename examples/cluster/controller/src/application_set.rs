//! The tree of an `ApplicationSet`.

use cluster_api::{ApplicationSet, SelectedApplication};
use opgen::{
    cd::{Application, ArgoCd, catalog::Catalog},
    prelude::*,
    scope::Kubeconfig,
};

use crate::{cluster_manager, kubernetes_cluster};

type Owner = For<ApplicationSet, Catalog>;

/// The applications of the set, which are known only at run time, in a cluster within the cluster of its manager.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
pub struct ApplicationSetTree {
    selection: Selection,
    #[provisioner(remote)]
    manager: InManager,
}

/// In the virtual cluster of the manager.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
pub struct InManager {
    #[provisioner(remote)]
    cluster: SetApplications,
}

/// In the cluster.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = Owner)]
pub struct SetApplications {
    #[provisioner(each = |set| &set.spec.applications, key = |application| &application.name)]
    applications: Selected,
}

/// One application of the set.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Each<Owner, SelectedApplication>)]
pub struct Selected {
    #[provisioner(application(ArgoCd))]
    application: Application,
}

impl ApplicationSetTree {
    fn manager(set: &ApplicationSet) -> Kubeconfig {
        cluster_manager::kubeconfig(&set.spec.manager)
    }
}

impl InManager {
    fn cluster(set: &ApplicationSet) -> Kubeconfig {
        kubernetes_cluster::kubeconfig(&set.spec.cluster)
    }
}

impl Selected {
    fn application(selected: &Draft<'_, Each<Owner, SelectedApplication>>) -> Result<Application> {
        selected.options().application(&selected.name, &selected.version)
    }
}

/// Checks that the applications can be deployed together, before any of them is.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
pub struct Selection;

impl Provision<Owner> for Selection {
    async fn provision(cx: &Context<'_, Owner, Self>) -> Result<()> {
        let selected = &cx.object().spec.applications;
        cx.options().check(selected.iter().map(|selected| (&*selected.name, &*selected.version)))
    }

    async fn deprovision(_: &Teardown<'_, Owner, Self>) -> Result<()> {
        Ok(())
    }
}
