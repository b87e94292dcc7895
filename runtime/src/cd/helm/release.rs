//! `DeployedRelease`: a Helm release with its objects, read from the output of `helm status`. It tells whether they are ready.

use crate::{
    error::Error,
    kind::Kind,
    readiness::{Readiness, pod::stuck_containers, readiness},
    shape::documents,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The name of the lists of Pods of workloads among the objects of `helm status`.
///
/// Source: the package `kube` of Helm.
const RELATED_PODS: &str = "v1/Pod(related)";

/// The state of a revision of a release.
///
/// Source: the package `release/common` of Helm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ReleaseState {
    Deployed,
    Failed,
    PendingInstall,
    PendingRollback,
    PendingUpgrade,
    Superseded,
    Uninstalled,
    Uninstalling,
    #[serde(other)]
    Other,
}

impl ReleaseState {
    /// Returns whether a run of Helm changes the release, or has been interrupted.
    pub(super) fn is_pending(self) -> bool {
        matches!(self, Self::PendingInstall | Self::PendingRollback | Self::PendingUpgrade)
    }
}

/// A revision of a release, as `helm history` shows it.
#[derive(Debug, Deserialize)]
pub(super) struct ReleaseRevision {
    #[serde(rename = "revision")]
    pub(super) number: u64,
    #[serde(rename = "status")]
    pub(super) state: ReleaseState,
    #[serde(default)]
    pub(super) description: String,
    /// When Helm began to deploy it.
    #[serde(default, rename = "updated")]
    pub(super) begun: String,
}

impl ReleaseRevision {
    /// Returns the time at which Helm began to deploy it.
    pub(super) fn begun(&self) -> Option<Timestamp> {
        self.begun.parse().ok()
    }
}

/// A release with its objects.
pub(super) struct DeployedRelease {
    pub(super) latest: ReleaseRevision,
    manifest: String,
    objects: BTreeMap<String, Vec<Value>>,
}

/// The output of `helm status`.
#[derive(Deserialize)]
struct StatusOutput {
    version: u64,
    info: StatusOfRevision,
    #[serde(default)]
    manifest: String,
}

#[derive(Deserialize)]
struct StatusOfRevision {
    status: ReleaseState,
    #[serde(default)]
    description: String,
    #[serde(default)]
    last_deployed: String,
    #[serde(default)]
    resources: BTreeMap<String, Vec<Value>>,
}

/// Reads the output of `helm history`: the revisions in ascending order.
///
/// # Errors
/// If it has another form.
pub(super) fn read_history(output: &str) -> Result<Vec<ReleaseRevision>, Error> {
    serde_json::from_str(output).map_err(|_| unknown_form())
}

/// Returns the error of an output of another form, without any text of it.
fn unknown_form() -> Error {
    Error::blocked("HelmFailed", "the output of helm has an unknown form; opgen needs Helm 4")
}

impl DeployedRelease {
    /// Parses the output of `helm status` into the latest revision and the objects of the release.
    ///
    /// # Errors
    /// If the output is not that of Helm 4.
    pub(super) fn read(output: &str) -> Result<Self, Error> {
        let StatusOutput { version: number, info, manifest } =
            serde_json::from_str(output).map_err(|_| unknown_form())?;
        let StatusOfRevision { status: state, description, last_deployed: begun, resources: objects } = info;
        Ok(Self { latest: ReleaseRevision { number, state, description, begun }, manifest, objects })
    }

    /// Returns whether all objects of the release exist and are ready. Otherwise returns the most severe problem: the first object that is
    /// held up (makes no progress until something else changes), else a missing object, else the first object that is not ready yet.
    pub(super) fn readiness(&self) -> Readiness {
        let lists = self.objects.get(RELATED_PODS).into_iter().flatten();
        let pods: Vec<&Value> = lists.filter_map(|list| list["items"].as_array()).flatten().collect();
        let mut first_unready = Readiness::Ready;
        for object in self.own_objects() {
            match readiness_of(object, &pods) {
                Readiness::HeldUp(reason) => return Readiness::HeldUp(format!("{}: {reason}", title(object))),
                Readiness::NotReady(progress) if first_unready == Readiness::Ready => {
                    first_unready = Readiness::NotReady(format!("{}: {progress}", title(object)));
                }
                _ => {}
            }
        }
        match self.missing_object() {
            Some(missing) => Readiness::HeldUp(format!("{missing}: it does not exist")),
            None => first_unready,
        }
    }

    /// Returns whether an object of the release is being deleted.
    pub(super) fn is_being_deleted(&self) -> bool {
        self.own_objects().any(|object| !object["metadata"]["deletionTimestamp"].is_null())
    }

    /// Returns the objects of the chart that exist.
    fn own_objects(&self) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(|(name, _)| *name != RELATED_PODS).flat_map(|(_, objects)| objects)
    }

    /// Returns the kind and the name of the first object in the manifest of the release that does not exist. `None` if all exist, or if the
    /// manifest can't be parsed.
    fn missing_object(&self) -> Option<String> {
        let documents = documents("manifest", &self.manifest).ok()?;
        let exists = |wanted: &Value| {
            let namespace = &wanted["metadata"]["namespace"];
            self.own_objects().any(|object| {
                let metadata = &object["metadata"];
                // The manifest may leave the namespace out, and a cluster-scoped object has none.
                object["kind"] == wanted["kind"]
                    && metadata["name"] == wanted["metadata"]["name"]
                    && (namespace.is_null() || metadata["namespace"].is_null() || metadata["namespace"] == *namespace)
            })
        };
        // `helm status` shows the items of a list and not the list, so the list itself is skipped.
        let mut wanted = documents.iter().map(|document| &document.object).filter(|object| !object["items"].is_array());
        wanted.find(|wanted| !exists(wanted)).map(title)
    }
}

/// Returns the kind and the name of an object.
fn title(object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{} {name}", object["kind"].as_str().unwrap_or_default())
}

/// Returns the readiness of an object by the rules for child objects. A workload that is not ready is held up if a container of its Pods is
/// stuck, for example in `CrashLoopBackOff`. `pods` are the Pods of all workloads of the release.
fn readiness_of(object: &Value, pods: &[&Value]) -> Readiness {
    let metadata = &object["metadata"];
    if !metadata["deletionTimestamp"].is_null() {
        return Readiness::NotReady("it is being deleted".to_owned());
    }
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let kind = Kind {
        group: group.to_owned().into(),
        version: version.to_owned().into(),
        kind: object["kind"].as_str().unwrap_or_default().to_owned().into(),
        // The rules need neither the plural nor the scope.
        plural: "".into(),
        namespaced: !metadata["namespace"].is_null(),
    };
    let generation = metadata["generation"].as_i64().unwrap_or_default();
    match readiness(&kind, generation, &object["spec"], &object["status"]) {
        Readiness::Ready => Readiness::Ready,
        other => {
            let own = pods.iter().filter(|pod| is_selected(object, pod)).map(|pod| &pod["status"]);
            stuck_containers(own).map_or(other, Readiness::HeldUp)
        }
    }
}

/// Returns whether the label selector of a workload selects a Pod in the namespace of the workload.
fn is_selected(workload: &Value, pod: &Value) -> bool {
    let labels = workload["spec"]["selector"]["matchLabels"].as_object();
    let own = &pod["metadata"]["labels"];
    pod["metadata"]["namespace"] == workload["metadata"]["namespace"]
        && labels.is_some_and(|labels| !labels.is_empty() && labels.iter().all(|(name, value)| own[name] == *value))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns a Deployment of one replica, of which `available` are available.
    fn deployment(name: &str, available: i64) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": "shop", "generation": 1},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}},
            "status": {
                "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available,
            },
        })
    }

    /// Parses the output of `helm status` for a release with this manifest and these existing objects by kind.
    fn release(manifest: &str, resources: Value) -> DeployedRelease {
        let output = json!({
            "name": "web", "version": 3, "namespace": "shop", "config": {"password": "hidden"}, "manifest": manifest,
            "info": {
                "status": "deployed", "description": "opgen:shop/web:1", "resources": resources,
                "last_deployed": "2026-01-01T10:00:00.5+02:00",
            },
        });
        DeployedRelease::read(&output.to_string()).unwrap()
    }

    #[test]
    fn the_latest_revision_is_read() {
        let latest = release("", json!({})).latest;
        assert_eq!(
            (latest.number, latest.state, &*latest.description),
            (3, ReleaseState::Deployed, "opgen:shop/web:1")
        );
        assert_eq!(latest.begun(), "2026-01-01T08:00:00.5Z".parse().ok());
        let history = json!([
            {"revision": 1, "status": "superseded", "chart": "web-1.0.0", "description": "a", "updated": ""},
            {"revision": 2, "status": "pending-upgrade"},
            {"revision": 3, "status": "new"},
        ]);
        let history = read_history(&history.to_string()).unwrap();
        let states: Vec<_> = history.iter().map(|revision| revision.state).collect();
        assert_eq!(states, [ReleaseState::Superseded, ReleaseState::PendingUpgrade, ReleaseState::Other]);
        assert!(history.iter().all(|revision| revision.begun().is_none()));
        let error = DeployedRelease::read("{\"password\": \"hidden\"}").map(drop).unwrap_err().to_string();
        assert!(error.contains("Helm 4") && !error.contains("hidden"), "{error}");
    }

    #[test]
    fn the_objects_are_judged_by_the_rules_of_children() {
        let pod = |name: &str| {
            let waiting = json!([{"name": "main", "state": {"waiting": {"reason": "ErrImagePull"}}}]);
            json!({
                "metadata": {"name": "a", "namespace": "shop", "labels": {"app": name}},
                "status": {"containerStatuses": waiting},
            })
        };
        let readiness_with = |deployments: Value, pods: Value| {
            let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {}});
            let lists = json!([{"kind": "PodList", "items": []}, {"kind": "PodList", "items": pods}]);
            release("", json!({"v1/Service": [service], "v1/Deployment": deployments, RELATED_PODS: lists})).readiness()
        };
        assert_eq!(readiness_with(json!([deployment("web", 1)]), json!([])), Readiness::Ready);
        let progress = "Deployment web: 0 of 1 replicas are available";
        let readiness = readiness_with(json!([deployment("web", 0)]), json!([pod("other")]));
        assert_eq!(readiness, Readiness::NotReady(progress.to_owned()));
        let held_up = "Deployment worker: container main is in ImagePullBackOff".to_owned();
        let both = json!([deployment("web", 0), deployment("worker", 0)]);
        assert_eq!(readiness_with(both, json!([pod("worker")])), Readiness::HeldUp(held_up));
    }

    #[test]
    fn an_object_that_is_gone_is_named() {
        let manifest = "---\n# Source: a\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\n\
                        apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n---\n\
                        apiVersion: v1\nkind: ConfigMapList\nmetadata: {name: a}\nitems: []\n";
        let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "shop"}});
        let all = json!({"v1/Deployment": [deployment("web", 1)], "v1/ConfigMap": [config]});
        assert_eq!(release(manifest, all).readiness(), Readiness::Ready);
        let mut ending = json!({"v1/Deployment": [deployment("web", 1)]});
        assert!(!release(manifest, ending.clone()).is_being_deleted());
        ending["v1/Deployment"][0]["metadata"]["deletionTimestamp"] = "2026-01-01T10:00:00Z".into();
        assert!(release(manifest, ending).is_being_deleted());
        let missing = release(manifest, json!({"v1/Deployment": [deployment("web", 1)]})).readiness();
        assert_eq!(missing, Readiness::HeldUp("ConfigMap web: it does not exist".to_owned()));
    }
}
