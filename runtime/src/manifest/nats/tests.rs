//! Tests the files for NATS.

#![allow(clippy::unwrap_used)]

use crate::{
    bucket::{BucketDefinition, BucketStorage},
    manifest::{Project, Rendered, files, fixture},
    shape::{Node, Shape},
};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns the operator of the fixture with its kind `Widget` in a bucket.
fn with_bucket(bucket: BucketDefinition) -> Project {
    let mut project = fixture::project();
    project.controllers[0].bucket = Some(bucket);
    project
}

fn documents(rendered: &Rendered, path: &str) -> Vec<Value> {
    let text = rendered.text(path).unwrap();
    text.split("---\n").skip(1).map(|document| serde_saphyr::from_str(document).unwrap()).collect()
}

/// Returns the subjects that the operator may publish.
fn published(rendered: &Rendered) -> Vec<String> {
    let account: Value = serde_json::from_str(rendered.text("nats/account.json").unwrap()).unwrap();
    assert_eq!(account["permissions"]["subscribe"]["allow"], json!(["_INBOX.>"]));
    serde_json::from_value(account["permissions"]["publish"]["allow"].clone()).unwrap()
}

#[test]
fn an_operator_of_kubernetes_has_no_files_for_nats() {
    let rendered = files(&fixture::project()).unwrap();
    assert!(rendered.files.iter().all(|file| !file.path.starts_with("nats/")));
}

#[test]
fn a_kind_in_a_bucket_has_no_definition_and_no_rules() {
    let rendered = files(&with_bucket(BucketDefinition::new("widgets"))).unwrap();
    assert_eq!(rendered.files.iter().filter(|file| file.path.contains("widget")).count(), 2);
    assert!(rendered.text("nats/widgets.schema.json").is_some());
    let install = rendered.text("install.yaml").unwrap();
    assert!(!install.contains("widgets") && install.contains("networks"), "{install}");
    let policy = rendered.text("finalizer-policy.yaml").unwrap();
    assert!(!policy.contains("widgets"), "{policy}");
}

#[test]
fn nats_u41_events_on_an_object_in_a_bucket_are_written_where_its_children_in_kubernetes_are() {
    static CUSTOM: Shape = Shape { node: Node::Custom, access: &[], children: &[] };
    let writes_events = |role: &&Value| {
        let rules = role["rules"].as_array().into_iter().flatten();
        rules.flat_map(|rule| rule["resources"].as_array().into_iter().flatten()).any(|resource| resource == "events")
    };
    let roles = |project: &Project| {
        let install = documents(&files(project).unwrap(), "install.yaml");
        install.iter().filter(writes_events).map(|role| role["kind"].clone()).collect::<Vec<_>>()
    };
    let mut project = with_bucket(BucketDefinition::new("widgets"));
    assert_eq!(roles(&project), ["ClusterRole"]);
    project.namespaced = true;
    assert_eq!(roles(&project), ["Role"]);
    project.namespaced = false;
    // Without such children, the events are about the Pod of the operator.
    project.controllers[0].shape = &CUSTOM;
    assert_eq!(roles(&project), ["Role"]);
}

#[test]
fn a_bucket_is_created_with_its_settings() {
    let bucket = BucketDefinition::new("Wid_gets").history(10).replicas(3).max_age(Duration::from_secs(30 * 86_400));
    let rendered = files(&with_bucket(bucket.storage(BucketStorage::Memory))).unwrap();
    let buckets = documents(&rendered, "nats/buckets.yaml");
    assert_eq!(buckets.len(), 1);
    let bucket = &buckets[0];
    let name = bucket["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("wid-gets-"), "{name}");
    assert_eq!((&bucket["apiVersion"], &bucket["kind"]), (&json!("jetstream.nats.io/v1beta2"), &json!("Stream")));
    let expected = json!({
        "name": "KV_Wid_gets",
        "subjects": ["$KV.Wid_gets.>"],
        "maxMsgsPerSubject": 10,
        "replicas": 3,
        "storage": "memory",
        "discard": "new",
        "maxAge": "2592000s",
        "duplicateWindow": "120s",
        "subjectDeleteMarkerTtl": "2592000s",
        "allowMsgTtl": true,
        "allowRollup": true,
        "allowDirect": true,
        "denyDelete": true,
    });
    assert_eq!(bucket["spec"], expected);
}

#[test]
fn settings_of_a_bucket_are_within_the_limits_of_the_server() {
    let bucket = BucketDefinition::new("machines").history(100).max_age(Duration::from_millis(500));
    let rendered = files(&with_bucket(bucket)).unwrap();
    let stream = documents(&rendered, "nats/buckets.yaml").remove(0);
    assert_eq!(stream["spec"]["maxMsgsPerSubject"], 64);
    assert_eq!(stream["spec"]["maxAge"], "500ms");
    assert_eq!(stream["spec"]["subjectDeleteMarkerTtl"], "1s");
}

#[test]
fn a_controlled_kind_is_written_and_a_watched_kind_is_only_read() {
    let mut project = with_bucket(BucketDefinition::new("widgets"));
    project.controllers[1].bucket = Some(BucketDefinition::new("networks"));
    project.controllers[1].only_defined = true;
    let network = project.controllers[1].kind.clone();
    let subjects = published(&files(&project).unwrap());
    assert!(subjects.iter().any(|subject| subject == "$KV.widgets.>"), "{subjects:?}");
    // The operator opens the buckets of all kinds that it serves, and may list them.
    assert!(subjects.iter().any(|subject| subject == "$JS.API.STREAM.INFO.KV_networks"), "{subjects:?}");
    assert!(subjects.iter().all(|subject| subject != "$KV.networks.>"), "{subjects:?}");

    project.controllers[0].watched_kinds = vec![network.clone()];
    let subjects = published(&files(&project).unwrap());
    assert!(subjects.iter().any(|subject| subject == "$JS.API.CONSUMER.CREATE.KV_networks.>"), "{subjects:?}");
    assert!(subjects.iter().all(|subject| subject != "$KV.networks.>"), "{subjects:?}");

    // A reference sets finalizers.
    project.controllers[0].references = vec![network];
    let subjects = published(&files(&project).unwrap());
    assert!(subjects.iter().any(|subject| subject == "$KV.networks.>"), "{subjects:?}");
}

#[test]
fn the_bucket_of_another_operator_is_not_created_and_is_read_also_if_no_tree_needs_it() {
    let mut project = fixture::project();
    let network = project.controllers[1].kind.clone();
    project.controllers.truncate(1);
    project.used_buckets = vec![(network.clone(), BucketDefinition::new("networks"))];
    let unneeded = published(&files(&project).unwrap());
    assert_eq!(unneeded.len(), 4, "{unneeded:?}");
    project.controllers[0].watched_kinds = vec![network.clone()];
    project.used_buckets = vec![(network, BucketDefinition::new("networks"))];
    let rendered = files(&project).unwrap();
    assert!(rendered.text("nats/buckets.yaml").is_none());
    let subjects = published(&rendered);
    assert!(subjects.iter().any(|subject| subject == "$JS.API.CONSUMER.CREATE.KV_networks.>"), "{subjects:?}");
    assert!(!rendered.text("install.yaml").unwrap().contains("networks"));
}

#[cfg(feature = "nats")]
#[test]
fn the_permissions_of_the_account_are_those_that_the_client_needs() {
    use crate::nats::{NatsOptions, NatsPermissions};
    let mut project = with_bucket(BucketDefinition::new("widgets"));
    project.controllers[1].bucket = Some(BucketDefinition::new("networks"));
    project.controllers[1].only_defined = true;
    let client = NatsPermissions::new(&NatsOptions::new(["nats://a"])).bucket("widgets").read_only_bucket("networks");
    assert_eq!(published(&files(&project).unwrap()), client.publish().iter().cloned().collect::<Vec<_>>());
}

#[test]
fn an_operator_without_kubernetes_has_buckets_of_its_own_and_no_rules() {
    let mut project = with_bucket(BucketDefinition::new("widgets"));
    project.controllers.truncate(1);
    project.own_buckets = crate::manager::buckets::own_buckets("demo");
    let rendered = files(&project).unwrap();
    let buckets = documents(&rendered, "nats/buckets.yaml");
    let names: Vec<_> = buckets.iter().map(|bucket| bucket["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["demo-configmaps", "demo-core-events", "demo-events", "demo-leases", "demo-secrets", "widgets"]);
    assert!(published(&rendered).iter().any(|subject| subject == "$KV.demo-leases.>"));
    let rbac = documents(&rendered, "base/rbac.yaml");
    assert_eq!(rbac.iter().map(|document| document["kind"].clone()).collect::<Vec<_>>(), ["ServiceAccount"]);
    // Nothing would review the tokens of their clients.
    assert!(!rendered.text("base/operator.yaml").unwrap().contains("metrics"));
    assert!(rendered.text("chart/values.yaml").unwrap().contains("address: \"0\""));
    let mut paths = rendered.files.iter().map(|file| file.path.as_str());
    let of_monitoring = paths.find(|path| path.contains("monitoring/") || path.starts_with("grafana/"));
    assert_eq!(of_monitoring, None);
}

#[test]
fn the_schema_of_a_kind_is_json_schema() {
    let mut project = fixture::with_spec(&json!({"type": "object", "properties": {
        "port": {"x-kubernetes-int-or-string": true},
        "size": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "nullable": true},
    }}));
    project.controllers[0].bucket = Some(BucketDefinition::new("widgets"));
    let rendered = files(&project).unwrap();
    let schema: Value = serde_json::from_str(rendered.text("nats/widgets.schema.json").unwrap()).unwrap();
    assert_eq!((&schema["title"], &schema["required"]), (&json!("Widget"), &json!(["spec"])));
    let spec = &schema["properties"]["spec"]["properties"];
    assert_eq!(spec["port"]["type"], json!(["integer", "string"]));
    assert_eq!(spec["size"]["type"], json!(["integer", "null"]));
    assert_eq!((&spec["size"]["exclusiveMinimum"], &spec["size"]["minimum"]), (&json!(0), &Value::Null));
}

#[test]
fn a_sample_is_a_command_that_puts_it() {
    let mut project = with_bucket(BucketDefinition::new("widgets"));
    project.controllers[0].sample = Some(
        json!({"metadata": {"name": "one", "namespace": "shop", "labels": {"a": "b"}}, "spec": {"image": "it's"}}),
    );
    let rendered = files(&project).unwrap();
    let script = rendered.text("nats/widgets.sample.sh").unwrap();
    let (_, value) = script.split_once("nats kv put widgets shop.one '").unwrap();
    let value: Value = serde_json::from_str(&value.trim_end().trim_end_matches('\'').replace("'\\''", "'")).unwrap();
    assert_eq!(value, json!({"metadata": {"labels": {"a": "b"}}, "spec": {"image": "it's"}}));

    project.controllers[0].sample = None;
    let rendered = files(&project).unwrap();
    let script = rendered.text("nats/widgets.sample.sh").unwrap();
    assert!(script.contains("nats kv put widgets default.widget-sample '{\n  \"spec\": {"), "{script}");
}

#[test]
fn a_webhook_of_a_kind_in_a_bucket_is_an_error() {
    let mut project = fixture::with_webhooks();
    project.controllers[0].bucket = Some(BucketDefinition::new("widgets"));
    let refused = files(&project).unwrap_err().to_string();
    assert!(refused.contains("nobody calls the webhook"), "{refused}");
}

#[test]
fn two_kinds_in_one_bucket_are_an_error() {
    let mut project = with_bucket(BucketDefinition::new("both"));
    project.controllers[1].bucket = Some(BucketDefinition::new("both"));
    let refused = files(&project).unwrap_err().to_string();
    assert!(refused.contains("in bucket \"both\" as well"), "{refused}");

    let mut project = with_bucket(BucketDefinition::new("demo-leases"));
    project.controllers.truncate(1);
    project.own_buckets = crate::manager::buckets::own_buckets("demo");
    let refused = files(&project).unwrap_err().to_string();
    assert!(refused.contains("in bucket \"demo-leases\" as well"), "{refused}");
}
