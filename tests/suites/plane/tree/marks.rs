//! Children that no owner reference can hold: in another namespace, or in none.

use std::sync::Arc;

use k8s_openapi::api::{core::v1::ConfigMap, scheduling::v1::PriorityClass};
use kube::{
    Api, CustomResource, ResourceExt as _,
    api::{DeleteParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{
    Entries, Plane, Port, case, case_served,
    wait::{self, PATIENCE, until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::kinds::{holding, named};
use crate::operator::{
    install,
    kinds::available,
    program::readiness,
    site::{Running, Site},
    tally::state_writes,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("node_marks_children_elsewhere_go_with_their_owner_and_orphans_are_swept", life),
        case_served("node_marks_nothing_is_swept_while_the_kind_of_the_owners_is_missing", without_kind),
    ]
}

/// It is watched in all namespaces, so by this case alone.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Vault", namespaced, status = "Status")]
pub(crate) struct VaultSpec {
    elsewhere: String,
    #[serde(default)]
    pause: bool,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Vault)]
struct VaultTree {
    #[provisioner(resource)]
    class: PriorityClass,
    #[provisioner(resource)]
    config: ConfigMap,
}

impl VaultTree {
    fn class(vault: &Vault) -> PriorityClass {
        let name = format!("{}-{}", vault.spec.elsewhere, vault.name_any());
        PriorityClass { metadata: named(&name), value: Some(7), ..PriorityClass::default() }
    }

    fn config(vault: &Vault) -> ConfigMap {
        let mut config = holding(&vault.name_any(), "");
        config.metadata.namespace = Some(vault.spec.elsewhere.clone());
        config
    }
}

const OPERATOR: &str = "vaults";

struct Vaults {
    site: Site,
    elsewhere: String,
    operator: Operator,
}

impl Vaults {
    async fn new(plane: &Arc<Plane>) -> Self {
        let site = Site::new(plane).await;
        let operator = Operator::new(OPERATOR).namespace(&site.namespace).controls::<Vault, VaultTree>();
        site.install(&operator).await;
        Self { elsewhere: plane.namespace("elsewhere").await, operator, site }
    }

    async fn run(&self, namespace: Option<&str>) -> Running {
        let client = self.site.plane.service_account(&self.site.namespace, OPERATOR).await.client();
        let options = RunOptions::default();
        let options = namespace.into_iter().fold(options, |options, namespace| options.namespace(namespace));
        Site::run_with(&self.operator, client, options)
    }

    async fn asked(&self) -> Entries {
        self.site.plane.audit().await.by_account(&self.site.namespace, OPERATOR)
    }

    async fn create(&self, name: &str) {
        self.site.create(&Vault::new(name, VaultSpec { elsewhere: self.elsewhere.clone(), pause: false })).await;
        let is_done = |vault: &Vault| available(vault.status.as_ref()).is_some_and(|(truth, ..)| truth == "True");
        until_object(&self.site.api::<Vault>(), name, "is done", is_done).await;
        self.are_there(name).await;
    }

    fn classes(&self) -> Api<PriorityClass> {
        Api::all(self.site.plane.client())
    }

    fn configs(&self) -> Api<ConfigMap> {
        Api::namespaced(self.site.plane.client(), &self.elsewhere)
    }

    fn class(&self, name: &str) -> String {
        format!("{}-{name}", self.elsewhere)
    }

    async fn are_there(&self, name: &str) {
        assert!(self.classes().get_opt(&self.class(name)).await.unwrap().is_some());
        assert!(self.configs().get_opt(name).await.unwrap().is_some());
    }

    async fn are_gone(&self, name: &str) {
        until_gone(&self.classes(), &self.class(name)).await;
        until_gone(&self.configs(), name).await;
    }

    /// The owner goes without its teardown: while it is paused, its finalizer doesn't come again.
    async fn vanishes(&self, name: &str) {
        self.site.patch::<Vault>(name, &json!({"spec": {"pause": true}})).await;
        self.site.patch::<Vault>(name, &json!({"metadata": {"finalizers": null}})).await;
        self.site.delete::<Vault>(name).await;
        until_gone(&self.site.api::<Vault>(), name).await;
    }
}

async fn life(plane: Arc<Plane>) {
    let vaults = Vaults::new(&plane).await;
    let mut running = vaults.run(None).await;
    for name in ["torn-down", "kept", "orphaned", "orphaned-later"] {
        vaults.create(name).await;
    }

    // A teardown is all that is needed where there is one.
    vaults.site.delete::<Vault>("torn-down").await;
    until_gone(&vaults.site.api::<Vault>(), "torn-down").await;
    vaults.are_gone("torn-down").await;

    // Its owner is gone while nobody looks.
    running.signal();
    running.end().await.unwrap();
    vaults.vanishes("orphaned").await;
    vaults.are_there("orphaned").await;
    let mut running = vaults.run(None).await;
    vaults.are_gone("orphaned").await;
    vaults.are_there("kept").await;
    vaults.are_there("orphaned-later").await;

    // Its owner is gone while it is watched.
    vaults.vanishes("orphaned-later").await;
    vaults.are_gone("orphaned-later").await;
    vaults.are_there("kept").await;
    running.signal();
    running.end().await.unwrap();

    only_in_scope(&vaults).await;
    let asked = vaults.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let deleted = state_writes(&asked).verb("delete");
    let twice = deleted.with(|one| deleted.name(&one.name).resource(&one.resource).len() > 1);
    assert!(twice.is_empty(), "{twice}");
}

/// An operator of one namespace says nothing of owners in others.
async fn only_in_scope(vaults: &Vaults) {
    let marked = |name: &str, namespace: &str| {
        orphan(&vaults.class(name), OPERATOR, &format!("vaults.tree.example.com/{namespace}/gone/6f2a"))
    };
    let (inside, outside) = (vaults.site.namespace.clone(), vaults.elsewhere.clone());
    for (name, namespace) in [("outside", &outside), ("inside", &inside)] {
        vaults.classes().create(&PostParams::default(), &marked(name, namespace)).await.unwrap();
    }
    let stranger = orphan(&vaults.class("stranger"), OPERATOR, &format!("notes.live.example.com/{inside}/x/6f2a"));
    vaults.classes().create(&PostParams::default(), &stranger).await.unwrap();

    let mut running = vaults.run(Some(&inside)).await;
    until_gone(&vaults.classes(), &vaults.class("inside")).await;
    assert!(vaults.classes().get_opt(&vaults.class("outside")).await.unwrap().is_some());
    running.signal();
    running.end().await.unwrap();
    let _running = vaults.run(None).await;
    until_gone(&vaults.classes(), &vaults.class("outside")).await;
    assert!(vaults.classes().get_opt(&vaults.class("stranger")).await.unwrap().is_some(), "it is no kind of ours");
    vaults.classes().delete(&vaults.class("stranger"), &DeleteParams::default()).await.unwrap();
    vaults.site.delete::<Vault>("kept").await;
    vaults.are_gone("kept").await;
    until_gone(&vaults.site.api::<Vault>(), "kept").await;
}

fn orphan(name: &str, operator: &str, mark: &str) -> PriorityClass {
    let metadata = kube::api::ObjectMeta {
        labels: Some([("app.kubernetes.io/managed-by".to_owned(), operator.to_owned())].into()),
        annotations: Some([("opgen.dev/owner".to_owned(), mark.to_owned())].into()),
        ..named(name)
    };
    PriorityClass { metadata, value: Some(7), ..PriorityClass::default() }
}

/// Its definition comes late, and for this case alone.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "tree.example.com", version = "v1", kind = "Relic", namespaced, status = "Status")]
pub(crate) struct RelicSpec {}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Relic)]
struct RelicTree {
    #[provisioner(resource)]
    class: PriorityClass,
}

impl RelicTree {
    fn class(relic: &Relic) -> PriorityClass {
        PriorityClass { metadata: named(&relic.name_any()), value: Some(7), ..PriorityClass::default() }
    }
}

/// No owner is in the cache, which says nothing as long as none could be.
async fn without_kind(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = Operator::new("relics").namespace(&site.namespace).controls::<Relic, RelicTree>();
    site.grant(&operator).await;
    let classes = Api::<PriorityClass>::all(plane.client());
    let name = format!("{}-relic", site.namespace);
    let mark = format!("relics.tree.example.com/{}/gone/6f2a", site.namespace);
    classes.create(&PostParams::default(), &orphan(&name, "relics", &mark)).await.unwrap();

    let port = Port::reserve();
    let probes = port.address();
    let client = plane.service_account(&site.namespace, "relics").await.client();
    let _running = Site::run_with(&operator, client, RunOptions::default().probes(probes));
    wait::until("the classes are watched, and the relics are missing", PATIENCE, async || {
        let (_, text) = readiness(probes).await?;
        let said = text.contains("Relic: the cluster does not serve this kind") && text.contains("PriorityClass: ok");
        if said { Ok(()) } else { Err(text) }
    })
    .await;
    // Longer than it takes until orphans are looked for.
    for _ in 0..3 {
        site.settled().await;
    }
    assert!(classes.get_opt(&name).await.unwrap().is_some());
    install::definitions(&plane, &operator).await;
    until_gone(&classes, &name).await;
}
