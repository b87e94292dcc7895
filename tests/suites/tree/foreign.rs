//! Primaries of kinds that are somebody else's.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, LimitRange, Namespace, ResourceQuota};
use opgen::{For, prelude::*, testing::TreeHarness};

#[derive(Provisioner)]
#[provisioner(serial, owner = For<Foreign<Namespace>, u32>)]
struct Tree {
    #[provisioner(resource)]
    quota: ResourceQuota,
    #[provisioner(resource, when = |namespace: &Namespace| namespace.metadata.labels.is_some())]
    limits: LimitRange,
    #[provisioner(each = |namespace: &Namespace| teams(namespace), key = |team| team.clone())]
    teams: Team,
}

impl Tree {
    fn quota(namespace: &Namespace) -> ResourceQuota {
        ResourceQuota { metadata: namespace.metadata.clone(), ..ResourceQuota::default() }
    }

    fn limits(draft: &Draft<'_, For<Foreign<Namespace>, u32>>) -> LimitRange {
        let mut limits = LimitRange::default();
        limits.metadata.name = Some(format!("{}-{}", draft.metadata.name.as_deref().unwrap(), draft.options()));
        limits
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = Each<For<Foreign<Namespace>, u32>, String>)]
struct Team {
    #[provisioner(resource)]
    note: ConfigMap,
}

impl Team {
    fn note(_: &String) -> ConfigMap {
        ConfigMap::default()
    }
}

fn teams(namespace: &Namespace) -> Vec<String> {
    namespace.metadata.labels.iter().flatten().map(|(_, team)| team.clone()).collect()
}

#[tokio::test]
async fn functions_of_a_foreign_kind_take_what_it_wraps() {
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("shop".to_owned());
    let mut rehearsal = TreeHarness::<For<Foreign<Namespace>, u32>, Tree>::with_options(namespace.into(), 7);
    rehearsal.up().await.unwrap();
    assert_eq!(rehearsal.called(), ["provision quota", "deprovision limits"]);
    rehearsal.object().metadata.labels = Some(BTreeMap::from([("team".to_owned(), "web".to_owned())]));
    rehearsal.up().await.unwrap();
    assert_eq!(rehearsal.called(), ["provision quota", "provision limits", "provision teams[web]/note"]);
    assert_eq!(rehearsal.objects("limits")[0]["metadata"]["name"], "shop-7");
    rehearsal.down().await.unwrap();
    assert_eq!(rehearsal.provisioned_nodes(), Default::default());
}
