//! Trees for kinds that are somebody else's: Namespaces, and a custom kind of another project.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::{
        core::v1::{ConfigMap, Namespace, ResourceQuota, ResourceQuotaSpec},
        events::v1::Event,
        networking::v1::{NetworkPolicy, NetworkPolicySpec},
    },
    apimachinery::pkg::api::resource::Quantity,
};
use kube::{
    Api, CustomResource, CustomResourceExt as _, ResourceExt as _,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use libtest_mimic::Trial;
use opgen::{Operator, RunOptions, prelude::*};
use opgen_tests::{
    Entries, Plane, case,
    wait::{self, PATIENCE, until_gone, until_object},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    event::until_event_about,
    install, log, right,
    site::{Running, Site},
    tally::state_writes,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("foreign_namespaces_get_what_their_tree_says_and_keep_nothing", namespaces),
        case("foreign_custom_kinds_keep_their_status_and_are_told_by_events", gauges),
        case("foreign_objects_made_for_one_of_their_kind_are_no_primaries", copies),
    ]
}

const BUTLER: &str = "butler";
const HELD: &str = "opgen.dev/butler";

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Foreign<Namespace>)]
struct NamespaceTree {
    #[provisioner(resource)]
    quota: ResourceQuota,
    #[provisioner(resource, when = |namespace: &Namespace| namespace.annotations().get("open").is_none())]
    isolation: NetworkPolicy,
}

impl NamespaceTree {
    fn quota(namespace: &Namespace) -> ResourceQuota {
        let pods = namespace.annotations().get("pods").map_or("10", String::as_str);
        let hard = BTreeMap::from([("pods".to_owned(), Quantity(pods.to_owned()))]);
        ResourceQuota {
            spec: Some(ResourceQuotaSpec { hard: Some(hard), ..ResourceQuotaSpec::default() }),
            ..ResourceQuota::default()
        }
    }

    fn isolation(_: &Namespace) -> NetworkPolicy {
        let spec = NetworkPolicySpec { policy_types: Some(vec!["Ingress".to_owned()]), ..NetworkPolicySpec::default() };
        NetworkPolicy { spec: Some(spec), ..NetworkPolicy::default() }
    }
}

/// An operator of the whole cluster, in a namespace of its own, and the Namespaces that it is for.
struct Estate {
    site: Site,
    spaces: Api<Namespace>,
}

impl Estate {
    fn operator(&self) -> Operator {
        Operator::new(BUTLER)
            .namespace(&self.site.namespace)
            .environment(self.site.environment())
            .controls_with::<Foreign<Namespace>, NamespaceTree>(|c| c.labels([("estate", "butler")]))
    }

    async fn start(&self) -> Running {
        let client = self.site.plane.service_account(&self.site.namespace, BUTLER).await.client();
        Site::run_with(&self.operator(), client, RunOptions::default())
    }

    async fn asked(&self) -> Entries {
        self.site.plane.audit().await.by_account(&self.site.namespace, BUTLER)
    }

    async fn settled(&self) -> Entries {
        let (mut seen, mut same) = (0, 0);
        wait::until("the operator is at rest", PATIENCE, async || {
            let asked = self.asked().await;
            same = if asked.len() == seen { same + 1 } else { 0 };
            seen = asked.len();
            // Longer than a search for what is left over waits before it begins.
            if same == 60 { Ok(asked) } else { Err(format!("{seen} requests")) }
        })
        .await
    }

    fn quotas(&self, space: &str) -> Api<ResourceQuota> {
        Api::namespaced(self.site.plane.client(), space)
    }

    fn policies(&self, space: &str) -> Api<NetworkPolicy> {
        Api::namespaced(self.site.plane.client(), space)
    }

    async fn patch(&self, space: &str, patch: Value) {
        self.spaces.patch(space, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    async fn quota_is(&self, space: &str, pods: &str) {
        until_object(&self.quotas(space), space, pods, |quota| allows(quota) == Some(pods)).await;
    }
}

fn allows(quota: &ResourceQuota) -> Option<&str> {
    Some(&quota.spec.as_ref()?.hard.as_ref()?.get("pods")?.0)
}

async fn space(plane: &Plane, spaces: &Api<Namespace>, labels: Value) -> String {
    let name = plane.namespace("space").await;
    let patch = Patch::Merge(json!({"metadata": {"labels": labels}}));
    spaces.patch(&name, &PatchParams::default(), &patch).await.unwrap();
    name
}

async fn namespaces(plane: Arc<Plane>) {
    let estate = Estate { site: Site::new(&plane).await, spaces: Api::all(plane.client()) };
    let rendered = install::generated(&estate.operator());
    let paths: Vec<_> = rendered.files.iter().map(|file| file.path.as_str()).collect();
    let of_own_kinds = ["crds/", "samples/", "finalizer-policy"];
    assert!(!paths.iter().any(|path| of_own_kinds.iter().any(|part| path.contains(part))), "{paths:?}");
    install::apply_quietly(&plane, rendered.text("base/rbac.yaml").unwrap()).await;
    let ours = space(&plane, &estate.spaces, json!({"estate": "butler"})).await;
    let others = space(&plane, &estate.spaces, json!({"estate": "else"})).await;
    // Where the operator runs, as far as it knows.
    let home = &estate.site.namespace;
    estate.patch(home, json!({"metadata": {"labels": {"estate": "butler"}}})).await;
    let mut running = estate.start().await;
    estate.quota_is(&ours, "10").await;
    until_object(&estate.policies(&ours), &ours, "is there", |_| true).await;
    let held = estate.spaces.get(&ours).await.unwrap();
    assert_eq!(held.finalizers(), [HELD]);
    // The object has no namespace.
    let events = Api::<Event>::namespaced(plane.client(), "default");
    until_event_about(&events, &ours, "Provisioned").await;
    follows_what_is_wanted(&estate, &ours).await;

    estate.settled().await;
    running.signal();
    running.end().await.unwrap();
    let before = estate.settled().await;
    let _running = estate.start().await;
    let since = estate.settled().await.since(&before);
    assert!(since.writes().is_empty(), "writes of a restart:\n{since}");

    is_let_go_with_its_label(&estate, &ours).await;
    estate.spaces.delete(&ours, &DeleteParams::default()).await.unwrap();
    until_gone(&estate.spaces, &ours).await;
    let asked = estate.settled().await;
    let errors = log::lines_with(&["ERROR", &ours]);
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    assert!(asked.subresource("status").is_empty(), "{asked}");
    let elsewhere = asked.with(|entry| [&others, home].contains(&&entry.name));
    assert!(elsewhere.is_empty() && asked.namespace(&others).is_empty(), "{asked}");
    let (granted, used) = (right::granted(&plane, BUTLER).await, right::used(&asked));
    assert!(granted.is_subset(&used), "granted and not used: {:?}", granted.difference(&used));
    estate.spaces.delete(&others, &DeleteParams::default()).await.unwrap();
    until_gone(&estate.spaces, &others).await;
}

/// Of the spec, of labels and of annotations, in whatever the server counts; not of the status.
async fn follows_what_is_wanted(estate: &Estate, ours: &str) {
    estate.patch(ours, json!({"metadata": {"annotations": {"pods": "20"}}})).await;
    estate.quota_is(ours, "20").await;
    let drift = Patch::Merge(json!({"spec": {"hard": {"pods": "99"}}}));
    estate.quotas(ours).patch(ours, &PatchParams::default(), &drift).await.unwrap();
    estate.quota_is(ours, "20").await;
    // Twice, so that its event is repeated.
    for _ in 0..2 {
        let uid =
            estate.quotas(ours).delete(ours, &DeleteParams::default()).await.unwrap().left().and_then(|q| q.uid());
        until_object(&estate.quotas(ours), ours, "is there anew", |quota| quota.uid() != uid).await;
    }
    estate.quota_is(ours, "20").await;
    estate.patch(ours, json!({"metadata": {"annotations": {"open": "yes"}}})).await;
    until_gone(&estate.policies(ours), ours).await;
    let before = estate.settled().await;
    let condition = json!({
        "type": "NamespaceContentRemaining", "status": "False", "reason": "Fine", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let status = Patch::Merge(json!({"status": {"conditions": [condition]}}));
    estate.spaces.patch_status(ours, &PatchParams::default(), &status).await.unwrap();
    let since = estate.settled().await.since(&before);
    assert!(since.is_empty(), "{since}");
}

async fn is_let_go_with_its_label(estate: &Estate, ours: &str) {
    estate.patch(ours, json!({"metadata": {"labels": {"estate": null}}})).await;
    until_object(&estate.spaces, ours, "is let go", |space| space.finalizers().is_empty()).await;
    assert!(estate.quotas(ours).get_opt(ours).await.unwrap().is_none());
    assert!(estate.spaces.get(ours).await.unwrap().metadata.deletion_timestamp.is_none());
    estate.patch(ours, json!({"metadata": {"labels": {"estate": "butler"}}})).await;
    estate.quota_is(ours, "20").await;
}

/// Of another project: its definition, its status and its finalizers are not ours.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "gauge.example.org", version = "v1", kind = "Gauge", namespaced, status = "GaugeStatus")]
struct GaugeSpec {
    limit: i32,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct GaugeStatus {
    reading: i32,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Foreign<Gauge>)]
struct GaugeTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl GaugeTree {
    fn config(gauge: &Gauge) -> Result<ConfigMap> {
        if gauge.spec.limit < 0 {
            return Err(Error::user_action("LimitBelowZero", "a limit is at least 0"));
        }
        let data = BTreeMap::from([("limit".to_owned(), gauge.spec.limit.to_string())]);
        Ok(ConfigMap { data: Some(data), ..ConfigMap::default() })
    }
}

async fn gauges(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    plane.apply(&serde_json::to_string(&Gauge::crd()).unwrap()).await;
    plane.until_established("gauges.gauge.example.org").await;
    let operator = site.operator().controls::<Foreign<Gauge>, GaugeTree>();
    let _running = site.start(&operator).await;
    let (gauges, configs) = (site.api::<Gauge>(), site.api::<ConfigMap>());
    let mut one = Gauge::new("one", GaugeSpec { limit: -1 });
    one.metadata = ObjectMeta { finalizers: Some(vec!["gauge.example.org/own".to_owned()]), ..one.metadata };
    gauges.create(&PostParams::default(), &one).await.unwrap();
    let events = Api::<Event>::namespaced(plane.client(), &site.namespace);
    until_event_about(&events, "one", "LimitBelowZero").await;
    let before = site.settled().await;
    let reading = Patch::Merge(json!({"status": {"reading": 7}}));
    gauges.patch_status("one", &PatchParams::default(), &reading).await.unwrap();
    let since = site.settled().await.since(&before);
    assert!(since.is_empty(), "a status is no news:\n{since}");

    site.patch::<Gauge>("one", &json!({"spec": {"limit": 5}})).await;
    let five = |config: &ConfigMap| config.data.as_ref().is_some_and(|data| data["limit"] == "5");
    until_object(&configs, "one", "follows", five).await;
    until_event_about(&events, "one", "Provisioned").await;
    let gauge = gauges.get("one").await.unwrap();
    assert_eq!(gauge.status.map(|status| status.reading), Some(7));
    assert_eq!(gauge.metadata.finalizers.unwrap(), ["gauge.example.org/own", "opgen.dev/live"]);

    gauges.delete("one", &DeleteParams::default()).await.unwrap();
    until_gone(&configs, "one").await;
    let left = |gauge: &Gauge| gauge.finalizers() == ["gauge.example.org/own"];
    until_object(&gauges, "one", "is let go", left).await;
    site.patch::<Gauge>("one", &json!({"metadata": {"finalizers": null}})).await;
    until_gone(&gauges, "one").await;
    let asked = site.settled().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
    let writes = state_writes(&asked).resource("gauges");
    let lines: Vec<_> = writes.iter().map(|entry| (entry.verb.as_str(), entry.subresource.as_str())).collect();
    assert_eq!(lines, [("patch", ""), ("patch", "")], "{writes}");
}

/// A copy of every ConfigMap, which is a ConfigMap, too.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Foreign<ConfigMap>)]
struct CopyTree {
    #[provisioner(resource)]
    copy: ConfigMap,
}

impl CopyTree {
    fn copy(original: &ConfigMap) -> ConfigMap {
        let metadata = ObjectMeta { name: Some(format!("{}-copy", original.name_any())), ..ObjectMeta::default() };
        ConfigMap { metadata, data: original.data.clone(), ..ConfigMap::default() }
    }
}

async fn copies(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Foreign<ConfigMap>, CopyTree>()).await;
    let configs = site.api::<ConfigMap>();
    let one = json!({"metadata": {"name": "one"}, "data": {"a": "1"}});
    site.create::<ConfigMap>(&serde_json::from_value(one).unwrap()).await;
    for value in ["2", "3", "4"] {
        site.patch::<ConfigMap>("one", &json!({"data": {"a": value}})).await;
        let follows = |copy: &ConfigMap| copy.data.as_ref().is_some_and(|data| data["a"] == value);
        until_object(&configs, "one-copy", "follows", follows).await;
    }
    let asked = site.settled().await;
    assert!(configs.get_opt("one-copy-copy").await.unwrap().is_none(), "{asked}");
    assert!(configs.get("one-copy").await.unwrap().finalizers().is_empty());
    site.delete::<ConfigMap>("one").await;
    until_gone(&configs, "one").await;
    until_gone(&configs, "one-copy").await;
}
