//! Cases about kinds with several versions: a version is how a kind is read and written, and no part of its identity.

mod child;
mod kinds;
mod owner;
mod reader;
mod watch;

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api,
    api::{ApiResource, DynamicObject},
};
use libtest_mimic::Trial;
use opgen::Status;
use opgen_tests::{Entries, case};
use serde_json::json;

use crate::operator::{kinds::available, site::Site};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("kind_a_bump_of_a_childs_version_writes_nothing", child::bumped),
        case("kind_the_server_stores_another_version", child::stored),
        case("kind_two_versions_of_one_kind_share_one_watch", watch::shared),
        case("kind_a_node_that_reads_a_kind_gets_it_in_the_version_of_its_type", reader::read),
        case("kind_an_owner_reference_in_another_version_names_its_owner", owner::referenced),
        case(
            "kind_two_controllers_of_one_kind_in_two_versions_must_not_write_the_same_conditions",
            owner::controlled_twice,
        ),
    ]
}

const AUTOSCALERS: &str = "horizontalpodautoscalers";

/// An autoscaler, with fields that are the same in all versions.
fn scaler<K: serde::de::DeserializeOwned>(large: bool) -> K {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let spec = json!({"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": if large { 9 } else { 5 }});
    serde_json::from_value(json!({"metadata": {"name": "scaler"}, "spec": spec})).unwrap()
}

/// An object of a kind with two versions, in one of them.
async fn object(site: &Site, api_version: &str, kind: &str, plural: &str, name: &str) -> DynamicObject {
    dynamic(site, api_version, kind, plural).get(name).await.unwrap()
}

fn dynamic(site: &Site, api_version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap();
    let resource = ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    };
    Api::namespaced_with(site.plane.client(), &site.namespace, &resource)
}

/// The versions in which the operator's apply owns fields of an object.
fn applied_versions(object: &DynamicObject) -> Vec<&str> {
    let entries = object.metadata.managed_fields.iter().flatten();
    let own = entries.filter(|entry| entry.manager.as_deref() == Some("live") && entry.subresource.is_none());
    own.filter_map(|entry| entry.api_version.as_deref()).collect()
}

/// The versions in the paths of requests for a kind.
fn spoken_versions(entries: &Entries) -> BTreeSet<String> {
    entries.iter().filter_map(|entry| entry.uri.split('/').nth(3).map(str::to_owned)).collect()
}

/// Whether an owner is provisioned in its latest generation.
fn is_done(metadata: &ObjectMeta, status: Option<&Status>) -> bool {
    let observed = status.and_then(|status| status.observed_generation);
    observed == metadata.generation && available(status).is_some_and(|(truth, ..)| truth == "True")
}
