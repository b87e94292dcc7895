//! Tests of the workload controllers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::{fixture::Fixture, wait};
use serde_json::{Value, json};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn template(app: &str, scenario: Option<&str>) -> Value {
    let annotations = scenario.map(|scenario| json!({"opgen.test/pod": scenario}));
    json!({"metadata": {"labels": {"app": app}, "annotations": annotations}, "spec": {"containers": [{"name": "a", "image": "b"}]}})
}

fn workload(name: &str, replicas: Option<i64>, scenario: Option<&str>) -> Value {
    let mut spec = json!({"selector": {"matchLabels": {"app": name}}, "template": template(name, scenario)});
    if let Some(replicas) = replicas {
        spec["replicas"] = replicas.into();
    }
    json!({"metadata": {"name": name}, "spec": spec})
}

fn condition<'a>(object: &'a Value, type_: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

fn says(object: &Value, type_: &str, status: &str, reason: &str) -> bool {
    condition(object, type_).is_some_and(|own| own["status"] == status && own["reason"] == reason)
}

async fn pods(scene: &Fixture, app: &str) -> Vec<Value> {
    let list = scene.get(&format!("{PODS}?labelSelector=app%3D{app}")).await;
    list["items"].as_array().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn without_being_asked_for_nothing_lives() {
    let scene = Fixture::new();
    scene.create(DEPLOYMENTS, workload("d", Some(2), None)).await;
    scene.config("a", json!({})).await;
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "of-another-life"});
    scene.config("b", json!({"ownerReferences": [owner]})).await;
    // The collector has had its turn, so others would have had theirs.
    scene.until_gone("/api/v1/namespaces/default/configmaps/b").await;
    assert_eq!(scene.get(SETS).await["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_deployment_becomes_available() {
    let scene = Fixture::with_workloads();
    let mut wanted = workload("d", Some(2), None);
    wanted["metadata"]["annotations"] = json!({"note": "x"});
    scene.create(DEPLOYMENTS, wanted).await;
    let complete = |d: &Value| says(d, "Progressing", "True", "NewReplicaSetAvailable");
    let deployment = scene.until(&format!("{DEPLOYMENTS}/d"), complete).await;
    let mut status = deployment["status"].clone();
    let conditions = status["conditions"].take();
    assert_eq!(
        status,
        json!({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
               "terminatingReplicas": 0, "conditions": null})
    );
    assert_eq!(conditions.as_array().unwrap().len(), 2);
    let available = condition(&deployment, "Available").unwrap();
    assert_eq!(available["message"], "Deployment has minimum availability.");
    assert_eq!(deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");

    let set = &scene.get(SETS).await["items"][0];
    let hash = set["metadata"]["labels"]["pod-template-hash"].as_str().unwrap();
    assert_eq!(set["metadata"]["name"], format!("d-{hash}"));
    assert_eq!(
        set["metadata"]["annotations"],
        json!({"deployment.kubernetes.io/desired-replicas": "2", "deployment.kubernetes.io/max-replicas": "3",
               "deployment.kubernetes.io/revision": "1", "note": "x"})
    );
    assert_eq!(set["spec"]["selector"]["matchLabels"], json!({"app": "d", "pod-template-hash": hash}));
    assert_eq!(
        set["status"],
        json!({"replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
               "terminatingReplicas": 0, "observedGeneration": 1})
    );
    let owner = &set["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["controller"], &owner["blockOwnerDeletion"]),
        (&json!("Deployment"), &json!(true), &json!(true))
    );
    for pod in pods(&scene, "d").await {
        assert_eq!(pod["metadata"]["generateName"], format!("d-{hash}-"));
        assert_eq!((&pod["spec"]["nodeName"], &pod["status"]["phase"]), (&json!("plane"), &json!("Running")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_deployment_rolls_and_leaves_the_old_set_empty() {
    let scene = Fixture::with_workloads();
    scene.create(DEPLOYMENTS, workload("d", Some(3), None)).await;
    let path = format!("{DEPLOYMENTS}/d");
    scene.until(&path, |d| says(d, "Progressing", "True", "NewReplicaSetAvailable")).await;
    let patch = json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}});
    scene.done("PATCH", &path, patch).await;
    let rolled = scene
        .until(&path, |d| {
            let status = &d["status"];
            status["observedGeneration"] == 2
                && [&status["replicas"], &status["updatedReplicas"], &status["availableReplicas"]] == [&json!(3); 3]
        })
        .await;
    assert_eq!(rolled["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "2");
    let sets = scene.get(SETS).await;
    let mut sizes: Vec<_> =
        sets["items"].as_array().unwrap().iter().map(|set| set["spec"]["replicas"].as_i64().unwrap()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [0, 3]);
    scene.until(&path, |d| d["status"]["terminatingReplicas"] == 0).await;
    assert!(pods(&scene, "d").await.iter().all(|pod| pod["spec"]["terminationGracePeriodSeconds"] == 5));

    scene.done("PATCH", &path, json!({"spec": {"replicas": 1}})).await;
    scene.until(&path, |d| d["status"]["replicas"] == 1 && d["status"]["observedGeneration"] == 3).await;
    scene.done("DELETE", &path, json!({"propagationPolicy": "Foreground"})).await;
    scene.until_gone(&path).await;
    assert_eq!(pods(&scene, "d").await, Vec::<Value>::new(), "with all that was made of it");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_does_not_get_on_says_so_in_time() {
    let scene = Fixture::with_workloads();
    let mut wanted = workload("d", Some(1), Some("unready"));
    wanted["spec"]["progressDeadlineSeconds"] = 60.into();
    scene.create(DEPLOYMENTS, wanted).await;
    let path = format!("{DEPLOYMENTS}/d");
    let waiting = scene.until(&path, |d| says(d, "Progressing", "True", "ReplicaSetUpdated")).await;
    assert!(says(&waiting, "Available", "False", "MinimumReplicasUnavailable"));
    assert_eq!(waiting["status"]["unavailableReplicas"], 1);
    let late = scene.until(&path, |d| says(d, "Progressing", "False", "ProgressDeadlineExceeded")).await;
    let message = condition(&late, "Progressing").unwrap()["message"].as_str().unwrap();
    assert!(message.ends_with("has timed out progressing."), "{message}");
    let name = pods(&scene, "d").await[0]["metadata"]["name"].as_str().unwrap().to_owned();
    scene
        .done("PATCH", &format!("{PODS}/{name}"), json!({"metadata": {"annotations": {"opgen.test/pod": "ready"}}}))
        .await;
    scene.until(&path, |d| says(d, "Progressing", "True", "NewReplicaSetAvailable")).await;
}

#[tokio::test(start_paused = true)]
async fn pods_get_the_status_of_the_scenario_in_their_annotation() {
    let scene = Fixture::with_workloads();
    for (scenario, phase, ready, state) in [
        ("ready", "Running", "True", "/running/startedAt"),
        ("unready", "Running", "False", "/running/startedAt"),
        ("crashing", "Running", "False", "/waiting/reason"),
        ("restarting", "Running", "False", "/running/startedAt"),
        ("pulling", "Pending", "False", "/waiting/reason"),
        ("failed", "Failed", "False", "/terminated/exitCode"),
        ("succeeded", "Succeeded", "False", "/terminated/exitCode"),
    ] {
        let mut pod = template("p", Some(scenario));
        pod["metadata"]["name"] = scenario.into();
        scene.create(PODS, pod).await;
        let pod = scene.until(&format!("{PODS}/{scenario}"), |pod| pod["status"]["containerStatuses"].is_array()).await;
        let status = &pod["status"];
        assert_eq!(
            (&status["phase"], &condition(&pod, "Ready").unwrap()["status"]),
            (&json!(phase), &json!(ready)),
            "{scenario}"
        );
        assert!(status["containerStatuses"][0]["state"].pointer(state).is_some(), "{scenario}: {status}");
        let restarts = if matches!(scenario, "crashing" | "restarting") { 5 } else { 0 };
        assert_eq!(status["containerStatuses"][0]["restartCount"], restarts, "{scenario}");
    }
    scene.done("DELETE", &format!("{PODS}/ready"), Value::Null).await;
    scene.until_gone(&format!("{PODS}/ready")).await;
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_goes_in_order() {
    let scene = Fixture::with_workloads();
    let sets = "/apis/apps/v1/namespaces/default/statefulsets";
    let mut wanted = workload("s", Some(2), None);
    wanted["spec"]["serviceName"] = "sv".into();
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    wanted["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": claim}]);
    let made = scene.create(sets, wanted).await;
    let path = format!("{sets}/s");
    let set = scene.until(&path, |set| set["status"]["availableReplicas"] == 2).await;
    let revision = set["status"]["updateRevision"].clone();
    assert_eq!(
        set["status"],
        json!({"observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "currentReplicas": 2, "updatedReplicas": 2,
               "currentRevision": revision, "updateRevision": revision, "collisionCount": 0, "availableReplicas": 2})
    );
    let told = scene.events(PODS, &made, 5).await;
    assert_eq!(told[0], "ADDED s-0");
    let second = told.iter().position(|event| event == "ADDED s-1").unwrap();
    assert!(second > 1, "the second waits for the first: {told:?}");
    let pod = scene.get(&format!("{PODS}/s-0")).await;
    let labels = &pod["metadata"]["labels"];
    assert_eq!(
        (&labels["apps.kubernetes.io/pod-index"], &labels["statefulset.kubernetes.io/pod-name"]),
        (&json!("0"), &json!("s-0"))
    );
    assert_eq!((&pod["spec"]["hostname"], &pod["spec"]["subdomain"]), (&json!("s-0"), &json!("sv")));
    assert_eq!(pod["spec"]["volumes"][0], json!({"name": "data", "persistentVolumeClaim": {"claimName": "data-s-0"}}));
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = scene.until(&format!("{claims}/data-s-1"), |claim| claim["status"]["phase"] == "Bound").await;
    assert_eq!(claim["status"]["capacity"], json!({"storage": "1Gi"}));
    assert_eq!(claim["metadata"]["labels"], json!({"app": "s"}));

    let patch = json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}});
    scene.done("PATCH", &path, patch).await;
    let rolled = scene
        .until(&path, |set| set["status"]["currentRevision"] != revision && set["status"]["updatedReplicas"] == 2)
        .await;
    assert_eq!(rolled["status"]["currentRevision"], rolled["status"]["updateRevision"]);
    let told = scene.events(PODS, &set, 8).await;
    let gone = |name: &str| told.iter().position(|event| event == &format!("DELETED {name}")).unwrap_or(99);
    assert!(gone("s-1") < gone("s-0"), "the last goes first: {told:?}");
    scene.done("PATCH", &path, json!({"spec": {"replicas": 0}})).await;
    scene.until(&path, |set| set["status"]["replicas"] == 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_adopts_pods_with_its_name_and_an_ordinal() {
    let scene = Fixture::with_workloads();
    let create_pod = async |name: &str, scenario: Option<&str>| {
        let mut pod = template("s", scenario);
        pod["metadata"]["name"] = name.into();
        pod["spec"]["restartPolicy"] = "Never".into();
        scene.create(PODS, pod).await
    };
    let failed = create_pod("s-0", Some("failed")).await;
    scene.until(&format!("{PODS}/s-0"), |pod| pod["status"]["phase"] == "Failed").await;
    create_pod("debug", Some("ready")).await;
    create_pod("debug-0", Some("ready")).await;
    let sets = "/apis/apps/v1/namespaces/default/statefulsets";
    let set = scene.create(sets, workload("s", Some(1), None)).await;
    scene.until(&format!("{sets}/s"), |set| set["status"]["availableReplicas"] == 1).await;
    let pod = scene.get(&format!("{PODS}/s-0")).await;
    assert_eq!(pod["metadata"]["ownerReferences"][0]["uid"], set["metadata"]["uid"]);
    assert_ne!(pod["metadata"]["uid"], failed["metadata"]["uid"], "the failed Pod is replaced");
    for name in ["debug", "debug-0"] {
        let pod = scene.get(&format!("{PODS}/{name}")).await;
        assert_eq!(
            (&pod["metadata"]["ownerReferences"], &pod["metadata"]["deletionTimestamp"]),
            (&Value::Null, &Value::Null)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_is_on_the_node() {
    let scene = Fixture::with_workloads();
    let sets = "/apis/apps/v1/namespaces/default/daemonsets";
    scene.create(sets, workload("ds", None, None)).await;
    let set = scene.until(&format!("{sets}/ds"), |set| set["status"]["numberAvailable"] == 1).await;
    assert_eq!(
        set["status"],
        json!({"currentNumberScheduled": 1, "numberMisscheduled": 0, "desiredNumberScheduled": 1, "numberReady": 1,
               "observedGeneration": 1, "updatedNumberScheduled": 1, "numberAvailable": 1})
    );
    let patch = json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}});
    scene.done("PATCH", &format!("{sets}/ds"), patch).await;
    let rolled = |set: &Value| {
        set["status"]["observedGeneration"] == 2
            && set["status"]["updatedNumberScheduled"] == 1
            && set["status"]["numberReady"] == 1
    };
    scene.until(&format!("{sets}/ds"), rolled).await;
    let pods = pods(&scene, "ds").await;
    assert_eq!(pods[0]["spec"]["terminationGracePeriodSeconds"], 5);
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_deletes_a_pod_with_an_old_template_on_an_unwanted_node_once() {
    let scene = Fixture::with_workloads();
    let sets = "/apis/apps/v1/namespaces/default/daemonsets";
    scene.create(sets, workload("ds", None, None)).await;
    scene.until(&format!("{sets}/ds"), |set| set["status"]["numberAvailable"] == 1).await;
    let patch = json!({"spec": {"template": {"spec": {"nodeSelector": {"no-node": "has-this"}}}}});
    scene.done("PATCH", &format!("{sets}/ds"), patch).await;
    scene.until(&format!("{sets}/ds"), |set| set["status"]["currentNumberScheduled"] == 0).await;
    wait::idle().await;
    assert_eq!(pods(&scene, "ds").await, Vec::<Value>::new());
    let events = scene.get("/api/v1/namespaces/default/events").await;
    let deletions = events["items"].as_array().unwrap().iter().filter(|event| event["reason"] == "SuccessfulDelete");
    let counts: Vec<_> = deletions.map(|event| event["count"].as_u64().unwrap_or(1)).collect();
    assert_eq!(counts, [1]);
}

#[tokio::test(start_paused = true)]
async fn a_service_leads_to_its_pods() {
    let scene = Fixture::with_workloads();
    let services = "/api/v1/namespaces/default/services";
    let ports = json!([{"name": "w", "port": 80, "targetPort": 8080, "protocol": "TCP"}]);
    let service =
        json!({"metadata": {"name": "svc", "labels": {"s": "s"}}, "spec": {"selector": {"app": "d"}, "ports": ports}});
    scene.create(services, service).await;
    scene.create(DEPLOYMENTS, workload("d", Some(1), None)).await;
    let path = "/api/v1/namespaces/default/endpoints/svc";
    let endpoints = scene.until(path, |endpoints| endpoints["subsets"][0]["addresses"].is_array()).await;
    let pod = pods(&scene, "d").await.remove(0);
    let target =
        json!({"kind": "Pod", "namespace": "default", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]});
    let address = json!({"ip": pod["status"]["podIP"], "nodeName": "plane", "targetRef": target});
    assert_eq!(
        endpoints["subsets"],
        json!([{"addresses": [address], "ports": [{"name": "w", "port": 8080, "protocol": "TCP"}]}])
    );
    assert_eq!(
        endpoints["metadata"]["labels"],
        json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller", "s": "s"})
    );

    let slices = scene.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices").await;
    let name = slices["items"][0]["metadata"]["name"].as_str().unwrap().to_owned();
    let path = format!("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/{name}");
    let slice = scene.until(&path, |slice| slice["endpoints"][0]["conditions"]["ready"] == true).await;
    assert_eq!(
        slice["endpoints"],
        json!([{"addresses": [pod["status"]["podIP"]], "conditions": {"ready": true, "serving": true, "terminating": false},
                "targetRef": target, "nodeName": "plane"}])
    );
    assert_eq!(slice["ports"], json!([{"name": "w", "protocol": "TCP", "port": 8080}]));
    assert_eq!(slice["metadata"]["labels"]["kubernetes.io/service-name"], "svc");
    scene.done("DELETE", &format!("{services}/svc"), Value::Null).await;
    scene.until_gone(&path).await;
    scene.until_gone("/api/v1/namespaces/default/endpoints/svc").await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_gets_a_volume_and_gives_it_back() {
    let scene = Fixture::with_workloads();
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}});
    scene.create(claims, json!({"metadata": {"name": "c"}, "spec": spec})).await;
    let claim = scene.until(&format!("{claims}/c"), |claim| claim["status"]["phase"] == "Bound").await;
    let volume = format!("/api/v1/persistentvolumes/pvc-{}", claim["metadata"]["uid"].as_str().unwrap());
    assert_eq!(scene.get(&volume).await["spec"]["claimRef"]["name"], "c");
    scene.done("DELETE", &format!("{claims}/c"), Value::Null).await;
    scene.until_gone(&volume).await;
}

#[tokio::test(start_paused = true)]
async fn a_budget_says_how_many_may_go_and_an_eviction_heeds_it() {
    let scene = Fixture::with_workloads();
    scene.create(DEPLOYMENTS, workload("d", Some(2), None)).await;
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let spec = json!({"minAvailable": 2, "selector": {"matchLabels": {"app": "d"}}});
    scene.create(budgets, json!({"metadata": {"name": "b"}, "spec": spec})).await;
    let path = format!("{budgets}/b");
    let tight = scene.until(&path, |budget| budget["status"]["currentHealthy"] == 2).await;
    assert_eq!(
        tight["status"],
        json!({"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2,
               "conditions": [{"type": "DisruptionAllowed", "status": "False", "observedGeneration": 1,
                               "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "InsufficientPods", "message": ""}]})
    );
    let evict = async |at: usize| {
        let name = pods(&scene, "d").await[at]["metadata"]["name"].clone();
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        scene.send("POST", &format!("{PODS}/{}/eviction", name.as_str().unwrap()), eviction).await
    };
    let (code, refused) = evict(0).await;
    assert_eq!(
        (code, refused),
        (
            429,
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                   "message": "Cannot evict pod as it would violate the pod's disruption budget.",
                   "reason": "TooManyRequests", "code": 429,
                   "details": {"causes": [{"reason": "DisruptionBudget", "message": "The disruption budget b needs 2 healthy pods and has 2 currently"}]}})
        )
    );
    scene.done("PATCH", &path, json!({"spec": {"minAvailable": 1}})).await;
    scene.until(&path, |budget| budget["status"]["disruptionsAllowed"] == 1).await;
    let (code, done) = evict(0).await;
    assert_eq!(
        (code, done),
        (201, json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}))
    );
    assert_eq!(evict(1).await.0, 429, "the other one has to stay");
    scene.until(&path, |budget| budget["status"]["currentHealthy"] == 2).await;
}

#[tokio::test(start_paused = true)]
async fn two_lives_of_one_seed_are_the_same() {
    let run = async || {
        let scene = Fixture::with_workloads();
        scene.create(DEPLOYMENTS, workload("d", Some(3), None)).await;
        scene.until(&format!("{DEPLOYMENTS}/d"), |d| says(d, "Progressing", "True", "NewReplicaSetAvailable")).await;
        (scene.get(PODS).await, scene.get("/api/v1/events").await)
    };
    assert_eq!(run().await, run().await);
}
