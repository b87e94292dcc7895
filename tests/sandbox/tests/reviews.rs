//! Tests of access reviews. The expected responses are those of kube-apiserver 1.36.3.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::roles::{RBAC, binding, joe, role, rule, user, with_role};
use crate::user_client::{create, send};
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1";

#[tokio::test(start_paused = true)]
async fn reviews_say_what_is_allowed_and_why() {
    let sandbox = with_role(&user("jim"), json!([rule(&[""], &["pods"], &["get"])])).await;
    let admin = User::admin("admin");
    let review = async |who: &User, path: &str, spec: Value| {
        let (code, answer) = send(&sandbox, who, ("POST", &format!("{REVIEWS}/{path}")), &json!({"spec": spec})).await;
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
    let (code, answer) = send(&sandbox, &jim, ("POST", &path), &json!({"spec": {"namespace": "one"}})).await;
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
    let (code, answer) = send(&sandbox, &jim, ("POST", &path), &json!({"spec": {}})).await;
    assert_eq!((code, &answer["message"]), (400, &json!("no namespace on request")));
}

/// 28 rules, each bound in the cluster and in a namespace, and 37 requests: the verdicts that kube-apiserver gave.
#[tokio::test(start_paused = true)]
async fn the_verdicts_are_those_of_kubernetes() {
    let seen: Value = serde_json::from_str(include_str!("seen/rbac.json")).unwrap();
    let sandbox = Sandbox::builder().seed(1).start();
    create(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "c-one"}})).await;
    let answered = seen["answered"].as_array().unwrap();
    for (at, row) in answered.iter().enumerate() {
        let (name, team) = (format!("r{at}"), json!({"kind": "Group", "name": format!("team{at}")}));
        create(&sandbox, &format!("{RBAC}/clusterroles"), role(&name, json!([row["rule"]]))).await;
        let (of_cluster, here) =
            (binding(&name, "ClusterRole", &name, &user(&name)), binding(&name, "ClusterRole", &name, &team));
        create(&sandbox, &format!("{RBAC}/clusterrolebindings"), of_cluster).await;
        create(&sandbox, &format!("{RBAC}/namespaces/c-one/rolebindings"), here).await;
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
                let (_, answer) = send(&sandbox, &admin, ("POST", &path), &json!({"spec": spec})).await;
                verdicts.push(if answer["status"]["allowed"] == true { 'y' } else { '.' });
            }
            assert_eq!(row[scope], verdicts, "{} in the {scope}", row["rule"]);
        }
    }
}
