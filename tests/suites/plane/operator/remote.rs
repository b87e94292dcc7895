//! Nodes whose objects are in another cluster.

mod background;
mod claims;
mod cluster;
mod connected;
mod issued;
mod killed;
mod metrics;
mod nested;
mod outage;
mod registered;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, api::ObjectMeta};
use libtest_mimic::Trial;
use opgen::{prelude::*, scope::Kubeconfig};
use opgen_tests::{
    Form, Plane, case, case_served,
    wait::{PATIENCE, until, until_gone, until_object},
};
use serde_json::json;

use super::{
    fight::note_says,
    kinds::{Note, NoteSpec, available, text},
    site::{Running, Site},
};
use cluster::{Network, SecondCluster};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("remote_m3_children_are_in_the_cluster_of_the_kubeconfig", children),
        case("remote_m6_a_teardown_removes_the_children_and_then_the_record", teardown),
        case("remote_m6_a_cluster_whose_secret_is_gone_is_gone_with_its_children", gone),
        case("remote_objects_in_the_background_are_left_in_the_cluster_when_the_owner_is_deleted", background::left),
        case("remote_an_unreachable_cluster_is_waited_for_and_blocks_nobody_else", outage::unreachable),
        case("remote_a_cluster_that_does_not_answer_occupies_few_workers", outage::silent),
        case("remote_a_cluster_with_endless_responses_and_redirects_is_unreachable", outage::lying),
        case("remote_m1_a_nested_cluster_is_found_in_the_outer_one_and_removed_before_it", nested::nested),
        case("remote_a_stop_at_each_call_of_a_nested_teardown_keeps_its_order", killed::at_each_call),
        case("remote_either_of_two_nested_clusters_may_be_cut_off_for_minutes_at_any_time", nested::partitions),
        case_served("remote_a_cluster_is_reached_by_its_kubeconfig_over_the_network", connected::connected),
        case_served("remote_a_program_issues_the_credentials_of_a_cluster_and_delays_no_other_one", issued::issued),
        case("remote_a_cluster_that_can_not_be_reached_is_given_up_if_so_chosen", outage::abandoned),
        case("remote_another_kubeconfig_moves_the_children", moved),
        case("remote_another_key_or_url_of_a_secret_keeps_the_children", another_key),
        case("remote_owners_with_different_urls_of_a_cluster_keep_their_connections", different_urls),
        case("remote_a_secret_that_names_another_cluster_is_followed", replaced),
        case("remote_children_of_an_owner_in_another_cluster_are_no_orphans_there", claims::orphans),
        case("remote_a_record_outside_of_the_namespace_of_the_operator_is_ignored", claims::forged_record),
        case("remote_m7_a_cluster_is_registered_for_its_applications_until_the_last_of_them", registered::shared),
        case("remote_two_kubeconfigs_of_one_server_do_not_overwrite_each_other", registered::two_kubeconfigs),
        case("remote_applications_in_a_cluster_that_is_gone_are_deleted_without_finalizers", registered::gone),
        case("remote_an_application_beside_a_remote_node_needs_no_registration", registered::beside),
        case("remote_rotated_credentials_are_read_again", rotated),
        case("remote_an_object_that_names_an_owner_without_children_there_is_ignored", claims::foreign),
        case("remote_the_metrics_name_each_cluster_until_its_last_owner_is_gone", metrics::named),
    ]
}

/// The time after which a cluster is given up, for a text that ends with `brief`.
const LIMIT: Duration = Duration::from_secs(25);

/// The text of a note is the name of the Secret with the kubeconfig, and of what is built there, separated by a slash.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct RemoteTree {
    #[provisioner(resource)]
    local: ConfigMap,
    #[provisioner(remote)]
    inside: Inside,
}

impl RemoteTree {
    fn local(note: &Note) -> ConfigMap {
        config(&note.name_any(), "local")
    }

    fn inside(note: &Note) -> Kubeconfig {
        let kubeconfig = Kubeconfig::secret(note.spec.text.split('/').next().unwrap_or_default());
        match note.spec.text.split('/').next_back() {
            Some("brief") => kubeconfig.abandon_after(LIMIT),
            Some("other") => kubeconfig.key("other").server("https://blue.example.com/"),
            _ => kubeconfig,
        }
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct Inside {
    #[provisioner(resource)]
    first: ConfigMap,
    #[provisioner(resource)]
    second: Option<ConfigMap>,
}

impl Inside {
    fn first(note: &Note) -> ConfigMap {
        config(&note.name_any(), &note.spec.text)
    }

    fn second(note: &Note) -> Option<ConfigMap> {
        note.spec.text.ends_with("/both").then(|| config("second", "second"))
    }
}

fn config(name: &str, text: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("text".to_owned(), text.to_owned())])),
        ..ConfigMap::default()
    }
}

fn note(text: &str) -> Note {
    Note::new("one", NoteSpec { text: text.to_owned(), ..NoteSpec::default() })
}

fn operator(site: &Site, clusters: &[&Arc<SecondCluster>]) -> Operator {
    let environment = SecondCluster::reachable_from(site.environment(), clusters);
    site.operator().environment(environment).controls::<Note, RemoteTree>()
}

/// A note that is provisioned, and what it is provisioned with.
struct Scene<const N: usize> {
    site: Site,
    clusters: [Arc<SecondCluster>; N],
    operator: Operator,
    running: Running,
}

impl<const N: usize> Scene<N> {
    /// Starts second clusters with these names and the operator, publishes the kubeconfigs, and creates the note `one`.
    async fn provisioned(plane: &Arc<Plane>, names: [&'static str; N], text: &str) -> Self {
        let site = Site::new(plane).await;
        let mut clusters = Vec::new();
        for name in names {
            clusters.push(SecondCluster::start(plane, name).await);
        }
        let clusters: [_; N] = clusters.try_into().unwrap_or_else(|_| panic!("{N} clusters"));
        let operator = operator(&site, &clusters.each_ref());
        let running = site.start(&operator).await;
        for cluster in &clusters {
            cluster.publish(&site).await;
        }
        site.create(&note(text)).await;
        note_says(&site, "Provisioned").await;
        Self { site, clusters, operator, running }
    }
}

/// The records of clusters in the namespace of the operator.
async fn records(site: &Site) -> Vec<String> {
    let configs = site.api::<ConfigMap>().list(&Default::default()).await.unwrap();
    configs.iter().map(ResourceExt::name_any).filter(|name| name.starts_with("opgen-cluster-")).collect()
}

async fn is_gone(configs: &Api<ConfigMap>, name: &str) {
    until(format!("{name} is gone"), PATIENCE, async || match configs.get_opt(name).await {
        Ok(None) => Ok(()),
        found => Err(format!("{found:?}")),
    })
    .await;
}

async fn children(plane: Arc<Plane>) {
    let (site, blue) = (Site::new(&plane).await, SecondCluster::start(&plane, "blue").await);
    let operator = operator(&site, &[&blue]);
    let running = site.start(&operator).await;
    site.create(&note("blue/both")).await;
    let message = note_says(&site, "KubeconfigMissing").await;
    assert_eq!(message, format!("waiting for Secret {}/blue with the kubeconfig of a cluster", site.namespace));
    assert!(blue.configs().get_opt("one").await.unwrap().is_none());
    blue.publish(&site).await;
    note_says(&site, "Provisioned").await;
    let first = blue.configs().get("one").await.unwrap();
    assert_eq!(text(&first), "blue/both");
    assert_eq!(first.metadata.owner_references, None, "an owner reference names an object of the same cluster");
    assert!(first.annotations()["opgen.dev/owner"].starts_with("notes.live.example.com/"));
    assert_eq!(text(&site.api::<ConfigMap>().get("one").await.unwrap()), "local");
    assert_eq!(records(&site).await.len(), 1);
    // An edit and a deletion there are repaired.
    let edit = json!({"data": {"text": "edited"}});
    blue.configs().patch("one", &Default::default(), &kube::api::Patch::Merge(&edit)).await.unwrap();
    until_object(&blue.configs(), "one", "is repaired", |config| text(config) == "blue/both").await;
    blue.configs().delete("second", &Default::default()).await.unwrap();
    until_object(&blue.configs(), "second", "is made again", |config| text(config) == "second").await;
    // A child that is no longer wanted is removed.
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/one"}})).await;
    is_gone(&blue.configs(), "second").await;
    until_object(&blue.configs(), "one", "is changed", |config| text(config) == "blue/one").await;
    note_says(&site, "Provisioned").await;
    site.settled().await;
    // A restart writes nothing, here and there.
    let (before, there) = (site.asked().await.writes().len(), blue.writes().await);
    running.end_now().await;
    let (asked_here, asked_there) = (site.asked().await.len(), blue.requests());
    let _running = site.run(&operator, Default::default()).await;
    until("the second process has caches here and there", PATIENCE, async || {
        let (here, there) = (site.asked().await.len(), blue.requests());
        // The lists and the watches of its ConfigMaps there, and more here.
        let has_begun = here >= asked_here + 4 && there >= asked_there + 2;
        if has_begun { Ok(()) } else { Err(format!("{here} requests here, {there} there")) }
    })
    .await;
    site.settled().await;
    assert_eq!(site.asked().await.writes().len(), before);
    assert_eq!(blue.writes().await, there);
}

async fn teardown(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue], operator, running } = Scene::provisioned(&plane, ["blue"], "blue/both").await;
    // The operator that tears it down knows of the cluster by the record alone.
    running.end_now().await;
    site.delete::<Note>("one").await;
    let _running = site.run(&operator, Default::default()).await;
    until_gone(&site.api::<Note>(), "one").await;
    assert!(blue.configs().get_opt("one").await.unwrap().is_none());
    assert!(blue.configs().get_opt("second").await.unwrap().is_none());
    assert_eq!(records(&site).await, Vec::<String>::new());
}

async fn gone(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue], running: _running, .. } =
        Scene::provisioned(&plane, ["blue"], "blue/one").await;
    blue.set_network(Network::Refused);
    site.api::<Secret>().delete("blue", &Default::default()).await.unwrap();
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    assert_eq!(records(&site).await, Vec::<String>::new());
}

async fn moved(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue, green], running: _running, .. } =
        Scene::provisioned(&plane, ["blue", "green"], "blue/both").await;
    site.patch::<Note>("one", &json!({"spec": {"text": "green/one"}})).await;
    until_object(&green.configs(), "one", "is in the other cluster", |config| text(config) == "green/one").await;
    assert!(blue.configs().get_opt("one").await.unwrap().is_none());
    assert!(blue.configs().get_opt("second").await.unwrap().is_none());
    note_says(&site, "Provisioned").await;
    assert_eq!(records(&site).await.len(), 1);
}

async fn another_key(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue], running: _running, .. } =
        Scene::provisioned(&plane, ["blue"], "blue/one").await;
    let uid = blue.configs().get("one").await.unwrap().uid();
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/other"}})).await;
    until_object(&blue.configs(), "one", "is changed", |config| text(config) == "blue/other").await;
    assert_eq!(blue.configs().get("one").await.unwrap().uid(), uid, "it is the same object");
    note_says(&site, "Provisioned").await;
    assert_eq!(records(&site).await.len(), 1);
}

/// Two owners name the Secret of one cluster, with different keys and URLs.
async fn different_urls(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue], running: _running, .. } =
        Scene::provisioned(&plane, ["blue"], "blue/one").await;
    site.create(&Note::new("two", NoteSpec { text: "blue/other".to_owned(), ..NoteSpec::default() })).await;
    until_object(&blue.configs(), "two", "is made", |config| text(config) == "blue/other").await;
    site.settled().await;
    let lists = blue.lists().await;
    for number in 0..5 {
        let wanted = format!("blue/{number}");
        site.patch::<Note>("one", &json!({"spec": {"text": wanted}})).await;
        until_object(&blue.configs(), "one", "has the new text", |config| text(config) == wanted).await;
        site.patch::<Note>("two", &json!({"spec": {"text": format!("blue/{number}/other")}})).await;
        until_object(&blue.configs(), "two", "has the new text", |config| {
            text(config) == format!("blue/{number}/other")
        })
        .await;
    }
    assert_eq!(blue.lists().await, lists, "a connection that is opened again lists all objects");
}

async fn replaced(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue, green], running: _running, .. } =
        Scene::provisioned(&plane, ["blue", "green"], "blue/both").await;
    green.publish_as(&site, "blue").await;
    blue.accept("nobody");
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/one"}})).await;
    until_object(&green.configs(), "one", "is in the other cluster", |config| text(config) == "blue/one").await;
    note_says(&site, "Provisioned").await;
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
    assert!(green.configs().get_opt("one").await.unwrap().is_none());
}

async fn rotated(plane: Arc<Plane>) {
    let Scene { site, clusters: [blue], running: _running, .. } = Scene::provisioned(&plane, ["blue"], "blue/0").await;
    // With a paused clock many are cheap.
    let rotations = if plane.form() == Form::Sandbox { 1000 } else { 20 };
    for number in 1..rotations {
        blue.accept(&format!("token {number}"));
        blue.publish(&site).await;
        let wanted = format!("blue/{number}");
        site.patch::<Note>("one", &json!({"spec": {"text": wanted}})).await;
        until_object(&blue.configs(), "one", "has the new text", |config| text(config) == wanted).await;
    }
    // Credentials that are refused are reported, until there are others.
    blue.accept("unknown");
    site.patch::<Note>("one", &json!({"spec": {"text": "blue/last"}})).await;
    let message = note_says(&site, "ClusterRefused").await;
    assert_eq!(
        message,
        format!("the cluster of Secret {}/blue refuses the credentials of its kubeconfig", site.namespace)
    );
    blue.publish(&site).await;
    until_object(&blue.configs(), "one", "has the last text", |config| text(config) == "blue/last").await;
    note_says(&site, "Provisioned").await;
}
