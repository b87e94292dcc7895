//! The manifests of `gardener`, a hand-written operator for tests: its CustomResourceDefinition, role and sample object.

use opgen_testing::Manifests;
use serde_json::json;

use super::{Bug, NAME, webhook};

pub fn manifests(bug: Bug, validates: bool) -> Manifests {
    let mut verbs = vec!["create", "delete", "get", "list", "patch", "update", "watch"];
    if bug.is(Bug::WrongRole) {
        verbs.retain(|verb| *verb != "delete");
    }
    let mut rules = vec![
        json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}),
        json!({"apiGroups": ["example.com"], "resources": ["gardens"], "verbs": ["get", "list", "patch", "watch"]}),
        json!({"apiGroups": ["example.com"], "resources": ["gardens/status"], "verbs": ["patch"]}),
    ];
    match bug {
        Bug::OthersSecrets | Bug::RolledPassword => rules.push(json!({
            "apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "deletecollection", "get", "patch"],
        })),
        Bug::ClaimRemade => rules.push(json!({
            "apiGroups": [""], "resources": ["persistentvolumeclaims"],
            "verbs": ["create", "delete", "get", "patch"],
        })),
        Bug::Crowd => {
            rules.push(json!({"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": ["create", "patch"]}));
        }
        _ => {}
    }
    let schema = json!({
        "type": "object", "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object", "required": ["plants"],
                "properties": {"plants": {"type": "integer", "minimum": 0, "maximum": 9}, "shed": {"type": "boolean"}},
            },
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    });
    let mut install = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gardener-system"}}),
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "gardens.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Garden", "listKind": "GardenList", "plural": "gardens", "singular": "garden"},
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema},
                }],
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": NAME, "namespace": "gardener-system"},
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": NAME},
            "rules": rules,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": NAME},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": "gardener-system"}],
        }),
    ];
    install.extend(validates.then(webhook::configuration));
    let sample = json!({
        "apiVersion": "example.com/v1", "kind": "Garden",
        "metadata": {"name": "home", "namespace": "default"}, "spec": {"plants": 3, "shed": true},
    });
    Manifests::new(install, [sample])
}
