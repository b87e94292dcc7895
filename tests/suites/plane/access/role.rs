//! An operator that makes roles: the rights that they grant.

use std::sync::Arc;

use k8s_openapi::api::{
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::{ConfigMap, Node, Secret, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject},
};
use kube::{
    Api, Client, CustomResource, ResourceExt as _,
    api::{ObjectMeta, PostParams},
};
use libtest_mimic::Trial;
use opgen::prelude::*;
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operator::{kinds::available, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("roles_whose_rights_are_declared_are_made", granted),
        case("roles_beyond_what_is_declared_are_refused", beyond),
    ]
}

/// Somebody who is given rights.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "access.example.com", version = "v1", kind = "Guest", namespaced, status = "Status")]
pub(crate) struct GuestSpec {
    /// Verbs that the role says itself.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    verbs: Vec<String>,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Guest)]
struct GuestTree {
    #[provisioner(resource)]
    account: ServiceAccount,
    #[provisioner(resource(grants(ConfigMap: get, list; Secret("tls"): get)))]
    role: Role,
    #[provisioner(resource)]
    binding: RoleBinding,
    #[provisioner(resource(grants(Node: get; "/healthz/*": get)))]
    cluster_role: ClusterRole,
    #[provisioner(resource)]
    cluster_binding: ClusterRoleBinding,
}

impl GuestTree {
    fn account(_: &Guest) -> ServiceAccount {
        ServiceAccount::default()
    }

    fn role(guest: &Guest) -> Role {
        let own = PolicyRule {
            api_groups: Some(vec![String::new()]),
            resources: Some(vec!["configmaps".to_owned()]),
            verbs: guest.spec.verbs.clone(),
            ..PolicyRule::default()
        };
        Role { rules: (!guest.spec.verbs.is_empty()).then(|| vec![own]), ..Role::default() }
    }

    fn binding(guest: &Guest) -> RoleBinding {
        let (role_ref, subjects) = (of("Role", guest.name_any()), Some(vec![subject(guest)]));
        RoleBinding { role_ref, subjects, ..RoleBinding::default() }
    }

    fn cluster_role(guest: &Guest) -> ClusterRole {
        ClusterRole { metadata: named(guest), ..ClusterRole::default() }
    }

    fn cluster_binding(guest: &Guest) -> ClusterRoleBinding {
        let metadata = named(guest);
        let role_ref = of("ClusterRole", metadata.name.clone().unwrap_or_default());
        ClusterRoleBinding { metadata, role_ref, subjects: Some(vec![subject(guest)]) }
    }
}

/// By a name that no other case has.
fn named(guest: &Guest) -> ObjectMeta {
    let name = format!("{}-{}", guest.namespace().unwrap_or_default(), guest.name_any());
    ObjectMeta { name: Some(name), ..ObjectMeta::default() }
}

fn of(kind: &str, name: String) -> RoleRef {
    RoleRef { api_group: Some("rbac.authorization.k8s.io".to_owned()), kind: kind.to_owned(), name }
}

fn subject(guest: &Guest) -> Subject {
    let (kind, name) = ("ServiceAccount".to_owned(), guest.name_any());
    Subject { kind, name, namespace: guest.namespace(), ..Subject::default() }
}

async fn granted(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Guest, GuestTree>()).await;
    site.create(&Guest::new("guest", GuestSpec::default())).await;
    says(&site, "Provisioned", "").await;
    let guest = plane.service_account(&site.namespace, "guest").await.client();
    let here = Some(site.namespace.as_str());
    may(&guest, here, ["list", "", "configmaps", ""], true).await;
    may(&guest, here, ["get", "", "secrets", "tls"], true).await;
    may(&guest, here, ["get", "", "secrets", "other"], false).await;
    may(&guest, None, ["get", "", "nodes", "any"], true).await;
    may(&guest, None, ["get", "", "configmaps", "any"], false).await;
    let asked = site.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    site.delete::<Guest>("guest").await;
    wait::until_gone(&site.api::<Guest>(), "guest").await;
    wait::until_gone(&site.api::<Role>(), "guest").await;
}

async fn beyond(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Guest, GuestTree>()).await;
    let verbs = ["get", "delete"].map(str::to_owned).to_vec();
    site.create(&Guest::new("guest", GuestSpec { verbs })).await;
    says(&site, "RoleBeyondDeclared", "may delete configmaps of the core group").await;
    let asked = site.asked().await;
    assert!(asked.resource("roles").writes().is_empty(), "{asked}");
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let less = vec!["get".to_owned()];
    site.patch::<Guest>("guest", &serde_json::json!({"spec": {"verbs": less}})).await;
    says(&site, "Provisioned", "").await;
    let role = site.api::<Role>().get("guest").await.unwrap();
    assert_eq!(role.rules.unwrap()[0].verbs, less);
}

async fn says(site: &Site, reason: &str, part: &str) {
    let fits = |guest: &Guest| {
        available(guest.status.as_ref()).is_some_and(|(_, why, text)| why == reason && text.contains(part))
    };
    until_object(&site.api::<Guest>(), "guest", &format!("says {reason}"), fits).await;
}

/// Waits until the account may do that, or may not: verb, group, resource, name.
async fn may(client: &Client, namespace: Option<&str>, [verb, group, resource, name]: [&str; 4], allowed: bool) {
    let attributes = ResourceAttributes {
        group: Some(group.to_owned()),
        resource: Some(resource.to_owned()),
        verb: Some(verb.to_owned()),
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), non_resource_attributes: None };
    let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let reviews = Api::<SelfSubjectAccessReview>::all(client.clone());
    wait::until(format!("{verb} {resource} {name} is allowed: {allowed}"), PATIENCE, async || {
        let answer = reviews.create(&PostParams::default(), &review).await.map_err(|error| error.to_string())?;
        let says = answer.status.is_some_and(|status| status.allowed);
        if says == allowed { Ok(()) } else { Err(format!("{says}")) }
    })
    .await;
}
