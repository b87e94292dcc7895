//! What a tree says of itself.

use opgen::{prelude::*, testing::TreeHarness};

use super::kind::{App, app};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::ResourceExt;

/// The line of the first attribute below.
const LINE: u32 = line!() + 2;

#[derive(Provisioner)]
#[provisioner(serial, owner = App, retired(old: Secret))]
struct Tree {
    workload: Workload,
    #[provisioner(resource, when = |app| app.spec.snapshots)]
    config: Option<ConfigMap>,
    #[provisioner(resource, from(workload.type, workload.r#final))]
    r#ref: ConfigMap,
}

impl Tree {
    fn config(_: &App) -> Option<ConfigMap> {
        None
    }

    fn r#ref(_: &App, service: &Service, fin: &Option<ConfigMap>) -> ConfigMap {
        let mut config = ConfigMap::default();
        config.metadata.name = Some(format!("{}-{}", service.name_any(), fin.as_ref().unwrap().name_any()));
        config
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = App)]
struct Workload {
    #[provisioner(resource)]
    r#type: Service,
    #[provisioner(resource, from(type))]
    r#final: Option<ConfigMap>,
}

impl Workload {
    fn r#type(_: &App) -> Service {
        let mut service = Service::default();
        service.metadata.name = Some("front".to_owned());
        service
    }

    fn r#final(_: &App, service: &Service) -> Option<ConfigMap> {
        let mut config = ConfigMap::default();
        config.metadata.name = Some(format!("of-{}", service.name_any()));
        Some(config)
    }
}

#[test]
fn an_edge_is_at_the_line_of_its_field() {
    let lines: Vec<_> = Tree::SHAPE.children.iter().map(|edge| (edge.name, edge.location.line)).collect();
    assert_eq!(lines, [("workload", LINE + 3), ("config", LINE + 5), ("ref", LINE + 7), ("old", LINE + 1)]);
    assert!(Tree::SHAPE.children.iter().all(|edge| edge.location.file.ends_with("shape.rs")));
}

#[test]
fn a_keyword_is_a_name_like_others() {
    assert_eq!(Tree::SHAPE.children[2].reads, ["workload/type", "workload/final"]);
    assert_eq!(Workload::SHAPE.children[1].reads, ["type"]);
}

#[tokio::test]
async fn a_child_of_a_child_is_read_by_its_name() {
    let rehearsal = TreeHarness::<App, Tree>::new(app(&[]));
    let outcome = rehearsal.up().await;
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(rehearsal.objects("ref")[0]["metadata"]["name"], "front-of-front");
}
