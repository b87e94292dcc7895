//! Kinds that come later than their operator, and go before it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResourceExt as _;
use libtest_mimic::Trial;
use opgen::{Backoff, RunOptions};
use opgen_tests::{
    Plane, Port, case_served,
    wait::{self, PATIENCE, until_gone, until_object},
};

use crate::operator::{
    install,
    kinds::{Comet, CometSpec, CometTree, Sky, SkySpec, SkyTree, available},
    program::readiness,
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case_served(
        "a_kind_that_comes_late_is_waited_for_and_one_that_is_made_anew_is_followed_again",
        comes_and_goes,
    )]
}

/// The comet is a kind of its own and what the sky is made of.
async fn comes_and_goes(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let soon = Duration::from_millis(500);
    let operator = site.operator().controls_with::<Comet, CometTree>(|comets| comets.backoff(Backoff::Fixed(soon)));
    let operator =
        operator.controls_with::<Sky, SkyTree>(|skies| skies.backoff(Backoff::Fixed(soon)).requeue_after(soon));
    site.grant(&operator).await;
    let port = Port::reserve();
    let probes = port.address();
    let _running = site.run(&operator, RunOptions::default().probes(probes)).await;
    for kind in ["Comet", "Sky"] {
        is_said(probes, 503, &format!("{kind}: the cluster does not serve this kind")).await;
    }

    let sky = install::generated(&operator);
    install::apply_quietly(&plane, sky.text("base/crds/live.example.com_skies.yaml").expect("a definition")).await;
    plane.until_established(Sky::crd_name()).await;
    site.create(&Sky::new("one", SkySpec { text: "a".to_owned() })).await;
    sky_says(&site, "KindMissing", "the cluster does not serve Comet").await;
    is_said(probes, 503, "Sky: ok").await;

    for round in ["first", "second"] {
        let comets = sky.text("base/crds/live.example.com_comets.yaml").expect("a definition");
        install::apply_quietly(&plane, comets).await;
        plane.until_established(Comet::crd_name()).await;
        sky_says(&site, "Provisioned", "").await;
        is_said(probes, 200, "Comet: ok").await;
        site.create(&Comet::new(round, CometSpec { text: "b".to_owned() })).await;
        for name in ["one", round] {
            until_object(&site.api::<ConfigMap>(), name, "is there", |_| true).await;
        }
        plane.delete_crd(Comet::crd_name()).await;
        for name in ["one", round] {
            until_gone(&site.api::<ConfigMap>(), name).await;
        }
        is_said(probes, 503, "Comet: the cluster does not serve this kind").await;
        sky_says(&site, "KindMissing", "the cluster does not serve Comet").await;
    }
    let asked = site.asked().await;
    // A definition that is being deleted lets nothing new in, and says so with the code of a missing permission.
    let denied = asked.denied().with(|entry| entry.resource != "comets");
    assert!(denied.is_empty(), "{denied}");
}

async fn sky_says(site: &Site, reason: &str, sentence: &str) {
    let says =
        |sky: &Sky| available(sky.status.as_ref()).is_some_and(|(_, why, text)| (why, text) == (reason, sentence));
    until_object(&site.api::<Sky>(), "one", &format!("says `{sentence}`"), says).await;
}

async fn is_said(probes: SocketAddr, code: u16, line: &str) {
    wait::until(format!("readiness says {code} and `{line}`"), PATIENCE, async || match readiness(probes).await? {
        (said, text) if said == code && text.contains(line) => Ok(()),
        (said, text) => Err(format!("{said}: {text}")),
    })
    .await;
}
