//! The metrics of other clusters.

use std::sync::Arc;

use opgen::Operator;
use opgen_tests::{
    Plane,
    wait::{PATIENCE, until, until_gone},
};
use serde_json::json;

use super::{Note, NoteSpec, Scene, cluster::Network};

/// The value of a series; `None` if there is no such series.
fn value(text: &str, series: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

/// Waits until the metrics of a cluster have these values: whether it is reachable, its objects, and its owners. `None` is no series.
async fn shows(operator: &Operator, kubeconfig: &str, expected: Option<[u64; 3]>) -> String {
    let expected = expected.map_or([None; 3], |values| values.map(Some));
    until(format!("the metrics of {kubeconfig} are {expected:?}"), PATIENCE, async || {
        let text = operator.metrics().text().unwrap();
        let of = |metric: &str| value(&text, &format!("opgen_remote_cluster_{metric}{{kubeconfig=\"{kubeconfig}\"}}"));
        let seen = ["reachable", "objects", "owners"].map(of);
        if seen == expected { Ok(text) } else { Err(format!("{seen:?}")) }
    })
    .await
}

pub(super) async fn named(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue, _green], operator, running: _running } =
        Scene::provisioned(&plane, ["blue", "green"], "blue/both").await;
    site.create(&Note::new("two", NoteSpec { text: "green/one".to_owned(), ..NoteSpec::default() })).await;
    let [in_blue, in_green] = ["blue", "green"].map(|name| format!("{}/{name}", site.namespace));
    shows(&operator, &in_blue, Some([1, 2, 1])).await;
    let text = shows(&operator, &in_green, Some([1, 1, 1])).await;
    let requests = |text: &str, kubeconfig: &str, code: &str| {
        let labels = format!("kubeconfig=\"{kubeconfig}\",code=\"{code}\"");
        value(text, &format!("opgen_remote_cluster_requests_total{{{labels}}}"))
    };
    assert!(requests(&text, &in_blue, "2xx") >= Some(3), "the watch and two children: {text}");
    assert_eq!(requests(&text, &in_blue, "<error>"), Some(0));
    // One cluster is cut off. Its requests are none to the own cluster.
    blue.set_network(Network::Refused);
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/new/both"}})).await;
    let text = shows(&operator, &in_blue, Some([0, 2, 1])).await;
    assert!(requests(&text, &in_blue, "<error>") >= Some(1), "{text}");
    assert_eq!(requests(&text, &in_green, "<error>"), Some(0));
    assert!(!text.contains("rest_client_requests_total{code=\"<error>\""), "{text}");
    shows(&operator, &in_green, Some([1, 1, 1])).await;
    // The series end with the last owner.
    site.delete::<Note>("two").await;
    until_gone(&site.api::<Note>(), "two").await;
    shows(&operator, &in_green, None).await;
    blue.set_network(Network::Open);
    shows(&operator, &in_blue, Some([1, 2, 1])).await;
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    let text = shows(&operator, &in_blue, None).await;
    assert!(!text.contains("opgen_remote_cluster_"), "{text}");
}
