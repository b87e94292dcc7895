//! Tests of the built-in admission plugins.

use std::time::Duration;

use http::Method;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

use super::{A, ask_as, create, prepare, register, sandbox, send};
use crate::wait;

fn pod(name: &str, resources: Value) -> Value {
    let container = json!({"name": "c", "image": "x", "resources": resources});
    let spec = json!({"automountServiceAccountToken": false, "containers": [container]});
    json!({"metadata": {"name": name}, "spec": spec})
}

#[tokio::test(start_paused = true)]
async fn nothing_comes_into_a_namespace_that_is_not_there() {
    let sandbox = sandbox().await;
    let path = "/api/v1/namespaces/missing/configmaps";
    let (code, status) = send(&sandbox, Method::POST, path, json!({"metadata": {"name": "x"}})).await;
    assert_eq!((code, &status["message"]), (404, &json!("namespaces \"missing\" not found")));
    assert_eq!(status["details"], json!({"name": "missing", "kind": "namespaces"}));
}

#[tokio::test(start_paused = true)]
async fn nothing_comes_into_a_namespace_that_goes_away() {
    let sandbox = sandbox().await;
    create(&sandbox, "configmaps", json!({"metadata": {"name": "held", "finalizers": ["x.y/z"]}})).await;
    send(&sandbox, Method::DELETE, A, json!({})).await;
    let (code, status) = create(&sandbox, "configmaps", json!({"metadata": {"name": "q5"}})).await;
    let message =
        "configmaps \"q5\" is forbidden: unable to create new content in namespace a because it is being terminated";
    assert_eq!((code, &status["message"]), (403, &json!(message)));
    let cause = json!({"reason": "NamespaceTerminating", "message": "namespace a is being terminated", "field": "metadata.namespace"});
    assert_eq!(status["details"], json!({"name": "q5", "kind": "configmaps", "causes": [cause]}));
}

#[tokio::test(start_paused = true)]
async fn some_namespaces_never_go() {
    let sandbox = sandbox().await;
    send(&sandbox, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "default"}})).await;
    let (code, status) = send(&sandbox, Method::DELETE, "/api/v1/namespaces/default", json!({})).await;
    let message = "namespaces \"default\" is forbidden: this namespace may not be deleted";
    assert_eq!((code, &status["message"]), (403, &json!(message)));
}

#[tokio::test(start_paused = true)]
async fn a_pod_runs_as_the_default_account_with_its_token() {
    let sandbox = sandbox().await;
    let body = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    let (code, pod) = create(&sandbox, "pods", body).await;
    assert_eq!(code, 201, "{pod}");
    assert_eq!(pod["spec"]["serviceAccountName"], "default");
    let volume = &pod["spec"]["volumes"][0];
    let name = volume["name"].as_str().unwrap();
    assert!(name.starts_with("kube-api-access-") && name.len() == 21, "{name}");
    let sources = json!([
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [
            {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
    ]);
    assert_eq!(volume["projected"], json!({"sources": sources, "defaultMode": 420}));
    let mount = json!({"name": name, "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"});
    assert_eq!(pod["spec"]["containers"][0]["volumeMounts"], json!([mount]));
    let toleration =
        |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let tolerations = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map(toleration);
    assert_eq!(pod["spec"]["tolerations"], json!(tolerations));
    assert_eq!(
        (&pod["spec"]["priority"], &pod["spec"]["preemptionPolicy"]),
        (&json!(0), &json!("PreemptLowerPriority"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_may_do_without_a_token_but_not_without_its_account() {
    let sandbox = sandbox().await;
    let (_, made) = create(&sandbox, "pods", pod("p", json!({}))).await;
    assert_eq!(made["spec"].get("volumes"), None);
    let mut stranger = pod("", json!({}));
    stranger["metadata"] = json!({"generateName": "a"});
    stranger["spec"]["serviceAccountName"] = "none".into();
    let (code, status) = create(&sandbox, "pods", stranger).await;
    let message = "error looking up service account a/none: serviceaccount \"none\" not found";
    assert_eq!(code, 403);
    assert!(status["message"].as_str().unwrap().ends_with(message), "{status}");
}

#[tokio::test(start_paused = true)]
async fn a_class_says_a_pods_priority() {
    let sandbox = sandbox().await;
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    let class = |name: &str| json!({"metadata": {"name": name}, "value": 7, "preemptionPolicy": "Never", "globalDefault": true});
    send(&sandbox, Method::POST, classes, class("one")).await;
    let (code, status) = send(&sandbox, Method::POST, classes, class("two")).await;
    let message = "priorityclasses.scheduling.k8s.io \"two\" is forbidden: PriorityClass one is already marked as default. Only one default can exist";
    assert_eq!((code, &status["message"]), (403, &json!(message)));

    let (_, made) = create(&sandbox, "pods", pod("p", json!({}))).await;
    let spec = &made["spec"];
    assert_eq!(
        json!([spec["priorityClassName"], spec["priority"], spec["preemptionPolicy"]]),
        json!(["one", 7, "Never"])
    );
    let mut named = pod("b", json!({}));
    named["spec"]["priorityClassName"] = "none".into();
    let (_, status) = create(&sandbox, "pods", named.clone()).await;
    assert_eq!(status["message"], "pods \"b\" is forbidden: no PriorityClass with name none was found");
    named["spec"]["priorityClassName"] = "system-node-critical".into();
    named["spec"]["priority"] = 8.into();
    let (_, status) = create(&sandbox, "pods", named).await;
    let message = "pods \"b\" is forbidden: the integer value of priority (8) must not be provided in pod spec; priority admission controller computed 2000001000 from the given PriorityClass name";
    assert_eq!(status["message"], message);
}

#[tokio::test(start_paused = true)]
async fn a_limit_range_fills_in_and_refuses() {
    let sandbox = sandbox().await;
    let container = json!({"type": "Container", "default": {"cpu": "500m", "memory": "64Mi"},
        "defaultRequest": {"cpu": "200m", "memory": "64Mi"}, "max": {"cpu": "1"}, "min": {"cpu": "50m"},
        "maxLimitRequestRatio": {"cpu": "4"}});
    let claim = json!({"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}, "min": {"storage": "1Gi"}});
    let limits = json!([container, {"type": "Pod", "max": {"cpu": "2"}}, claim]);
    create(&sandbox, "limitranges", json!({"metadata": {"name": "l"}, "spec": {"limits": limits}})).await;
    let (_, made) = create(&sandbox, "pods", pod("p", json!({}))).await;
    let resources = json!({"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "200m", "memory": "64Mi"}});
    assert_eq!(made["spec"]["containers"][0]["resources"], resources);
    let said = "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c";
    assert_eq!(made["metadata"]["annotations"]["kubernetes.io/limit-ranger"], said);

    let (code, status) =
        create(&sandbox, "pods", pod("l2", json!({"limits": {"cpu": "3"}, "requests": {"cpu": "10m"}}))).await;
    let message = "pods \"l2\" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, maximum cpu usage per Container is 1, but limit is 3, cpu max limit to request ratio per Container is 4, but provided ratio is 300.000000, maximum cpu usage per Pod is 2, but limit is 3]";
    assert_eq!((code, &status["message"]), (403, &json!(message)));
    let claim = |storage: &str| {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}});
        json!({"metadata": {"name": "l"}, "spec": spec})
    };
    let (_, status) = create(&sandbox, "persistentvolumeclaims", claim("3Gi")).await;
    let message = "persistentvolumeclaims \"l\" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi";
    assert_eq!(status["message"], message);
    let (_, made) = create(&sandbox, "persistentvolumeclaims", claim("2Gi")).await;
    assert_eq!(made["metadata"]["finalizers"], json!(["kubernetes.io/pvc-protection"]));
}

#[tokio::test(start_paused = true)]
async fn a_quota_counts_and_refuses() {
    let sandbox = sandbox().await;
    let leases = "count/leases.coordination.k8s.io";
    let hard = json!({leases: "2", "requests.cpu": "1", "limits.memory": "100Mi", "pods": "3", "secrets": "0"});
    create(&sandbox, "resourcequotas", json!({"metadata": {"name": "q"}, "spec": {"hard": hard}})).await;
    let lease = async |name: &str| {
        let path = "/apis/coordination.k8s.io/v1/namespaces/a/leases";
        send(&sandbox, Method::POST, path, json!({"metadata": {"name": name}})).await
    };
    assert_eq!((lease("a").await.0, lease("b").await.0), (201, 201));
    let (code, status) = lease("c").await;
    let message = "leases.coordination.k8s.io \"c\" is forbidden: exceeded quota: q, requested: count/leases.coordination.k8s.io=1, used: count/leases.coordination.k8s.io=2, limited: count/leases.coordination.k8s.io=2";
    assert_eq!((code, &status["message"]), (403, &json!(message)));
    assert_eq!(counted(&sandbox, leases).await, 2);

    let (_, status) = create(&sandbox, "pods", pod("q1", json!({}))).await;
    let message = "pods \"q1\" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c";
    assert_eq!(status["message"], message);
    let greedy = json!({"limits": {"cpu": "3", "memory": "200Mi"}, "requests": {"cpu": "2"}});
    let (_, status) = create(&sandbox, "pods", pod("q1", greedy)).await;
    let message = "pods \"q1\" is forbidden: exceeded quota: q, requested: limits.memory=200Mi,requests.cpu=2, used: limits.memory=0,requests.cpu=0, limited: limits.memory=100Mi,requests.cpu=1";
    assert_eq!(status["message"], message);
}

#[tokio::test(start_paused = true)]
async fn a_quota_is_not_counted_again_when_its_usage_is_written() {
    let sandbox = sandbox().await;
    let hard = json!({"configmaps": "2"});
    create(&sandbox, "resourcequotas", json!({"metadata": {"name": "q"}, "spec": {"hard": hard}})).await;
    wait::idle().await;
    let (_, mut quota) = send(&sandbox, Method::GET, &format!("{A}/resourcequotas/q"), Value::Null).await;
    // Admission writes the usage before the object is stored. A count at this time would not include the object.
    quota["status"]["used"] = json!({"configmaps": "2"});
    let (code, _) = send(&sandbox, Method::PUT, &format!("{A}/resourcequotas/q/status"), quota).await;
    assert_eq!(code, 200);
    wait::idle().await;
    assert_eq!(counted(&sandbox, "configmaps").await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_quota_is_counted_again_when_a_pod_has_ended_and_when_a_service_gets_another_type() {
    let sandbox = sandbox().await;
    let hard = json!({"pods": "2", "services.nodeports": "2"});
    create(&sandbox, "resourcequotas", json!({"metadata": {"name": "q"}, "spec": {"hard": hard}})).await;
    create(&sandbox, "pods", pod("p", json!({}))).await;
    let spec = json!({"type": "NodePort", "ports": [{"port": 80}]});
    let (_, mut service) = create(&sandbox, "services", json!({"metadata": {"name": "s"}, "spec": spec})).await;
    wait::idle().await;
    assert_eq!((counted(&sandbox, "pods").await, counted(&sandbox, "services.nodeports").await), (1, 1));

    let (_, mut ended) = send(&sandbox, Method::GET, &format!("{A}/pods/p"), Value::Null).await;
    ended["status"]["phase"] = "Succeeded".into();
    send(&sandbox, Method::PUT, &format!("{A}/pods/p/status"), ended).await;
    service["spec"]["type"] = "ClusterIP".into();
    send(&sandbox, Method::PUT, &format!("{A}/services/s"), service).await;
    wait::idle().await;
    assert_eq!((counted(&sandbox, "pods").await, counted(&sandbox, "services.nodeports").await), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_object_counts_once_in_a_quota_while_the_status_of_another_quota_can_not_be_written() {
    let sandbox = sandbox().await;
    for name in ["q", "r"] {
        let quota = json!({"metadata": {"name": name}, "spec": {"hard": {"configmaps": "100"}}});
        create(&sandbox, "resourcequotas", quota).await;
    }
    wait::idle().await;
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["resourcequotas/status"]});
    let spec = json!({"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "object.metadata.name != 'r'"}]});
    register(&sandbox, "validatingadmissionpolicies", "no-r", json!({"spec": spec})).await;
    let spec = json!({"policyName": "no-r", "validationActions": ["Deny"]});
    register(&sandbox, "validatingadmissionpolicybindings", "no-r", json!({"spec": spec})).await;

    let used = counted(&sandbox, "configmaps").await;
    let (code, _) = create(&sandbox, "configmaps", json!({"metadata": {"name": "c"}})).await;
    assert_eq!(code, 500);
    assert_eq!(counted(&sandbox, "configmaps").await, used + 1);
}

#[tokio::test(start_paused = true)]
async fn a_quota_no_longer_counts_a_refused_object_after_the_resync_period() {
    let sandbox = sandbox().await;
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "100"}}});
    create(&sandbox, "resourcequotas", quota).await;
    create(&sandbox, "configmaps", json!({"metadata": {"name": "c"}})).await;
    wait::idle().await;
    let used = counted(&sandbox, "configmaps").await;
    let (code, _) = create(&sandbox, "configmaps", json!({"metadata": {"name": "c"}})).await;
    assert_eq!((code, counted(&sandbox, "configmaps").await), (409, used + 1));
    tokio::time::advance(Duration::from_secs(300)).await;
    wait::idle().await;
    assert_eq!(counted(&sandbox, "configmaps").await, used);
}

/// How many a quota says there are.
async fn counted(sandbox: &Sandbox, resource: &str) -> u32 {
    let (_, quota) = send(sandbox, Method::GET, &format!("{A}/resourcequotas/q"), Value::Null).await;
    quota["status"]["used"][resource].as_str().unwrap_or("0").parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_new_node_is_tainted_and_classes_are_filled_in() {
    let sandbox = sandbox().await;
    let (_, node) = send(&sandbox, Method::POST, "/api/v1/nodes", json!({"metadata": {"name": "n"}})).await;
    assert_eq!(node["spec"]["taints"], json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]));
    let mark = |name: &str| json!({"metadata": {"name": "fast", "annotations": {name: "true"}}});
    let mut storage = mark("storageclass.kubernetes.io/is-default-class");
    storage["provisioner"] = "x".into();
    send(&sandbox, Method::POST, "/apis/storage.k8s.io/v1/storageclasses", storage).await;
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let (_, claim) = create(&sandbox, "persistentvolumeclaims", json!({"metadata": {"name": "c"}, "spec": spec})).await;
    assert_eq!(claim["spec"]["storageClassName"], "fast");
    let mut class = mark("ingressclass.kubernetes.io/is-default-class");
    class["spec"] = json!({"controller": "x.y/z"});
    send(&sandbox, Method::POST, "/apis/networking.k8s.io/v1/ingressclasses", class).await;
    let ingress = json!({"metadata": {"name": "i"}, "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 1}}}}});
    let path = "/apis/networking.k8s.io/v1/namespaces/a/ingresses";
    let (_, ingress) = send(&sandbox, Method::POST, path, ingress).await;
    assert_eq!(ingress["spec"]["ingressClassName"], "fast");
}

#[tokio::test(start_paused = true)]
async fn who_lets_an_object_hold_its_owner_must_be_able_to_set_the_owners_finalizers() {
    let sandbox = Sandbox::builder().seed(1).owner_permissions(true).start();
    prepare(&sandbox).await;
    let (_, owner) = create(&sandbox, "configmaps", json!({"metadata": {"name": "owner"}})).await;
    let account = User::service_account("a", "default", "");
    let rights =
        json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "update", "get", "patch"]}]);
    role(&sandbox, "writer", rights).await;
    let owned = |blocks: bool| {
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": blocks});
        json!({"metadata": {"name": "owned", "ownerReferences": [owner]}})
    };
    let path = "/api/v1/namespaces/a/configmaps";
    let (code, status) = ask_as(&sandbox, &account, Method::POST, path, owned(true)).await;
    let message = "configmaps \"owned\" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>";
    assert_eq!((code, &status["message"]), (403, &json!(message)));
    assert_eq!(ask_as(&sandbox, &account, Method::POST, path, owned(false)).await.0, 201);
    // Owners of what is there may only be changed by who could delete it.
    let (code, status) =
        ask_as(&sandbox, &account, Method::PUT, &format!("{path}/owned"), json!({"metadata": {"name": "owned"}})).await;
    let message = "configmaps \"owned\" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>";
    assert_eq!((code, &status["message"]), (403, &json!(message)));
    let rights = json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]},
        {"apiGroups": [""], "resources": ["configmaps/finalizers"], "verbs": ["update"]},
    ]);
    role(&sandbox, "holder", rights).await;
    assert_eq!(ask_as(&sandbox, &account, Method::PUT, &format!("{path}/owned"), owned(true)).await.0, 200);
}

/// Gives rights in the namespace to its default account.
async fn role(sandbox: &Sandbox, name: &str, rules: Value) {
    let base = "/apis/rbac.authorization.k8s.io/v1/namespaces/a";
    let (code, body) =
        send(sandbox, Method::POST, &format!("{base}/roles"), json!({"metadata": {"name": name}, "rules": rules}))
            .await;
    assert_eq!(code, 201, "{body}");
    let subject = json!({"kind": "ServiceAccount", "name": "default", "namespace": "a"});
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name});
    let binding = json!({"metadata": {"name": name}, "subjects": [subject], "roleRef": reference});
    let (code, body) = send(sandbox, Method::POST, &format!("{base}/rolebindings"), binding).await;
    assert_eq!(code, 201, "{body}");
}

#[tokio::test(start_paused = true)]
async fn what_goes_away_no_longer_counts() {
    let sandbox = sandbox().await;
    let leases = "count/leases.coordination.k8s.io";
    create(&sandbox, "resourcequotas", json!({"metadata": {"name": "q"}, "spec": {"hard": {leases: "1"}}})).await;
    let path = "/apis/coordination.k8s.io/v1/namespaces/a/leases";
    let lease = async |name: &str| send(&sandbox, Method::POST, path, json!({"metadata": {"name": name}})).await.0;
    assert_eq!((lease("a").await, lease("b").await), (201, 403));
    send(&sandbox, Method::DELETE, &format!("{path}/a"), json!({})).await;
    let look = async || (counted(&sandbox, leases).await == 0).then_some(());
    wait::until("a count of none", look).await;
    assert_eq!(lease("b").await, 201);
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_the_account_of_its_new_namespace() {
    let sandbox = Sandbox::builder().seed(1).start();
    send(&sandbox, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "a"}})).await;
    let (code, made) = create(&sandbox, "pods", pod("p", json!({}))).await;
    assert_eq!((code, &made["spec"]["serviceAccountName"]), (201, &json!("default")));
}
