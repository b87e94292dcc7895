//! Tests of authorization. The expected responses are those of kube-apiserver 1.36.3.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::roles::{RBAC, binding, joe, rule, user, with_role};
use crate::user_client::{create, get, send};
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn a_refusal_says_what_was_asked() {
    let sandbox = Sandbox::builder().seed(1).start();
    let cases = [
        (
            "GET",
            "/api/v1/namespaces/default/pods",
            "pods is forbidden: User \"joe\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/api/v1/pods",
            "pods is forbidden: User \"joe\" cannot list resource \"pods\" in API group \"\" at the cluster scope",
        ),
        (
            "GET",
            "/api/v1/namespaces/default/pods/x",
            "pods \"x\" is forbidden: User \"joe\" cannot get resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/api/v1/namespaces/default/pods/x/log",
            "pods \"x\" is forbidden: User \"joe\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/apis/apps/v1/namespaces/default/deployments/d/scale",
            "deployments.apps \"d\" is forbidden: User \"joe\" cannot get resource \"deployments/scale\" in API group \"apps\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/api/v1/namespaces/default",
            "namespaces \"default\" is forbidden: User \"joe\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/apis/foo.io/v1/namespaces/a/things/b",
            "things.foo.io \"b\" is forbidden: User \"joe\" cannot get resource \"things\" in API group \"foo.io\" in the namespace \"a\"",
        ),
        (
            "GET",
            "/api/v1/watch/namespaces/default/pods",
            "pods is forbidden: User \"joe\" cannot watch resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "GET",
            "/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dx",
            "pods \"x\" is forbidden: User \"joe\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "DELETE",
            "/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dx",
            "pods is forbidden: User \"joe\" cannot deletecollection resource \"pods\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "POST",
            "/api/v1/namespaces/default/pods/x/exec",
            "pods \"x\" is forbidden: User \"joe\" cannot create resource \"pods/exec\" in API group \"\" in the namespace \"default\"",
        ),
        ("GET", "/metrics", "forbidden: User \"joe\" cannot get path \"/metrics\""),
        ("POST", "/metrics", "forbidden: User \"joe\" cannot post path \"/metrics\""),
    ];
    for (method, path, message) in cases {
        let (code, answer) = send(&sandbox, &joe(), (method, path), &Value::Null).await;
        assert_eq!(
            (code, &answer["message"], &answer["reason"]),
            (403, &json!(message), &json!("Forbidden")),
            "{path}"
        );
        assert!(answer["details"].is_object(), "{answer}");
    }
    let (_, answer) = get(&sandbox, &joe(), "/apis/apps/v1/namespaces/default/deployments/d/scale").await;
    assert_eq!(answer["details"], json!({"name": "d", "group": "apps", "kind": "deployments"}));
    let (_, answer) = get(&sandbox, &User::anonymous(), "/api").await;
    assert_eq!(answer["message"], "forbidden: User \"system:anonymous\" cannot get path \"/api\"");
}

#[tokio::test(start_paused = true)]
async fn a_role_allows_what_it_says_where_it_is_bound() {
    let named = json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a"], "verbs": ["get", "list"]});
    let rules = json!([
        rule(&[""], &["configmaps", "pods/log"], &["get", "list"]),
        rule(&["apps"], &["*/scale"], &["*"]),
        named
    ]);
    let sandbox = with_role(&user("joe"), rules).await;
    let one = "/api/v1/namespaces/one";
    let allowed = [
        format!("{one}/configmaps"),
        format!("{one}/configmaps/x"),
        format!("{one}/secrets/a"),
        format!("{one}/secrets?fieldSelector=metadata.name%3Da"),
        format!("{one}/pods/x/log"),
        "/apis/apps/v1/namespaces/one/deployments/d/scale".to_owned(),
        "/version".to_owned(),
        "/apis".to_owned(),
    ];
    for path in allowed {
        let (code, answer) = get(&sandbox, &joe(), &path).await;
        assert_ne!(code, 403, "{path}: {answer}");
    }
    let refused = [
        "/api/v1/configmaps".to_owned(),
        "/api/v1/namespaces/default/configmaps".to_owned(),
        format!("{one}/configmaps?watch=1"),
        format!("{one}/secrets"),
        format!("{one}/secrets/b"),
        format!("{one}/pods/x"),
        "/apis/apps/v1/namespaces/one/deployments/d".to_owned(),
        "/metrics".to_owned(),
    ];
    for path in refused {
        assert_eq!(get(&sandbox, &joe(), &path).await.0, 403, "{path}");
        assert_ne!(get(&sandbox, &User::admin("admin"), &path).await.0, 403, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn subjects_are_users_groups_and_accounts() {
    let rules = || json!([rule(&[""], &["configmaps"], &["list"])]);
    let path = "/api/v1/namespaces/one/configmaps";
    let account = User::service_account("one", "robo", "1");
    let cases = [
        (user("joe"), joe()),
        (json!({"kind": "Group", "name": "team"}), User::named("jim", &["team"])),
        (json!({"kind": "ServiceAccount", "name": "robo", "namespace": "one"}), account.clone()),
        (json!({"kind": "Group", "name": "system:serviceaccounts:one"}), account),
    ];
    for (subject, who) in cases {
        let sandbox = with_role(&subject, rules()).await;
        assert_eq!(get(&sandbox, &who, path).await.0, 200, "{subject}");
        assert_eq!(get(&sandbox, &User::named("else", &[]), path).await.0, 403, "{subject}");
    }
}

#[tokio::test(start_paused = true)]
async fn rights_end_with_the_binding_and_change_with_the_role() {
    let sandbox = with_role(&user("joe"), json!([rule(&[""], &["configmaps"], &["list"])])).await;
    let path = "/api/v1/namespaces/one/configmaps";
    assert_eq!(get(&sandbox, &joe(), path).await.0, 200);
    let (admin, nothing) = (User::admin("admin"), Value::Null);
    let role = format!("{RBAC}/namespaces/one/roles/r1");
    send(&sandbox, &admin, ("PATCH", &role), &json!({"rules": [rule(&[""], &["configmaps"], &["get"])]})).await;
    assert_eq!(get(&sandbox, &joe(), path).await.0, 403);
    assert_eq!(get(&sandbox, &joe(), &format!("{path}/x")).await.0, 404);
    let binding = format!("{RBAC}/namespaces/one/rolebindings/b1");
    assert_eq!(send(&sandbox, &admin, ("DELETE", &binding), &nothing).await.0, 200);
    assert_eq!(get(&sandbox, &joe(), &format!("{path}/x")).await.0, 403);
}

#[tokio::test(start_paused = true)]
async fn a_missing_role_is_named_in_the_refusal() {
    let sandbox = Sandbox::builder().seed(1).start();
    let bindings = format!("{RBAC}/clusterrolebindings");
    create(&sandbox, &bindings, binding("m1", "ClusterRole", "m1", &user("joe"))).await;
    let (_, answer) = get(&sandbox, &joe(), "/api/v1/nodes").await;
    let refused =
        "nodes is forbidden: User \"joe\" cannot list resource \"nodes\" in API group \"\" at the cluster scope";
    let missing = |name: &str| format!("clusterrole.rbac.authorization.k8s.io \"{name}\" not found");
    assert_eq!(answer["message"], format!("{refused}: RBAC: {}", missing("m1")));
    create(&sandbox, &bindings, binding("m2", "ClusterRole", "m2", &user("joe"))).await;
    let (_, answer) = get(&sandbox, &joe(), "/api/v1/nodes").await;
    assert_eq!(answer["message"], format!("{refused}: RBAC: [{}, {}]", missing("m1"), missing("m2")));
}

#[tokio::test(start_paused = true)]
async fn a_role_gathers_the_rules_of_those_it_selects() {
    let sandbox = Sandbox::builder().seed(1).start();
    let roles = format!("{RBAC}/clusterroles");
    let selector = json!({"clusterRoleSelectors": [{"matchLabels": {"into": "all"}}]});
    create(&sandbox, &roles, json!({"metadata": {"name": "all"}, "aggregationRule": selector})).await;
    let part =
        json!({"metadata": {"name": "part", "labels": {"into": "all"}}, "rules": [rule(&[""], &["pods"], &["get"])]});
    create(&sandbox, &roles, part).await;
    create(&sandbox, &format!("{RBAC}/clusterrolebindings"), binding("all", "ClusterRole", "all", &user("joe"))).await;
    let admin = User::admin("admin");
    let gathers = async |expected: Value| {
        let look = async || {
            let held = get(&sandbox, &admin, &format!("{roles}/all")).await.1["rules"].clone();
            (held == expected).then_some(())
        };
        crate::wait::until(&expected.to_string(), look).await;
    };
    gathers(json!([rule(&[""], &["pods"], &["get"])])).await;
    assert_eq!(get(&sandbox, &joe(), "/api/v1/namespaces/one/pods/x").await.0, 404);
    let more = json!({"rules": [rule(&[""], &["pods"], &["list"])]});
    send(&sandbox, &admin, ("PATCH", &format!("{roles}/part")), &more).await;
    gathers(json!([rule(&[""], &["pods"], &["list"])])).await;
    assert_eq!(get(&sandbox, &joe(), "/api/v1/namespaces/one/pods/x").await.0, 403);
}
