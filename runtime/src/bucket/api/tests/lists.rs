//! Tests lists, pages and deletions of collections.

use super::harness::{APPS, Harness, labeled, read};
use http::Request;
use serde_json::{Value, json};

/// Returns the names in a list.
fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

/// Creates five objects, three of them with a label, and one in another namespace.
async fn five() -> Harness {
    let harness = Harness::new();
    for (number, name) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
        let labels = if number % 2 == 0 { json!({"even": "yes"}) } else { json!({}) };
        harness.create(&labeled(name, labels)).await;
    }
    harness.bucket.put_raw("blog.f", r#"{"spec": {}}"#);
    harness
}

#[tokio::test]
async fn objects_are_listed_by_namespace_and_selectors() {
    let harness = five().await;
    let all = "/apis/demo.example.com/v1/webapps";
    for (uri, expected) in [
        (all.to_owned(), vec!["f", "a", "b", "c", "d", "e"]),
        (APPS.to_owned(), vec!["a", "b", "c", "d", "e"]),
        (format!("{APPS}?labelSelector=even%3Dyes"), vec!["a", "c", "e"]),
        (format!("{all}?labelSelector=%21even"), vec!["f", "b", "d"]),
        (format!("{all}?fieldSelector=metadata.name%3Df"), vec!["f"]),
        (format!("{all}?fieldSelector=metadata.namespace%21%3Dshop"), vec!["f"]),
    ] {
        let (code, list) = harness.get(&uri).await;
        assert_eq!((code, &list["kind"], names(&list)), (200, &json!("WebAppList"), expected), "{uri}");
        assert_eq!(list["metadata"]["resourceVersion"], "6");
    }
    assert_eq!(harness.get(&format!("{APPS}?labelSelector=a+b")).await.0, 400);
    assert_eq!(harness.get(&format!("{APPS}?fieldSelector=spec.image%3Da")).await.0, 400);
}

#[tokio::test]
async fn the_pages_of_a_list_are_of_one_version() {
    let harness = five().await;
    let (_, first) = harness.get(&format!("{APPS}?limit=2")).await;
    assert_eq!((names(&first), &first["metadata"]["remainingItemCount"]), (vec!["a", "b"], &json!(3)));
    harness.bucket.delete_raw("shop.c");
    harness.bucket.put_raw("shop.g", r#"{"spec": {}}"#);
    let page = |list: &Value| format!("{APPS}?limit=2&continue={}", list["metadata"]["continue"].as_str().unwrap());
    let (_, second) = harness.get(&page(&first)).await;
    let (_, third) = harness.get(&page(&second)).await;
    assert_eq!((names(&second), names(&third)), (vec!["c", "d"], vec!["e"]));
    assert_eq!(third["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    assert_eq!(third["metadata"]["continue"], "");
    // A watch from this version has what the pages lack.
    let mut events =
        harness.watch(&format!("resourceVersion={}", first["metadata"]["resourceVersion"].as_str().unwrap())).await;
    events.expect(&[("DELETED", "c"), ("ADDED", "g")]).await;
    let (code, status) = harness.get(&page(&second)).await;
    assert_eq!((code, &status["reason"]), (410, &json!("Expired")));
    assert_eq!(harness.get(&format!("{APPS}?continue=x")).await.0, 400);
}

#[tokio::test]
async fn lists_and_objects_of_metadata_have_nothing_else() {
    let harness = five().await;
    for (uri, kind) in [(APPS.to_owned(), "PartialObjectMetadataList"), (format!("{APPS}/a"), "PartialObjectMetadata")]
    {
        let accept = format!("application/json;as={kind};g=meta.k8s.io;v=v1");
        let request = Request::get(uri).header("accept", accept).body(Vec::<u8>::new().into()).unwrap();
        let (code, response) = read(harness.api.respond(request).await).await;
        assert_eq!((code, &response["kind"], &response["apiVersion"]), (200, &json!(kind), &json!("meta.k8s.io/v1")));
        let object = response["items"].get(0).unwrap_or(&response);
        assert_eq!((&object["kind"], object.get("spec")), (&json!("PartialObjectMetadata"), None));
        assert_eq!(object["metadata"]["name"], "a");
    }
}

#[tokio::test]
async fn selected_objects_are_deleted_together() {
    let harness = five().await;
    let finalizers = json!({"metadata": {"finalizers": ["demo.example.com/test"]}});
    harness.merge(&format!("{APPS}/c"), finalizers).await;
    let (code, list) = harness.delete(&format!("{APPS}?labelSelector=even%3Dyes")).await;
    assert_eq!((code, names(&list)), (200, vec!["a", "c", "e"]));
    let (_, list) = harness.get(APPS).await;
    assert_eq!(names(&list), ["b", "c", "d"]);
    assert!(list["items"][1]["metadata"]["deletionTimestamp"].is_string(), "{list}");
}

#[tokio::test]
async fn a_client_without_an_api_server_discovers_the_kinds_in_buckets() {
    let client = five().await.api.standalone_client();
    assert_eq!(client.apiserver_version().await.unwrap().major, "1");
    let groups = client.list_api_groups().await.unwrap();
    assert_eq!(groups.groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["demo.example.com"]);
    let resources = client.list_api_group_resources("demo.example.com/v1").await.unwrap().resources;
    let resources: Vec<_> = resources.iter().map(|resource| resource.name.as_str()).collect();
    assert_eq!(resources, ["webapps", "webapps/status"]);
    let harness = Harness::new();
    assert_eq!((harness.get("/api/v1").await.0, harness.get("/api/v7").await.0), (200, 404));
}
