//! Tests of impersonation. The expected responses are those of kube-apiserver 1.36.3.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::roles::{RBAC, binding, joe, role, rule, user};
use crate::user_client::{create, send, send_with};
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn a_user_acts_for_another_if_he_may() {
    let sandbox = Sandbox::builder().seed(1).start();
    let admin = User::admin("admin");
    let me = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let whoami = async |who: &User, headers: &[(&str, &str)]| {
        let (code, answer) = send_with(&sandbox, who, ("POST", me), headers, &json!({})).await;
        (code, if code == 201 { answer["status"]["userInfo"].clone() } else { answer["message"].clone() })
    };
    let account = [
        ("Impersonate-User", "system:serviceaccount:one:robo"),
        ("Impersonate-Extra-scopes%2Ffoo", "a"),
        ("Impersonate-Extra-scopes%2Ffoo", "b"),
    ];
    let is = json!({
        "username": "system:serviceaccount:one:robo",
        "groups": ["system:serviceaccounts", "system:serviceaccounts:one", "system:authenticated"],
        "extra": {"scopes/foo": ["a", "b"]},
    });
    assert_eq!(whoami(&admin, &account).await, (201, is));
    let nobody = "selfsubjectreviews.authentication.k8s.io is forbidden: User \"system:anonymous\" cannot create resource \"selfsubjectreviews\" in API group \"authentication.k8s.io\" at the cluster scope";
    assert_eq!(whoami(&admin, &[("Impersonate-User", "system:anonymous")]).await, (403, json!(nobody)));
    let why = "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"gg\"}, Extra:map[string][]string(nil)} without impersonating a user name";
    assert_eq!(whoami(&admin, &[("Impersonate-Group", "gg")]).await, (400, json!(why)));

    let refused = async |headers: &[(&str, &str)]| {
        send_with(&sandbox, &joe(), ("GET", "/api/v1/pods"), headers, &Value::Null).await.1["message"].clone()
    };
    let x = [("Impersonate-User", "x")];
    let cannot = |what: &str, who: &str| format!("{what} is forbidden: User \"joe\" cannot {who} at the cluster scope");
    let pods = "resource \"pods\" in API group \"\"";
    assert_eq!(refused(&x).await, cannot("pods", &format!("impersonate-on:user-info:list {pods}")));
    let with_group = [("Impersonate-User", "system:node:n"), ("Impersonate-Group", "system:nodes")];
    assert_eq!(
        refused(&with_group).await,
        cannot("users \"system:node:n\"", "impersonate resource \"users\" in API group \"\"")
    );

    let role_path = format!("{RBAC}/clusterroles/acts");
    let on = json!([rule(&[""], &["pods"], &["impersonate-on:user-info:list"])]);
    create(&sandbox, &format!("{RBAC}/clusterroles"), role("acts", on)).await;
    create(&sandbox, &format!("{RBAC}/clusterrolebindings"), binding("acts", "ClusterRole", "acts", &user("joe")))
        .await;
    let who = "impersonate:user-info resource \"users\" in API group \"authentication.k8s.io\"";
    assert_eq!(refused(&x).await, cannot("users.authentication.k8s.io \"x\"", who));

    let legacy = json!({"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["x"]});
    send(&sandbox, &admin, ("PATCH", &role_path), &json!({"rules": [legacy]})).await;
    let y = [("Impersonate-User", "y")];
    let nodes = [("Impersonate-User", "system:node:n")];
    assert_eq!(refused(&nodes).await, cannot("pods", &format!("impersonate-on:arbitrary-node:list {pods}")));
    assert_eq!(refused(&x).await, format!("pods is forbidden: User \"x\" cannot list {pods} at the cluster scope"));
    assert_eq!(refused(&y).await, cannot("users \"y\"", "impersonate resource \"users\" in API group \"\""));

    let rules = json!({"rules": [
        rule(&[""], &["pods"], &["impersonate-on:user-info:list"]), rule(&["authentication.k8s.io"], &["users"], &["impersonate:user-info"]),
    ]});
    send(&sandbox, &admin, ("PATCH", &role_path), &rules).await;
    assert_eq!(refused(&x).await, format!("pods is forbidden: User \"x\" cannot list {pods} at the cluster scope"));
    let master = [x[0], ("Impersonate-Group", "system:masters")];
    let who = "impersonate:user-info resource \"groups\" in API group \"authentication.k8s.io\"";
    let why = ": impersonating the system:masters group is not allowed";
    assert_eq!(refused(&master).await, cannot("groups.authentication.k8s.io \"system:masters\"", who) + why);
}
