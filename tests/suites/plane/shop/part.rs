//! What a shop is made of, by kind and name.

use std::{collections::BTreeSet, fmt};

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    batch::v1::CronJob,
    core::v1::{ConfigMap, Secret, Service, ServiceAccount},
    networking::v1::Ingress,
    policy::v1::PodDisruptionBudget,
    rbac::v1::{Role, RoleBinding},
    scheduling::v1::PriorityClass,
};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    api::{ApiResource, DynamicObject, ListParams},
};
use shop_api::Shop;

/// An object of a shop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// `ConfigMap books`.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

impl Part {
    fn of<K: Resource<DynamicType = ()>>(name: String) -> Self {
        Self { kind: K::kind(&()).into_owned(), name }
    }
}

/// What this shop is to be made of.
pub(crate) fn wanted(shop: &Shop) -> BTreeSet<Part> {
    let (name, spec) = (shop.name_any(), &shop.spec);
    let (database, backend) = (format!("{name}-database"), format!("{name}-backend"));
    let mut parts = BTreeSet::from([
        Part::of::<ConfigMap>(name.clone()),
        Part::of::<Secret>(name.clone()),
        Part::of::<PriorityClass>(format!("{}-{name}", shop.namespace().unwrap_or_default())),
        Part::of::<ServiceAccount>(name.clone()),
        Part::of::<Role>(name.clone()),
        Part::of::<RoleBinding>(name.clone()),
        Part::of::<Service>(database.clone()),
        Part::of::<StatefulSet>(database),
        Part::of::<Service>(backend.clone()),
        Part::of::<Deployment>(backend.clone()),
    ]);
    parts.extend(spec.schedules.iter().map(|schedule| Part::of::<CronJob>(format!("{name}-{}", schedule.name))));
    parts.extend((spec.backend.replicas > 1).then(|| Part::of::<PodDisruptionBudget>(backend)));
    parts.extend(spec.host.is_some().then(|| Part::of::<Ingress>(name)));
    parts
}

/// The kinds that shops are made of; all but one are namespaced.
pub(crate) fn kinds() -> [ApiResource; 12] {
    [
        ApiResource::erase::<ConfigMap>(&()),
        ApiResource::erase::<Secret>(&()),
        ApiResource::erase::<PriorityClass>(&()),
        ApiResource::erase::<ServiceAccount>(&()),
        ApiResource::erase::<Role>(&()),
        ApiResource::erase::<RoleBinding>(&()),
        ApiResource::erase::<Service>(&()),
        ApiResource::erase::<StatefulSet>(&()),
        ApiResource::erase::<Deployment>(&()),
        ApiResource::erase::<PodDisruptionBudget>(&()),
        ApiResource::erase::<CronJob>(&()),
        ApiResource::erase::<Ingress>(&()),
    ]
}

/// The parts of all shops of a namespace, and what belongs to the cluster of shops anywhere.
pub(crate) struct Parts {
    client: Client,
    namespace: String,
}

impl Parts {
    pub(crate) fn new(client: Client, namespace: &str) -> Self {
        Self { client, namespace: namespace.to_owned() }
    }

    /// What is there, each with its uid, whether it is on its way out or not.
    pub(crate) async fn there(&self) -> kube::Result<BTreeSet<(Part, String)>> {
        let ours = ListParams::default().labels("app.kubernetes.io/managed-by=shop");
        let mut there = BTreeSet::new();
        for kind in kinds() {
            there.extend(self.api(&kind).list(&ours).await?.items.into_iter().map(|object| {
                let part = Part { kind: kind.kind.clone(), name: object.name_any() };
                (part, object.uid().unwrap_or_default())
            }));
        }
        Ok(there)
    }

    /// Deletes one by hand.
    pub(crate) async fn delete(&self, part: &Part) {
        let kind = kinds().into_iter().find(|kind| kind.kind == part.kind).expect("a kind of shops");
        let deleted = self.api(&kind).delete(&part.name, &Default::default()).await;
        deleted.unwrap_or_else(|error| panic!("{part}: {error}"));
    }

    fn api(&self, kind: &ApiResource) -> Api<DynamicObject> {
        match kind.kind.as_str() {
            "PriorityClass" => Api::all_with(self.client.clone(), kind),
            _ => Api::namespaced_with(self.client.clone(), &self.namespace, kind),
        }
    }
}
