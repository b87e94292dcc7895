//! The tree without a cluster: every object says that it was made, and nothing leaves the process.

use opgen::testing::Trial;
use serde_json::Value;

use super::*;
use crate::sample;

async fn built(shop: Shop) -> Trial<Shop, ShopTree> {
    let trial = Trial::new(shop);
    trial.up().await.unwrap();
    trial
}

fn pods<'a>(of: &'a Value, path: &str) -> &'a Value {
    of.pointer(path).unwrap_or_else(|| panic!("{path} is not in {of}"))
}

#[tokio::test]
async fn a_tier_begins_after_the_one_below_it_and_goes_before_it() {
    let trial = built(sample()).await;
    let tiers = |called: Vec<String>| -> Vec<String> {
        let mut tiers: Vec<_> =
            called.iter().filter_map(|call| call.split([' ', '/']).nth(1)).map(str::to_owned).collect();
        tiers.dedup();
        tiers
    };
    let up = tiers(trial.called());
    assert_eq!(up, ["foundation", "identity", "database", "backend", "ingress"]);
    trial.down().await.unwrap();
    assert!(tiers(trial.called()).into_iter().eq(up.into_iter().rev()));
    assert!(trial.left().is_empty());
}

#[tokio::test]
async fn the_backend_and_its_jobs_find_the_database() {
    let trial = built(sample()).await;
    let service = &trial.objects("database/service")[0]["metadata"]["name"];
    let (deployment, job) = (&trial.objects("backend/replicas")[0], &trial.objects("backend/jobs")[0]);
    for pod in [pods(deployment, "/spec/template/spec"), pods(job, "/spec/jobTemplate/spec/template/spec")] {
        let host = &pod["containers"][0]["env"][0];
        assert_eq!((&host["name"], &host["value"]), (&"DATABASE_HOST".into(), service));
    }
}

#[tokio::test]
async fn other_settings_are_another_template() {
    let mut trial = built(sample()).await;
    let template = |trial: &Trial<Shop, ShopTree>| trial.objects("backend/replicas")[0]["spec"]["template"].clone();
    let before = template(&trial);
    trial.up().await.unwrap();
    assert_eq!(template(&trial), before);
    trial.object().spec.backend.settings.insert("currency".to_owned(), "CHF".to_owned());
    trial.up().await.unwrap();
    assert_ne!(template(&trial), before);
}

#[tokio::test]
async fn parts_come_and_go_with_the_spec() {
    let mut trial = built(sample()).await;
    let all = trial.left();
    assert!(all.contains("ingress") && all.contains("backend/budget") && all.contains("backend/jobs"), "{all:?}");
    trial.object().spec.host = None;
    trial.object().spec.backend.replicas = 1;
    trial.object().spec.schedules.clear();
    trial.up().await.unwrap();
    let gone: Vec<_> = all.difference(&trial.left()).cloned().collect();
    assert_eq!(gone, ["backend/budget", "backend/jobs", "ingress"]);
}
