//! Roles in a tree: the rights that they grant are declared once.

use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    rbac::v1::{ClusterRole, PolicyRule, Role},
};
use opgen::{Provisioner as _, prelude::*, testing::TreeHarness};
use serde_json::{Value, json};

use super::kind::{App, app};

#[derive(Provisioner)]
#[provisioner(concurrent, owner = App)]
struct Tree {
    #[provisioner(resource(grants(ConfigMap: get, list; Secret("tls"): get)))]
    role: Role,
    #[provisioner(resource(once, grants("/healthz/*": get)))]
    cluster_role: Option<ClusterRole>,
}

impl Tree {
    /// With snapshots it says its rules itself, and more than it may.
    fn role(app: &App) -> Role {
        let own = PolicyRule {
            api_groups: Some(vec![String::new()]),
            resources: Some(vec!["secrets".to_owned()]),
            verbs: vec!["get".to_owned()],
            ..PolicyRule::default()
        };
        Role { rules: app.spec.snapshots.then(|| vec![own]), ..Role::default() }
    }

    fn cluster_role(_: &App) -> Option<ClusterRole> {
        Some(ClusterRole::default())
    }
}

fn rules(rehearsal: &TreeHarness<App, Tree>, node: &str) -> Value {
    rehearsal.objects(node)[0]["rules"].clone()
}

#[tokio::test]
async fn a_role_has_the_rules_that_its_field_declares() {
    let rehearsal = TreeHarness::<App, Tree>::new(app(&[]));
    rehearsal.up().await.unwrap();
    let expected = json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resourceNames": ["tls"], "resources": ["secrets"], "verbs": ["get"]},
    ]);
    assert_eq!(rules(&rehearsal, "role"), expected);
    assert_eq!(rules(&rehearsal, "cluster_role"), json!([{"nonResourceURLs": ["/healthz/*"], "verbs": ["get"]}]));
}

#[tokio::test]
async fn a_role_with_a_rule_beyond_the_declared_ones_is_terminal() {
    let mut rehearsal = TreeHarness::<App, Tree>::new(app(&[]));
    rehearsal.object().spec.snapshots = true;
    let error = rehearsal.up().await.unwrap_err();
    assert!(matches!(&error, Error::Terminal { reason, .. } if reason == "RoleBeyondDeclared"), "{error}");
    assert!(error.to_string().contains("node role builds a role that may get secrets of the core group,"), "{error}");
    assert!(rehearsal.objects("role").is_empty());
}

#[test]
fn the_rights_stand_on_the_edge_with_their_line() {
    let edge = &Tree::SHAPE.children[0];
    let said: Vec<String> = edge.access.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["ConfigMap: get, list", "Secret(\"tls\"): get"]);
    assert!(edge.access.iter().all(|access| access.location.file == file!() && access.location.line == 15));
    assert_eq!(Tree::SHAPE.children[0].shape.access.len(), 1);
}
