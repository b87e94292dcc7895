//! Tests of privilege escalation checks. The expected responses are those of kube-apiserver 1.36.3.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::roles::{RBAC, binding, joe, role, rule, user, with_writer};
use crate::user_client::{create, send};
use opgen_sandbox::User;
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn nobody_writes_rules_that_he_lacks() {
    let sandbox = with_writer().await;
    let roles = format!("{RBAC}/namespaces/one/roles");
    let named =
        json!({"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"], "resourceNames": ["a", "b"]});
    let wanted = role("r1", json!([rule(&[""], &["pods", "secrets"], &["get", "list"]), named]));
    let (code, answer) = send(&sandbox, &joe(), ("POST", &roles), &wanted).await;
    let lacked = "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}\n{APIGroups:[\"apps\"], Resources:[\"deployments\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}\n{APIGroups:[\"apps\"], Resources:[\"deployments\"], ResourceNames:[\"b\"], Verbs:[\"get\"]}";
    let refused = |what: &str| {
        format!(
            "{what} is forbidden: user \"joe\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n"
        )
    };
    assert_eq!(code, 403);
    assert_eq!(answer["message"], refused("roles.rbac.authorization.k8s.io \"r1\"") + lacked);
    assert_eq!(answer["details"], json!({"name": "r1", "group": "rbac.authorization.k8s.io", "kind": "roles"}));

    let held = role("r1", json!([rule(&[""], &["pods"], &["get"])]));
    assert_eq!(send(&sandbox, &joe(), ("POST", &roles), &held).await.0, 201);
    let one = format!("{roles}/r1");
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(send(&sandbox, &joe(), ("PATCH", &one), &label).await.0, 200);
    let all = json!({"rules": [rule(&["*"], &["*"], &["*"])]});
    assert_eq!(send(&sandbox, &joe(), ("PATCH", &one), &all).await.0, 403);

    let roles = format!("{RBAC}/clusterroles");
    let paths = json!([{"nonResourceURLs": ["/metrics", "/healthz"], "verbs": ["get"]}]);
    let (_, answer) = send(&sandbox, &joe(), ("POST", &roles), &role("r2", paths)).await;
    let what = "clusterroles.rbac.authorization.k8s.io \"r2\"";
    assert_eq!(answer["message"], refused(what) + "{NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}");
    let gathers =
        json!({"metadata": {"name": "r2"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}});
    let (_, answer) = send(&sandbox, &joe(), ("POST", &roles), &gathers).await;
    assert_eq!(
        answer["message"],
        format!("{what} is forbidden: must have cluster-admin privileges to use the aggregationRule")
    );
}

#[tokio::test(start_paused = true)]
async fn who_may_escalate_writes_any_rules_and_who_may_bind_binds_any_role() {
    let sandbox = with_writer().await;
    let group = "rbac.authorization.k8s.io";
    let rules = json!([rule(&[group], &["roles"], &["escalate"]), rule(&[group], &["clusterroles"], &["bind"])]);
    create(&sandbox, &format!("{RBAC}/clusterroles"), role("more", rules)).await;
    create(
        &sandbox,
        &format!("{RBAC}/namespaces/one/rolebindings"),
        binding("more", "ClusterRole", "more", &user("joe")),
    )
    .await;
    let all = role("all", json!([rule(&["*"], &["*"], &["*"])]));
    assert_eq!(send(&sandbox, &joe(), ("POST", &format!("{RBAC}/namespaces/one/roles")), &all).await.0, 201);
    assert_eq!(send(&sandbox, &joe(), ("POST", &format!("{RBAC}/clusterroles")), &all).await.0, 403);
    let bound = binding("b", "ClusterRole", "cluster-admin", &user("joe"));
    assert_eq!(send(&sandbox, &joe(), ("POST", &format!("{RBAC}/clusterrolebindings")), &bound).await.0, 403);
    assert_eq!(send(&sandbox, &joe(), ("POST", &format!("{RBAC}/namespaces/one/rolebindings")), &bound).await.0, 201);
}

#[tokio::test(start_paused = true)]
async fn nobody_binds_a_role_that_says_more_than_he_may() {
    let sandbox = with_writer().await;
    let (bindings, of_cluster) = (format!("{RBAC}/namespaces/one/rolebindings"), format!("{RBAC}/clusterrolebindings"));
    let admin = binding("b1", "ClusterRole", "cluster-admin", &user("jim"));
    let (_, answer) = send(&sandbox, &joe(), ("POST", &of_cluster), &admin).await;
    assert_eq!(
        answer["message"],
        "clusterrolebindings.rbac.authorization.k8s.io \"b1\" is forbidden: user \"joe\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}"
    );
    let edit = binding("b1x", "ClusterRole", "edit", &user("jim"));
    let (_, answer) = send(&sandbox, &joe(), ("POST", &bindings), &edit).await;
    assert_eq!(answer["message"], include_str!("seen/edit_refused.txt").trim_end());
    let (code, answer) =
        send(&sandbox, &joe(), ("POST", &bindings), &binding("b1", "Role", "missing", &user("jim"))).await;
    assert_eq!(
        (code, &answer["message"]),
        (404, &json!("rolebindings.rbac.authorization.k8s.io \"missing\" not found"))
    );
    let (code, answer) = send(&sandbox, &joe(), ("POST", &of_cluster), &binding("b1", "Role", "x", &user("jim"))).await;
    assert_eq!((code, &answer["message"]), (400, &json!("Namespace parameter required.")));

    create(&sandbox, &format!("{RBAC}/namespaces/one/roles"), role("r1", json!([rule(&[""], &["pods"], &["get"])])))
        .await;
    let (code, bound) = send(&sandbox, &joe(), ("POST", &bindings), &binding("b1", "Role", "r1", &user("jim"))).await;
    assert_eq!((code, &bound["roleRef"]["apiGroup"]), (201, &json!("rbac.authorization.k8s.io")));
    assert_eq!(bound["subjects"][0]["apiGroup"], "rbac.authorization.k8s.io");

    let change = json!({"roleRef": {"name": "r2"}});
    let (code, answer) = send(&sandbox, &User::admin("admin"), ("PATCH", &format!("{bindings}/b1")), &change).await;
    let why = "Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"r2\"}: cannot change roleRef";
    assert_eq!((code, &answer["details"]["causes"][0]["message"]), (422, &json!(why)));
    assert_eq!(answer["message"], format!("RoleBinding.rbac.authorization.k8s.io \"b1\" is invalid: roleRef: {why}"));
}

#[tokio::test(start_paused = true)]
async fn roles_and_bindings_must_be_whole() {
    let sandbox = with_writer().await;
    let admin = User::admin("admin");
    let wrong = json!([
        {"apiGroups": [""], "verbs": []}, {"nonResourceURLs": ["/x"], "verbs": ["get"]}, {"resources": ["a"], "verbs": ["get"]},
    ]);
    let (_, answer) =
        send(&sandbox, &admin, ("POST", &format!("{RBAC}/namespaces/one/roles")), &role("b9", wrong)).await;
    assert_eq!(
        answer["message"],
        "Role.rbac.authorization.k8s.io \"b9\" is invalid: [rules[0].verbs: Required value: verbs must contain at least one value, rules[0].resources: Required value: resource rules must supply at least one resource, rules[1].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs, rules[2].apiGroups: Required value: resource rules must supply at least one api group]"
    );
    let wrong = json!({
        "metadata": {"name": "b9"}, "roleRef": {"kind": "Role", "name": "x"},
        "subjects": [{"kind": "ServiceAccount", "name": "a"}, {"kind": "User", "name": "", "apiGroup": "nope"}],
    });
    let (_, answer) = send(&sandbox, &admin, ("POST", &format!("{RBAC}/clusterrolebindings")), &wrong).await;
    assert_eq!(
        answer["message"],
        "ClusterRoleBinding.rbac.authorization.k8s.io \"b9\" is invalid: [roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\", subjects[0].namespace: Required value, subjects[1].name: Required value, subjects[1].apiGroup: Unsupported value: \"nope\": supported values: \"rbac.authorization.k8s.io\"]"
    );
}
