//! Who may do what. What is expected here is what kube-apiserver 1.36.3 answered to the same.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use opgen_sandbox::{Sandbox, User};
use plain::{ask, ask_with, get, given};
use serde_json::{Value, json};

mod plain;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1";

fn joe() -> User {
    User::named("joe", &[])
}

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
}

fn role(name: &str, rules: Value) -> Value {
    json!({"metadata": {"name": name}, "rules": rules})
}

fn binding(name: &str, kind: &str, role: &str, subject: &Value) -> Value {
    json!({"metadata": {"name": name}, "roleRef": {"kind": kind, "name": role}, "subjects": [subject]})
}

fn user(name: &str) -> Value {
    json!({"kind": "User", "name": name})
}

/// A namespace `one` in which `who` has a role with some rules.
async fn with_role(who: &Value, rules: Value) -> Sandbox {
    let sandbox = Sandbox::builder().seed(1).start();
    given(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "one"}})).await;
    given(&sandbox, &format!("{RBAC}/namespaces/one/roles"), role("r1", rules)).await;
    given(&sandbox, &format!("{RBAC}/namespaces/one/rolebindings"), binding("b1", "Role", "r1", who)).await;
    sandbox
}

/// A cluster in which joe may write roles and bindings, and get Pods.
async fn with_writer() -> Sandbox {
    let sandbox = Sandbox::builder().seed(1).start();
    given(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "one"}})).await;
    let resources = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"];
    let verbs = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let rules = json!([rule(&["rbac.authorization.k8s.io"], &resources, &verbs), rule(&[""], &["pods"], &["get"])]);
    given(&sandbox, &format!("{RBAC}/clusterroles"), role("writer", rules)).await;
    let bound = binding("writer", "ClusterRole", "writer", &user("joe"));
    given(&sandbox, &format!("{RBAC}/clusterrolebindings"), bound).await;
    sandbox
}

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
        let (code, answer) = ask(&sandbox, &joe(), (method, path), &Value::Null).await;
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
    ask(&sandbox, &admin, ("PATCH", &role), &json!({"rules": [rule(&[""], &["configmaps"], &["get"])]})).await;
    assert_eq!(get(&sandbox, &joe(), path).await.0, 403);
    assert_eq!(get(&sandbox, &joe(), &format!("{path}/x")).await.0, 404);
    let binding = format!("{RBAC}/namespaces/one/rolebindings/b1");
    assert_eq!(ask(&sandbox, &admin, ("DELETE", &binding), &nothing).await.0, 200);
    assert_eq!(get(&sandbox, &joe(), &format!("{path}/x")).await.0, 403);
}

#[tokio::test(start_paused = true)]
async fn a_missing_role_is_named_in_the_refusal() {
    let sandbox = Sandbox::builder().seed(1).start();
    let bindings = format!("{RBAC}/clusterrolebindings");
    given(&sandbox, &bindings, binding("m1", "ClusterRole", "m1", &user("joe"))).await;
    let (_, answer) = get(&sandbox, &joe(), "/api/v1/nodes").await;
    let refused =
        "nodes is forbidden: User \"joe\" cannot list resource \"nodes\" in API group \"\" at the cluster scope";
    let missing = |name: &str| format!("clusterrole.rbac.authorization.k8s.io \"{name}\" not found");
    assert_eq!(answer["message"], format!("{refused}: RBAC: {}", missing("m1")));
    given(&sandbox, &bindings, binding("m2", "ClusterRole", "m2", &user("joe"))).await;
    let (_, answer) = get(&sandbox, &joe(), "/api/v1/nodes").await;
    assert_eq!(answer["message"], format!("{refused}: RBAC: [{}, {}]", missing("m1"), missing("m2")));
}

#[tokio::test(start_paused = true)]
async fn nobody_writes_rules_that_he_lacks() {
    let sandbox = with_writer().await;
    let roles = format!("{RBAC}/namespaces/one/roles");
    let named =
        json!({"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"], "resourceNames": ["a", "b"]});
    let wanted = role("r1", json!([rule(&[""], &["pods", "secrets"], &["get", "list"]), named]));
    let (code, answer) = ask(&sandbox, &joe(), ("POST", &roles), &wanted).await;
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
    assert_eq!(ask(&sandbox, &joe(), ("POST", &roles), &held).await.0, 201);
    let one = format!("{roles}/r1");
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(ask(&sandbox, &joe(), ("PATCH", &one), &label).await.0, 200);
    let all = json!({"rules": [rule(&["*"], &["*"], &["*"])]});
    assert_eq!(ask(&sandbox, &joe(), ("PATCH", &one), &all).await.0, 403);

    let roles = format!("{RBAC}/clusterroles");
    let paths = json!([{"nonResourceURLs": ["/metrics", "/healthz"], "verbs": ["get"]}]);
    let (_, answer) = ask(&sandbox, &joe(), ("POST", &roles), &role("r2", paths)).await;
    let what = "clusterroles.rbac.authorization.k8s.io \"r2\"";
    assert_eq!(answer["message"], refused(what) + "{NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}");
    let gathers =
        json!({"metadata": {"name": "r2"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}});
    let (_, answer) = ask(&sandbox, &joe(), ("POST", &roles), &gathers).await;
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
    given(&sandbox, &format!("{RBAC}/clusterroles"), role("more", rules)).await;
    given(
        &sandbox,
        &format!("{RBAC}/namespaces/one/rolebindings"),
        binding("more", "ClusterRole", "more", &user("joe")),
    )
    .await;
    let all = role("all", json!([rule(&["*"], &["*"], &["*"])]));
    assert_eq!(ask(&sandbox, &joe(), ("POST", &format!("{RBAC}/namespaces/one/roles")), &all).await.0, 201);
    assert_eq!(ask(&sandbox, &joe(), ("POST", &format!("{RBAC}/clusterroles")), &all).await.0, 403);
    let bound = binding("b", "ClusterRole", "cluster-admin", &user("joe"));
    assert_eq!(ask(&sandbox, &joe(), ("POST", &format!("{RBAC}/clusterrolebindings")), &bound).await.0, 403);
    assert_eq!(ask(&sandbox, &joe(), ("POST", &format!("{RBAC}/namespaces/one/rolebindings")), &bound).await.0, 201);
}

#[tokio::test(start_paused = true)]
async fn nobody_binds_a_role_that_says_more_than_he_may() {
    let sandbox = with_writer().await;
    let (bindings, of_cluster) = (format!("{RBAC}/namespaces/one/rolebindings"), format!("{RBAC}/clusterrolebindings"));
    let admin = binding("b1", "ClusterRole", "cluster-admin", &user("jim"));
    let (_, answer) = ask(&sandbox, &joe(), ("POST", &of_cluster), &admin).await;
    assert_eq!(
        answer["message"],
        "clusterrolebindings.rbac.authorization.k8s.io \"b1\" is forbidden: user \"joe\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}"
    );
    let edit = binding("b1x", "ClusterRole", "edit", &user("jim"));
    let (_, answer) = ask(&sandbox, &joe(), ("POST", &bindings), &edit).await;
    assert_eq!(answer["message"], include_str!("seen/edit_refused.txt").trim_end());
    let (code, answer) =
        ask(&sandbox, &joe(), ("POST", &bindings), &binding("b1", "Role", "missing", &user("jim"))).await;
    assert_eq!(
        (code, &answer["message"]),
        (404, &json!("rolebindings.rbac.authorization.k8s.io \"missing\" not found"))
    );
    let (code, answer) = ask(&sandbox, &joe(), ("POST", &of_cluster), &binding("b1", "Role", "x", &user("jim"))).await;
    assert_eq!((code, &answer["message"]), (400, &json!("Namespace parameter required.")));

    given(&sandbox, &format!("{RBAC}/namespaces/one/roles"), role("r1", json!([rule(&[""], &["pods"], &["get"])])))
        .await;
    let (code, bound) = ask(&sandbox, &joe(), ("POST", &bindings), &binding("b1", "Role", "r1", &user("jim"))).await;
    assert_eq!((code, &bound["roleRef"]["apiGroup"]), (201, &json!("rbac.authorization.k8s.io")));
    assert_eq!(bound["subjects"][0]["apiGroup"], "rbac.authorization.k8s.io");

    let change = json!({"roleRef": {"name": "r2"}});
    let (code, answer) = ask(&sandbox, &User::admin("admin"), ("PATCH", &format!("{bindings}/b1")), &change).await;
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
        ask(&sandbox, &admin, ("POST", &format!("{RBAC}/namespaces/one/roles")), &role("b9", wrong)).await;
    assert_eq!(
        answer["message"],
        "Role.rbac.authorization.k8s.io \"b9\" is invalid: [rules[0].verbs: Required value: verbs must contain at least one value, rules[0].resources: Required value: resource rules must supply at least one resource, rules[1].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs, rules[2].apiGroups: Required value: resource rules must supply at least one api group]"
    );
    let wrong = json!({
        "metadata": {"name": "b9"}, "roleRef": {"kind": "Role", "name": "x"},
        "subjects": [{"kind": "ServiceAccount", "name": "a"}, {"kind": "User", "name": "", "apiGroup": "nope"}],
    });
    let (_, answer) = ask(&sandbox, &admin, ("POST", &format!("{RBAC}/clusterrolebindings")), &wrong).await;
    assert_eq!(
        answer["message"],
        "ClusterRoleBinding.rbac.authorization.k8s.io \"b9\" is invalid: [roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\", subjects[0].namespace: Required value, subjects[1].name: Required value, subjects[1].apiGroup: Unsupported value: \"nope\": supported values: \"rbac.authorization.k8s.io\"]"
    );
}

#[tokio::test(start_paused = true)]
async fn a_role_gathers_the_rules_of_those_it_selects() {
    let sandbox = Sandbox::builder().seed(1).start();
    let roles = format!("{RBAC}/clusterroles");
    let selector = json!({"clusterRoleSelectors": [{"matchLabels": {"into": "all"}}]});
    given(&sandbox, &roles, json!({"metadata": {"name": "all"}, "aggregationRule": selector})).await;
    let part =
        json!({"metadata": {"name": "part", "labels": {"into": "all"}}, "rules": [rule(&[""], &["pods"], &["get"])]});
    given(&sandbox, &roles, part).await;
    given(&sandbox, &format!("{RBAC}/clusterrolebindings"), binding("all", "ClusterRole", "all", &user("joe"))).await;
    let admin = User::admin("admin");
    let gathers = async |expected: Value| {
        let mut held = Value::Null;
        for _ in 0..1000 {
            held = get(&sandbox, &admin, &format!("{roles}/all")).await.1["rules"].clone();
            if held == expected {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("{held} is not {expected}");
    };
    gathers(json!([rule(&[""], &["pods"], &["get"])])).await;
    assert_eq!(get(&sandbox, &joe(), "/api/v1/namespaces/one/pods/x").await.0, 404);
    let more = json!({"rules": [rule(&[""], &["pods"], &["list"])]});
    ask(&sandbox, &admin, ("PATCH", &format!("{roles}/part")), &more).await;
    gathers(json!([rule(&[""], &["pods"], &["list"])])).await;
    assert_eq!(get(&sandbox, &joe(), "/api/v1/namespaces/one/pods/x").await.0, 403);
}

#[tokio::test(start_paused = true)]
async fn reviews_say_what_is_allowed_and_why() {
    let sandbox = with_role(&user("jim"), json!([rule(&[""], &["pods"], &["get"])])).await;
    let admin = User::admin("admin");
    let review = async |who: &User, path: &str, spec: Value| {
        let (code, answer) = ask(&sandbox, who, ("POST", &format!("{REVIEWS}/{path}")), &json!({"spec": spec})).await;
        (code, if code == 201 { answer["status"].clone() } else { answer["message"].clone() })
    };
    let pods = |verb: &str| json!({"namespace": "one", "verb": verb, "resource": "pods"});
    let by_role =
        json!({"allowed": true, "reason": "RBAC: allowed by RoleBinding \"b1/one\" of Role \"r1\" to User \"jim\""});
    let others = "subjectaccessreviews";
    assert_eq!(
        review(&admin, others, json!({"user": "jim", "resourceAttributes": pods("get")})).await,
        (201, by_role.clone())
    );
    assert_eq!(
        review(&admin, others, json!({"user": "jim", "resourceAttributes": pods("list")})).await,
        (201, json!({"allowed": false}))
    );
    let path = json!({"user": "jim", "groups": ["system:authenticated"], "nonResourceAttributes": {"path": "/api", "verb": "get"}});
    let why = "RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \"system:authenticated\"";
    assert_eq!(review(&admin, others, path).await, (201, json!({"allowed": true, "reason": why})));
    let jim = User::named("jim", &[]);
    assert_eq!(
        review(&jim, "selfsubjectaccessreviews", json!({"resourceAttributes": pods("get")})).await,
        (201, by_role.clone())
    );
    assert_eq!(
        review(&admin, "selfsubjectaccessreviews", json!({"resourceAttributes": pods("*")})).await,
        (201, json!({"allowed": true}))
    );
    let local = "namespaces/one/localsubjectaccessreviews";
    assert_eq!(review(&admin, local, json!({"user": "jim", "resourceAttributes": pods("get")})).await, (201, by_role));
    let wrong = [
        (
            others,
            json!({"user": "jim"}),
            "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        (
            others,
            json!({"resourceAttributes": pods("get")}),
            "spec.user: Invalid value: \"\": at least one of user or group must be specified",
        ),
        (
            local,
            json!({"user": "jim", "resourceAttributes": {"namespace": "other", "verb": "get", "resource": "pods"}}),
            "spec.resourceAttributes.namespace: Invalid value: \"other\": must match metadata.namespace",
        ),
        (
            local,
            json!({"user": "jim", "nonResourceAttributes": {"path": "/", "verb": "get"}}),
            "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/\",\"Verb\":\"get\"}: disallowed on this kind of request",
        ),
    ];
    for (path, spec, why) in wrong {
        assert_eq!(
            review(&admin, path, spec).await,
            (422, json!(format!(".authorization.k8s.io \"\" is invalid: {why}")))
        );
    }
    assert_eq!(review(&joe(), others, json!({})).await.0, 403);
}

#[tokio::test(start_paused = true)]
async fn the_rules_of_a_user_can_be_asked_for() {
    let sandbox = with_role(&user("jim"), json!([rule(&[""], &["pods"], &["get"])])).await;
    let path = format!("{REVIEWS}/selfsubjectrulesreviews");
    let jim = User::named("jim", &[]);
    let (code, answer) = ask(&sandbox, &jim, ("POST", &path), &json!({"spec": {"namespace": "one"}})).await;
    assert_eq!((code, &answer["metadata"], &answer["spec"]), (201, &json!({}), &json!({})));
    assert_eq!(
        answer["status"]["resourceRules"],
        json!([
            rule(&["authorization.k8s.io"], &["selfsubjectaccessreviews", "selfsubjectrulesreviews"], &["create"]),
            rule(&["authentication.k8s.io"], &["selfsubjectreviews"], &["create"]),
            rule(&[""], &["pods"], &["get"]),
        ])
    );
    let paths: Vec<_> =
        answer["status"]["nonResourceRules"].as_array().unwrap().iter().map(|rule| &rule["nonResourceURLs"]).collect();
    assert_eq!(
        paths,
        [
            &json!([
                "/api",
                "/api/*",
                "/apis",
                "/apis/*",
                "/healthz",
                "/livez",
                "/openapi",
                "/openapi/*",
                "/readyz",
                "/version",
                "/version/"
            ]),
            &json!(["/healthz", "/livez", "/readyz", "/version", "/version/"]),
        ]
    );
    assert_eq!(answer["status"]["incomplete"], false);
    let (code, answer) = ask(&sandbox, &jim, ("POST", &path), &json!({"spec": {}})).await;
    assert_eq!((code, &answer["message"]), (400, &json!("no namespace on request")));
}

#[tokio::test(start_paused = true)]
async fn a_user_acts_for_another_if_he_may() {
    let sandbox = Sandbox::builder().seed(1).start();
    let admin = User::admin("admin");
    let me = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let whoami = async |who: &User, headers: &[(&str, &str)]| {
        let (code, answer) = ask_with(&sandbox, who, ("POST", me), headers, &json!({})).await;
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
        ask_with(&sandbox, &joe(), ("GET", "/api/v1/pods"), headers, &Value::Null).await.1["message"].clone()
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

    let rules = json!([{"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["x"]}]);
    given(&sandbox, &format!("{RBAC}/clusterroles"), role("acts", rules)).await;
    given(&sandbox, &format!("{RBAC}/clusterrolebindings"), binding("acts", "ClusterRole", "acts", &user("joe"))).await;
    assert_eq!(refused(&x).await, format!("pods is forbidden: User \"x\" cannot list {pods} at the cluster scope"));

    let rules = json!({"rules": [rule(&[""], &["pods"], &["impersonate-on:user-info:list"])]});
    ask(&sandbox, &admin, ("PATCH", &format!("{RBAC}/clusterroles/acts")), &rules).await;
    let who = "impersonate:user-info resource \"users\" in API group \"authentication.k8s.io\"";
    assert_eq!(refused(&x).await, cannot("users.authentication.k8s.io \"x\"", who));
    let rules = json!({"rules": [
        rule(&[""], &["pods"], &["impersonate-on:user-info:list"]), rule(&["authentication.k8s.io"], &["users"], &["impersonate:user-info"]),
    ]});
    ask(&sandbox, &admin, ("PATCH", &format!("{RBAC}/clusterroles/acts")), &rules).await;
    assert_eq!(refused(&x).await, format!("pods is forbidden: User \"x\" cannot list {pods} at the cluster scope"));
    let master = [x[0], ("Impersonate-Group", "system:masters")];
    let who = "impersonate:user-info resource \"groups\" in API group \"authentication.k8s.io\"";
    let why = ": impersonating the system:masters group is not allowed";
    assert_eq!(refused(&master).await, cannot("groups.authentication.k8s.io \"system:masters\"", who) + why);
}

/// 28 rules, each bound in the cluster and in a namespace, and 37 requests: the verdicts that kube-apiserver gave.
#[tokio::test(start_paused = true)]
async fn the_verdicts_are_those_of_kubernetes() {
    let seen: Value = serde_json::from_str(include_str!("seen/rbac.json")).unwrap();
    let sandbox = Sandbox::builder().seed(1).start();
    given(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "c-one"}})).await;
    let answered = seen["answered"].as_array().unwrap();
    for (at, row) in answered.iter().enumerate() {
        let (name, team) = (format!("r{at}"), json!({"kind": "Group", "name": format!("team{at}")}));
        given(&sandbox, &format!("{RBAC}/clusterroles"), role(&name, json!([row["rule"]]))).await;
        let (of_cluster, here) =
            (binding(&name, "ClusterRole", &name, &user(&name)), binding(&name, "ClusterRole", &name, &team));
        given(&sandbox, &format!("{RBAC}/clusterrolebindings"), of_cluster).await;
        given(&sandbox, &format!("{RBAC}/namespaces/c-one/rolebindings"), here).await;
    }
    let admin = User::admin("admin");
    for (at, row) in answered.iter().enumerate() {
        let in_cluster = json!({"user": format!("r{at}")});
        let in_namespace = json!({"user": "nobody", "groups": [format!("team{at}")]});
        for (scope, subject) in [("cluster", in_cluster), ("namespace", in_namespace)] {
            let mut verdicts = String::new();
            for asked in seen["asked"].as_array().unwrap() {
                let mut spec = subject.clone();
                spec.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
                let path = format!("{REVIEWS}/subjectaccessreviews");
                let (_, answer) = ask(&sandbox, &admin, ("POST", &path), &json!({"spec": spec})).await;
                verdicts.push(if answer["status"]["allowed"] == true { 'y' } else { '.' });
            }
            assert_eq!(row[scope], verdicts, "{} in the {scope}", row["rule"]);
        }
    }
}
