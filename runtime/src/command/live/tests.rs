//! Tests how tree diagrams show the state of the objects that were read from the cluster.

#![allow(clippy::unwrap_used)]

use crate::{
    command::live::*,
    manifest::{Diagram, TreeFormat, example_project, render_diagrams},
};
use serde_json::json;

fn kind(kind: &str) -> Kind {
    let project = example_project();
    let mut diagram_object = None;
    project.controllers[0].shape.walk(&mut |stop| {
        diagram_object = diagram_object.take().or_else(|| stop.shape.kinds().find(|own| own.kind == kind));
    });
    diagram_object.unwrap()
}

fn object(node: &str, name: &str, uid: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid of {name}"), "annotations": {"opgen.dev/node": node},
            "ownerReferences": [{"apiVersion": "demo.example.com/v1", "kind": "Shop", "name": "one", "uid": uid}],
        },
    })
}

fn filled_diagram(children: &LiveChildren, is_being_deleted: bool) -> Diagram {
    let project = example_project();
    let mut diagram = Diagram::of(&project.controllers[0]);
    let metadata = json!({"name": "one", "namespace": "shop", "generation": 2});
    let condition = json!({
        "type": "Available", "status": "False", "reason": "WaitingFor", "message": "workload/web: Deployment shop/one",
    });
    let owner = json!({"metadata": metadata, "status": {"observedGeneration": 2, "conditions": [condition]}});
    diagram.object = Some(diagram_owner(&diagram.kind, &owner));
    fill_state(&mut diagram.root, "", Expectation { is_being_deleted, is_unconditional: true }, children);
    diagram
}

fn some() -> LiveChildren {
    let mut children = LiveChildren::default();
    let owner = Uid::from("1");
    children.add(&kind("ConfigMap"), &object("config", "one", "1"), &owner);
    children.add(&kind("Service"), &object("workload/service", "one", "1"), &owner);
    children.add(&kind("Service"), &object("workload/service", "another", "2"), &owner);
    let mut web = object("workload/web", "one", "1");
    (web["metadata"]["generation"], web["status"]) = (json!(1), json!({"observedGeneration": 1, "updatedReplicas": 1}));
    children.add(&kind("Deployment"), &web, &owner);
    children.add(&kind("Service"), &object("pools[a%2Fb]/service", "pool", "1"), &owner);
    let mut marked = object("workload/jobs", "elsewhere", "");
    marked["metadata"]["ownerReferences"] = json!([]);
    marked["metadata"]["annotations"]["opgen.dev/owner"] = json!("shops.demo.example.com/shop/one/1");
    marked["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    children.add(&kind("CronJob"), &marked, &owner);
    children.list_failures.insert(kind("ServiceMonitor"), ListFailure::NotServed);
    children.list_failures.insert(kind("Secret"), ListFailure::Forbidden);
    children
}

#[test]
fn each_node_shows_its_objects_and_what_is_not_there() {
    let text = render_diagrams(&example_project(), &[filled_diagram(&some(), false)], TreeFormat::Text);
    let expected = "\
… Shop shop/one (demo.example.com/v1): not ready: it is not Available (WaitingFor)
    Available False   WaitingFor  workload/web: Deployment shop/one
├─ ✓ config: ready  ConfigMap shop/one
├─ … workload: not ready
│  ├─ - cache: none  when shop.spec.replicas > 0 && shop.spec.tier != \"free\"
│  ├─ ✗ proxy: missing
│  ├─ … web: not ready  Deployment shop/one: 0 of 1 replicas are available
│  ├─ ✓ service: ready  Service shop/one
│  └─ … jobs: being deleted  CronJob shop/elsewhere
├─ … pools[a/b]: not ready
│  ├─ ✗ deployment: missing
│  └─ ✓ service: ready  Service shop/pool
├─ - ingress: none  optional
├─ ✗ namespace: missing
├─ - monitor: none: the cluster does not serve its API
├─ backup: custom  when shop.spec.backup  Node: get; Deployment/scale: patch, get
└─ ? legacy: unknown: you have no permission to list them
";
    assert_eq!(text, expected);
}

#[test]
fn on_the_way_down_nothing_is_missing() {
    let text = render_diagrams(&example_project(), &[filled_diagram(&LiveChildren::default(), true)], TreeFormat::Text);
    assert!(!text.contains("missing") && text.contains("- pools: none  each shop.spec.pools.iter()"), "{text}");
}

#[test]
fn programs_and_pages_see_the_state_as_well() {
    let diagram = [filled_diagram(&some(), false)];
    let json: Value = serde_json::from_str(&render_diagrams(&example_project(), &diagram, TreeFormat::Json)).unwrap();
    assert_eq!((&json["name"], &json["state"]), (&json!("one"), &json!("not ready")));
    assert_eq!(json["conditions"][0]["reason"], "WaitingFor");
    let web = &json["tree"]["children"][1]["node"]["children"][2]["node"];
    assert_eq!((&web["state"], &web["objects"][0]["name"]), (&json!("not ready"), &json!("one")));
    let mermaid = render_diagrams(&example_project(), &diagram, TreeFormat::Mermaid);
    assert!(
        mermaid.contains("<i>not ready</i><br/>Deployment shop/one") && mermaid.contains("  style k0_"),
        "{mermaid}"
    );
    let svg = render_diagrams(&example_project(), &diagram, TreeFormat::Svg);
    assert!(svg.contains(">pools[a/b]<") && svg.contains(">missing<"), "{svg}");
}

#[test]
fn a_kind_is_meant_by_name_or_plural_in_any_case() {
    let shop = example_project().controllers[0].kind.clone();
    for said in ["Shop", "shops", "SHOP", "shops.demo.example.com", "shop.Demo.Example.Com"] {
        assert!(crate::command::lookup::matches_kind(&shop, said), "{said}");
    }
    for said in ["sho", "", "shops.example.com", "shop."] {
        assert!(!crate::command::lookup::matches_kind(&shop, said), "{said}");
    }
}

#[test]
fn an_unknown_kind_is_answered_with_the_known_ones() {
    let error = LookupError::unknown_kind(&example_project(), "shp");
    assert_eq!(error.to_string(), "shops does not control kind `shp`");
    assert_eq!(error.hint().as_deref(), Some("the operator controls Shop"));
}
