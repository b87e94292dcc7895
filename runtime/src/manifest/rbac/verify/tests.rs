//! Tests the comparison of a generated role with an audit log.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::manifest::fixture;

const USER: &str = "system:serviceaccount:demo-system:demo";

/// Returns the operator of one kind, `Network`, whose tree is a ConfigMap; without events.
fn network() -> Project {
    let mut project = fixture::project();
    project.controllers.remove(0);
    project
}

fn event(verb: &str, resource: &str, code: u16) -> Value {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let (group, namespace) = if resource == "networks" { ("demo.example.com", "") } else { ("", "shop") };
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": format!("{verb} {resource}/{subresource} {code}"),
        "stage": "ResponseComplete", "requestURI": "/x?y", "verb": verb, "user": {"username": USER},
        "objectRef": {
            "resource": resource, "subresource": subresource, "apiGroup": group, "namespace": namespace, "name": "one",
        },
        "responseStatus": {"code": code},
        "annotations": {"authorization.k8s.io/decision": if code == 403 { "forbid" } else { "allow" }},
    })
}

/// Returns a request for each right of the role. The ConfigMap's role of the fixture has no `create`.
fn all() -> Vec<Value> {
    let own = ["list", "watch", "patch"].map(|verb| event(verb, "networks", 200));
    let child = ["get", "list", "watch", "patch", "delete"].map(|verb| event(verb, "configmaps", 200));
    own.into_iter().chain(child).chain([event("update", "networks/status", 200)]).collect()
}

fn compared(project: &Project, events: &[Value]) -> Comparison {
    verify(project, USER, lines(events).as_bytes()).unwrap()
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

#[test]
fn what_uses_all_and_lacks_nothing_is_equal() {
    let mut events = all();
    let mut stranger = event("delete", "secrets", 403);
    stranger["user"]["username"] = json!("alice");
    let mut discovery = event("get", "", 200);
    (discovery["objectRef"], discovery["requestURI"]) = (Value::Null, json!("/apis/apps/v1?timeout=1s"));
    let mut review = event("create", "selfsubjectaccessreviews", 201);
    review["objectRef"]["apiGroup"] = json!("authorization.k8s.io");
    events.extend([stranger, discovery, review]);
    let compared = compared(&network(), &events);
    assert!(compared.is_equal(), "{compared}");
    let said = format!("11 requests of {USER}, 9 rights: they used every right and lacked none.\n");
    assert_eq!(compared.to_string(), said);
}

#[test]
fn a_right_that_nobody_used_is_named_with_who_asks_for_it() {
    let mut events = all();
    events.retain(|event| event["verb"] != "delete");
    let compared = compared(&network(), &events);
    assert!(!compared.is_equal());
    let said = "never used:\n  - delete configmaps, which is needed by\n      Network: the tree itself\n";
    assert!(compared.to_string().contains(said), "{compared}");
    let json = compared.to_json();
    assert_eq!((&json["tooLarge"][0]["verb"], &json["tooSmall"]), (&json!("delete"), &json!([])));
}

#[test]
fn a_request_that_was_refused_is_counted_and_its_line_given() {
    let mut events = all();
    events.push(event("get", "secrets", 403));
    events.push(event("get", "secrets", 403));
    events[10]["auditID"] = json!("another");
    let compared = compared(&network(), &events);
    let said = "The role is too small:\n  - get secrets in namespace shop was denied: 2 times, first in line 10\n";
    assert!(compared.to_string().starts_with(said), "{compared}");
}

#[test]
fn a_refusal_of_what_is_granted_tells_of_another_role_in_the_cluster() {
    let mut events = all();
    events.push(event("patch", "configmaps", 403));
    let said = compared(&network(), &events).to_string();
    assert!(
        said.contains("patch configmaps in namespace shop was denied, although the generated role grants it"),
        "{said}"
    );
}

#[test]
fn admission_refuses_with_the_same_code_and_no_role_helps() {
    let mut events = all();
    events.push(event("get", "configmaps", 403));
    events[9]["annotations"]["authorization.k8s.io/decision"] = json!("allow");
    assert!(compared(&network(), &events).is_equal());
}

#[test]
fn an_apply_that_makes_its_object_uses_create() {
    let mut events = all();
    events.push(event("patch", "configmaps", 201));
    let said = compared(&network(), &events).to_string();
    let lacks = "create configmaps in namespace shop was allowed by a role other than the generated one: once";
    assert!(said.contains(lacks), "{said}");
}

#[test]
fn the_right_to_read_what_is_listed_is_no_excess() {
    let without = |left_out: &[&str]| -> Vec<Value> {
        let is_left_out = |event: &Value| {
            event["objectRef"]["resource"] == "configmaps" && left_out.iter().any(|verb| event["verb"] == *verb)
        };
        all().into_iter().filter(|event| !is_left_out(event)).collect()
    };
    assert!(compared(&network(), &without(&["get"])).is_equal());
    let said = compared(&network(), &without(&["get", "list"])).to_string();
    assert!(said.contains("get configmaps, which is needed by"), "{said}");
}

#[test]
fn a_role_of_one_namespace_grants_nothing_elsewhere() {
    let mut project = network();
    project.namespaced = true;
    let said = compared(&project, &all()).to_string();
    let allowed = "get configmaps in namespace shop was allowed by a role other than the generated one";
    assert!(said.contains(allowed), "{said}");
    assert!(said.contains("get configmaps, which is needed by"), "{said}");
    assert!(!said.contains("networks"), "what has no namespace is granted in the whole cluster: {said}");
}

#[test]
fn a_watch_counts_once_though_the_log_has_it_twice() {
    let mut events = all();
    let mut begun = events[1].clone();
    begun["stage"] = json!("ResponseStarted");
    let mut received = events[0].clone();
    (received["stage"], received["auditID"]) = (json!("RequestReceived"), json!("early"));
    events.splice(1..1, [begun, received]);
    let compared = compared(&network(), &events);
    assert_eq!((compared.requests, compared.is_equal()), (9, true), "{compared}");
}

#[test]
fn who_is_impersonated_needs_the_right() {
    let mut event = event("get", "secrets", 200);
    (event["user"]["username"], event["impersonatedUser"]) = (json!("admin"), json!({"username": USER}));
    assert!(compared(&network(), &[event]).to_string().contains("get secrets in namespace shop"));
}

#[test]
fn a_broken_line_is_named() {
    let good = lines(&all()[..2]);
    for (broken, said) in [
        ("{\"kind\": \"Ev", "line 4 of the audit log is not an audit.k8s.io/v1 event"),
        ("{\"kind\": \"Pod\"}", "line 4 of the audit log is not an audit.k8s.io/v1 event"),
    ] {
        let error = verify(&network(), USER, format!("{good}\n{broken}\n").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), said);
    }
    let error = verify(&network(), "nobody", good.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "the audit log has no request of nobody");
}
