//! The identity of the backend at the API server, and its permissions.

use k8s_openapi::api::{
    core::v1::ServiceAccount,
    rbac::v1::{Role, RoleBinding, RoleRef, Subject},
};
use kube::ResourceExt as _;

use super::Identity;
use shop_api::Shop;

impl Identity {
    pub(super) fn account(_: &Shop) -> ServiceAccount {
        ServiceAccount::default()
    }

    pub(super) fn role(_: &Shop) -> Role {
        Role::default()
    }

    pub(super) fn binding(_: &Shop, account: &ServiceAccount, role: &Role) -> RoleBinding {
        let role_ref = RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "Role".to_owned(),
            name: role.name_any(),
        };
        let subject = Subject {
            kind: "ServiceAccount".to_owned(),
            name: account.name_any(),
            namespace: account.namespace(),
            ..Subject::default()
        };
        RoleBinding { role_ref, subjects: Some(vec![subject]), ..RoleBinding::default() }
    }
}
