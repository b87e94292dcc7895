//! The events about objects in buckets of an operator with Kubernetes.

use super::{Scene, until};
use k8s_openapi::api::{core::v1::ConfigMap, events::v1::Event};
use kube::Api;

impl Scene {
    /// Waits for an event with a reason that `is_wanted` accepts.
    async fn event(&self, reason: &str, is_wanted: impl Fn(&Event) -> bool) -> Event {
        let api = Api::<Event>::all(self.sandbox.client());
        until(&format!("an event {reason}"), async || {
            let events = api.list(&Default::default()).await.unwrap().items;
            events.into_iter().find(|event| event.reason.as_deref() == Some(reason) && is_wanted(event))
        })
        .await
    }
}

#[tokio::test(start_paused = true)]
async fn nats_u41_an_event_about_a_child_in_kubernetes_regards_it_and_is_related_to_the_object() {
    let (scene, running) = Scene::available().await;
    let event = scene.event("Created", |_| true).await;
    let (regarding, related) = (event.regarding.unwrap(), event.related.unwrap());
    assert_eq!((regarding.kind.as_deref(), regarding.name.as_deref()), (Some("ConfigMap"), Some("web")));
    assert_eq!(regarding.uid, scene.config().await.unwrap().metadata.uid);
    assert_eq!((related.kind.as_deref(), related.name.as_deref()), (Some("Pump"), Some("web")));
    assert_eq!(event.metadata.namespace.as_deref(), Some("default"));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nats_u41_events_about_a_child_that_is_created_again_and_again_form_a_series() {
    let (scene, running) = Scene::available().await;
    scene.configs().delete("web", &Default::default()).await.unwrap();
    scene.has_rate("slow").await;
    scene.event("Created", |event| event.series.as_ref().is_some_and(|series| series.count == 2)).await;
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nats_u41_an_event_about_an_object_without_children_regards_the_pod_of_the_operator() {
    let scene = Scene::new();
    let mut stranger = ConfigMap::default();
    stranger.metadata.name = Some("web".to_owned());
    scene.configs().create(&Default::default(), &stranger).await.unwrap();
    let running = scene.start();
    scene.put("slow");
    let event = scene.event("NotOwned", |_| true).await;
    assert_eq!(event.regarding.unwrap().kind.as_deref(), Some("Pod"));
    assert_eq!(event.related.unwrap().kind.as_deref(), Some("Pump"));
    running.stop().await;
}
