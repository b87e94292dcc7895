//! Tests of Jobs and CronJobs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::fixture::Fixture;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

fn job(name: &str, mut spec: Value, scenario: Option<&str>) -> Value {
    let annotations = scenario.map(|scenario| json!({"opgen.test/pod": scenario}));
    let containers = json!([{"name": "a", "image": "b"}]);
    spec["template"] =
        json!({"metadata": {"annotations": annotations}, "spec": {"restartPolicy": "Never", "containers": containers}});
    json!({"metadata": {"name": name}, "spec": spec})
}

fn condition<'a>(object: &'a Value, type_: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == type_)
}

fn says(object: &Value, type_: &str, status: &str, reason: &str) -> bool {
    condition(object, type_).is_some_and(|own| own["status"] == status && own["reason"] == reason)
}

#[tokio::test(start_paused = true)]
async fn a_job_completes_and_its_pods_are_let_go() {
    let scene = Fixture::with_workloads();
    scene.create(JOBS, job("j", json!({"completions": 2, "parallelism": 1, "backoffLimit": 6}), None)).await;
    let path = format!("{JOBS}/j");
    let done = scene.until(&path, |job| condition(job, "Complete").is_some()).await;
    let order: Vec<_> =
        done["status"]["conditions"].as_array().unwrap().iter().map(|own| own["type"].as_str().unwrap()).collect();
    assert_eq!(order, ["SuccessCriteriaMet", "Complete"]);
    assert!(says(&done, "Complete", "True", "CompletionsReached"));
    assert_eq!(
        (&done["status"]["succeeded"], &done["status"]["ready"], &done["status"]["terminating"]),
        (&json!(2), &json!(0), &json!(0))
    );
    assert!(done["status"]["completionTime"].is_string() && done["status"]["startTime"].is_string());
    let list = scene.get(PODS).await;
    let name = list["items"][0]["metadata"]["name"].as_str().unwrap();
    scene.until(&format!("{PODS}/{name}"), |pod| pod["metadata"]["finalizers"].is_null()).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_fails_after_its_retries() {
    let scene = Fixture::with_workloads();
    scene.create(JOBS, job("j", json!({"backoffLimit": 1, "completions": 1, "parallelism": 1}), Some("failed"))).await;
    let failed = scene.until(&format!("{JOBS}/j"), |job| condition(job, "Failed").is_some()).await;
    assert!(says(&failed, "FailureTarget", "True", "BackoffLimitExceeded"));
    assert_eq!(condition(&failed, "Failed").unwrap()["message"], "Job has reached the specified backoff limit");
    assert_eq!(failed["status"]["failed"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_job_with_a_deadline_is_stopped() {
    let scene = Fixture::with_workloads();
    let spec = json!({"activeDeadlineSeconds": 30, "completions": 1, "parallelism": 1});
    scene.create(JOBS, job("j", spec, Some("ready"))).await;
    let failed = scene.until(&format!("{JOBS}/j"), |job| condition(job, "Failed").is_some()).await;
    assert!(says(&failed, "Failed", "True", "DeadlineExceeded"));
    assert_eq!(condition(&failed, "FailureTarget").unwrap()["lastTransitionTime"], "2026-01-01T00:00:30Z");
    assert_eq!(failed["status"]["failed"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_job_waits() {
    let scene = Fixture::with_workloads();
    scene.create(JOBS, job("j", json!({"suspend": true, "completions": 1, "parallelism": 1}), Some("ready"))).await;
    let path = format!("{JOBS}/j");
    let held = scene.until(&path, |job| condition(job, "Suspended").is_some()).await;
    assert!(says(&held, "Suspended", "True", "JobSuspended"));
    assert!(held["status"]["startTime"].is_null());
    scene.done("PATCH", &path, json!({"spec": {"suspend": false}})).await;
    let running = scene.until(&path, |job| job["status"]["ready"] == 1).await;
    assert!(says(&running, "Suspended", "False", "JobResumed"));
    assert_eq!(running["status"]["active"], 1);
}

#[tokio::test(start_paused = true)]
async fn an_indexed_job_runs_each_index() {
    let scene = Fixture::with_workloads();
    let spec = json!({"completions": 3, "parallelism": 2, "completionMode": "Indexed"});
    scene.create(JOBS, job("j", spec, None)).await;
    let done = scene.until(&format!("{JOBS}/j"), |job| condition(job, "Complete").is_some()).await;
    assert_eq!((&done["status"]["completedIndexes"], &done["status"]["succeeded"]), (&json!("0-2"), &json!(3)));
    let list = scene.get(PODS).await;
    let pod = &list["items"][0];
    assert_eq!(pod["metadata"]["generateName"], "j-0-");
    assert_eq!(pod["spec"]["hostname"], "j-0");
    assert_eq!(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"], "0");
}

#[tokio::test(start_paused = true)]
async fn the_completions_of_an_indexed_job_change_with_its_parallelism_only() {
    let scene = Fixture::with_workloads();
    let spec = json!({"suspend": true, "completions": 3, "parallelism": 2, "completionMode": "Indexed"});
    scene.create(JOBS, job("j", spec, None)).await;
    let path = format!("{JOBS}/j");
    let (code, refused) = scene.send("PATCH", &path, json!({"spec": {"completions": 5}})).await;
    assert_eq!(code, 422, "{refused}");
    let message = "Job.batch \"j\" is invalid: spec.completions: Invalid value: 5: can only be modified in tandem with \
                   spec.parallelism";
    assert_eq!(refused["message"], message);
    scene.done("PATCH", &path, json!({"spec": {"parallelism": 3}})).await;
    scene.done("PATCH", &path, json!({"spec": {"completions": 5, "parallelism": 5}})).await;
}

#[tokio::test(start_paused = true)]
async fn a_suspended_job_may_change_its_node_affinity_only() {
    let scene = Fixture::with_workloads();
    scene.create(JOBS, job("j", json!({"suspend": true, "completions": 1, "parallelism": 1}), None)).await;
    let path = format!("{JOBS}/j");
    let affinity = |affinity: Value| json!({"spec": {"template": {"spec": {"affinity": affinity}}}});
    let terms = json!([{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]);
    let of_nodes =
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
    scene.done("PATCH", &path, affinity(of_nodes)).await;
    let term = json!({"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}});
    let of_pods = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let (code, refused) = scene.send("PATCH", &path, affinity(of_pods)).await;
    assert_eq!((code, &refused["details"]["causes"][0]["field"]), (422, &json!("spec.template.spec")), "{refused}");
    scene.done("PATCH", &path, affinity(Value::Null)).await;
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_runs_on_time_and_keeps_a_few() {
    let scene = Fixture::with_workloads();
    let crons = "/apis/batch/v1/namespaces/default/cronjobs";
    let mut template = job("x", json!({"completions": 1, "parallelism": 1}), None);
    template["metadata"] = json!({"labels": {"jt": "x"}});
    let spec = json!({"schedule": "*/10 * * * *", "jobTemplate": template, "successfulJobsHistoryLimit": 2});
    let made = scene.create(crons, json!({"metadata": {"name": "c"}, "spec": spec})).await;
    let path = format!("{crons}/c");
    let first = scene.until(&path, |cron| cron["status"]["lastScheduleTime"].is_string()).await;
    assert_eq!(first["status"]["lastScheduleTime"], "2026-01-01T00:10:00Z");
    assert_eq!(first["status"]["active"][0]["name"], "c-29453770");
    let fourth =
        |cron: &Value| cron["status"]["lastSuccessfulTime"].as_str().is_some_and(|last| last >= "2026-01-01T00:40:00Z");
    scene.until(&path, fourth).await;
    scene.until_gone(&format!("{JOBS}/c-29453780")).await;
    let list = scene.get(JOBS).await;
    let names: Vec<_> =
        list["items"].as_array().unwrap().iter().map(|job| job["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["c-29453790", "c-29453800"]);
    let metadata = &list["items"][0]["metadata"];
    assert_eq!(metadata["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"], "2026-01-01T00:30:00Z");
    assert_eq!(metadata["ownerReferences"][0]["uid"], made["metadata"]["uid"]);
}
