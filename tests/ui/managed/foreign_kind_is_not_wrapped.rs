use k8s_openapi::api::core::v1::{Namespace, ResourceQuota};
use opgen::prelude::*;

#[derive(Provisioner)]
#[provisioner(serial, owner = Foreign<Namespace>)]
struct NamespaceTree {
    #[provisioner(resource)]
    quota: ResourceQuota,
}

impl NamespaceTree {
    fn quota(_: &Namespace) -> ResourceQuota {
        ResourceQuota::default()
    }
}

opgen::operator! {
    Namespace => NamespaceTree,
}
