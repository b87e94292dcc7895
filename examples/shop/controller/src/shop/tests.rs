//! Tests the tree without a cluster.

use opgen::testing::TreeHarness;
use serde_json::Value;

use super::*;
use crate::sample;

async fn built(shop: Shop) -> TreeHarness<Shop, ShopTree> {
    let rehearsal = TreeHarness::new(shop);
    rehearsal.up().await.unwrap();
    rehearsal
}

fn pods<'a>(of: &'a Value, path: &str) -> &'a Value {
    of.pointer(path).unwrap_or_else(|| panic!("{path} is not in {of}"))
}

#[tokio::test]
async fn tiers_are_created_in_order_and_deleted_in_reverse_order() {
    let rehearsal = built(sample()).await;
    let tiers = |called: Vec<String>| -> Vec<String> {
        let mut tiers: Vec<_> =
            called.iter().filter_map(|call| call.split([' ', '/']).nth(1)).map(str::to_owned).collect();
        tiers.dedup();
        tiers
    };
    let up = tiers(rehearsal.called());
    assert_eq!(up, ["foundation", "identity", "database", "backend", "ingress"]);
    rehearsal.down().await.unwrap();
    assert!(tiers(rehearsal.called()).into_iter().eq(up.into_iter().rev()));
    assert!(rehearsal.provisioned_nodes().is_empty());
}

#[tokio::test]
async fn the_backend_and_its_jobs_find_the_database() {
    let rehearsal = built(sample()).await;
    let service = &rehearsal.objects("database/service")[0]["metadata"]["name"];
    let (deployment, job) = (&rehearsal.objects("backend/replicas")[0], &rehearsal.objects("backend/jobs")[0]);
    for pod in [pods(deployment, "/spec/template/spec"), pods(job, "/spec/jobTemplate/spec/template/spec")] {
        let host = &pod["containers"][0]["env"][0];
        assert_eq!((&host["name"], &host["value"]), (&"DATABASE_HOST".into(), service));
    }
}

#[tokio::test]
async fn changed_settings_change_the_pod_template() {
    let mut rehearsal = built(sample()).await;
    let template =
        |rehearsal: &TreeHarness<Shop, ShopTree>| rehearsal.objects("backend/replicas")[0]["spec"]["template"].clone();
    let before = template(&rehearsal);
    rehearsal.up().await.unwrap();
    assert_eq!(template(&rehearsal), before);
    rehearsal.object().spec.backend.settings.insert("currency".to_owned(), "CHF".to_owned());
    rehearsal.up().await.unwrap();
    assert_ne!(template(&rehearsal), before);
}

#[tokio::test]
async fn optional_parts_follow_the_spec() {
    let mut rehearsal = built(sample()).await;
    let all = rehearsal.provisioned_nodes();
    assert!(all.contains("ingress") && all.contains("backend/budget") && all.contains("backend/jobs"), "{all:?}");
    rehearsal.object().spec.host = None;
    rehearsal.object().spec.backend.replicas = 1;
    rehearsal.object().spec.schedules.clear();
    rehearsal.up().await.unwrap();
    let gone: Vec<_> = all.difference(&rehearsal.provisioned_nodes()).cloned().collect();
    assert_eq!(gone, ["backend/budget", "backend/jobs", "ingress"]);
}
