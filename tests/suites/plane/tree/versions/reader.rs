//! Nodes that read a kind in the version of their type.

use std::sync::Arc;

use k8s_openapi::api::{
    autoscaling::{v1 as autoscaling_v1, v2 as autoscaling_v2},
    core::v1::ConfigMap,
};
use opgen::{RunError, RunOptions, prelude::*};
use opgen_tests::{Plane, wait::until_object};
use serde_json::json;

use super::{AUTOSCALERS, scaler};
use crate::{
    operator::{
        kinds::{Note, NoteSpec},
        site::Site,
    },
    tree::kinds::{Shop, ShopSpec, done, entry, holding, idle_pass, named, shop, written},
};

/// A tree of notes that reads its autoscaler in the first version.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Note)]
struct OldReader {
    #[provisioner(resource)]
    scaler: autoscaling_v1::HorizontalPodAutoscaler,
    #[provisioner(resource, from(scaler))]
    config: ConfigMap,
}

impl OldReader {
    fn scaler(note: &Note) -> autoscaling_v1::HorizontalPodAutoscaler {
        let mut scaler: autoscaling_v1::HorizontalPodAutoscaler =
            autoscaling_v1::HorizontalPodAutoscaler { metadata: named(&note.name_any()), ..scaler(note.spec.pause) };
        scaler.spec.target_cpu_utilization_percentage = Some(63);
        scaler
    }

    fn config(_: &Note, scaler: &autoscaling_v1::HorizontalPodAutoscaler) -> ConfigMap {
        let target = scaler.spec.target_cpu_utilization_percentage;
        holding("of-note", &format!("{target:?}"))
    }
}

/// A tree of shops that reads its autoscaler in the second version.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct NewReader {
    #[provisioner(resource)]
    scaler: autoscaling_v2::HorizontalPodAutoscaler,
    #[provisioner(resource, from(scaler))]
    config: ConfigMap,
}

impl NewReader {
    fn scaler(shop: &Shop) -> autoscaling_v2::HorizontalPodAutoscaler {
        let target = json!({"type": "Utilization", "averageUtilization": 64});
        let mut scaler: autoscaling_v2::HorizontalPodAutoscaler = scaler(shop.spec.extra);
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        scaler.spec.metrics = Some(vec![serde_json::from_value(metric).unwrap()]);
        scaler
    }

    fn config(_: &Shop, scaler: &autoscaling_v2::HorizontalPodAutoscaler) -> ConfigMap {
        let metrics = scaler.spec.metrics.as_deref().unwrap_or_default();
        let targets = metrics.iter().filter_map(|metric| metric.resource.as_ref()?.target.average_utilization);
        holding("of-shop", &format!("{:?}", targets.collect::<Vec<_>>()))
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Shop)]
struct BothReader {
    #[provisioner(resource)]
    first: autoscaling_v1::HorizontalPodAutoscaler,
    #[provisioner(resource)]
    second: autoscaling_v2::HorizontalPodAutoscaler,
    #[provisioner(resource, from(first, second))]
    config: ConfigMap,
}

impl BothReader {
    fn first(shop: &Shop) -> autoscaling_v1::HorizontalPodAutoscaler {
        scaler(shop.spec.extra)
    }

    fn second(shop: &Shop) -> autoscaling_v2::HorizontalPodAutoscaler {
        autoscaling_v2::HorizontalPodAutoscaler { metadata: named("other"), ..scaler(shop.spec.extra) }
    }

    fn config(
        _: &Shop,
        _: &autoscaling_v1::HorizontalPodAutoscaler,
        _: &autoscaling_v2::HorizontalPodAutoscaler,
    ) -> ConfigMap {
        holding("one", "")
    }
}

pub(super) async fn read(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Note, OldReader>().controls::<Shop, NewReader>();
    let mut running = site.start(&operator).await;
    site.create(&shop(ShopSpec::default())).await;
    site.create(&Note::new("note", NoteSpec { pause: false, text: "a".to_owned() })).await;
    let configs = site.api::<ConfigMap>();
    let says = async |name: &str, text: &str| {
        let fits = |config: &ConfigMap| entry(config, "text") == Some(text);
        until_object(&configs, name, &format!("says {text}"), fits).await;
    };
    says("of-note", "Some(63)").await;
    says("of-shop", "[64]").await;
    done(&site).await;
    // After a restart, the nodes read what the watches show, and not the answers to their writes.
    let before = site.settled().await;
    running.signal();
    running.end().await.unwrap();
    let mut running = site.run(&operator, RunOptions::default()).await;
    idle_pass(&site, json!({"text": "b"})).await;
    let writes = written(&site, &before).await.with(|entry| entry.subresource != "status");
    assert!(writes.is_empty(), "{writes}");
    assert_eq!(site.asked().await.since(&before).resource(AUTOSCALERS).verb("watch").len(), 2);
    running.signal();
    running.end().await.unwrap();

    let operator = site.operator().controls::<Shop, BothReader>();
    let refused = site.run(&operator, RunOptions::default()).await.end().await.unwrap_err();
    assert!(matches!(refused, RunError::ReadVersions { .. }), "{refused:?}");
    let why = "the tree of Shop reads HorizontalPodAutoscaler in the versions autoscaling/v1 and autoscaling/v2; use the type of \
               one version in all nodes that other nodes read";
    assert_eq!(refused.to_string(), why);
}
