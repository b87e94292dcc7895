//! Connections that stay open and bring nothing: each call and each watch ends by its timeout, and nothing is lost.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use libtest_mimic::Trial;
use opgen::{Backoff, Operator, RunOptions, Timeouts};
use opgen_tests::{
    Plane, Port, Proxy, case_served,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde_json::json;

use crate::operator::{
    kinds::{self, Note, NoteSpec, NoteTree, available},
    program::readiness,
    site::{NAME, Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_served("a_server_that_accepts_and_stays_silent_is_given_up_and_found_again", from_the_start),
        case_served("connections_that_fall_silent_are_given_up_and_nothing_is_lost", in_the_middle),
        case_served("an_answer_that_stops_in_the_middle_is_given_up_and_asked_for_again", within_an_answer),
    ]
}

/// Short, since a test waits for them; far longer than an answer takes here.
fn timeouts() -> Timeouts {
    let time = Duration::from_secs(2);
    Timeouts::default().connect(time).response(time).body(time).watch(time)
}

/// An operator of notes, and a proxy before its API server.
struct Behind {
    site: Site,
    operator: Operator,
    proxy: Proxy,
    port: Port,
}

impl Behind {
    async fn new(plane: &Arc<Plane>) -> Self {
        let (site, soon) = (Site::new(plane).await, Backoff::Fixed(Duration::from_millis(300)));
        let operator =
            site.operator().timeouts(timeouts()).controls_with::<Note, NoteTree>(|notes| notes.backoff(soon));
        site.install(&operator).await;
        let server = plane.service_account(&site.namespace, NAME).await.server();
        Self { site, operator, proxy: Proxy::start(server).await.unwrap(), port: Port::reserve() }
    }

    async fn run(&self) -> Running {
        let mut config = self.site.plane.service_account(&self.site.namespace, NAME).await.config();
        config.cluster_url = format!("https://{}", self.proxy.address()).parse().unwrap();
        let client = timeouts().client(config).unwrap();
        let options = RunOptions::default().probes(self.port.address());
        Site::run_with(&self.operator, client, options)
    }

    async fn note(&self, name: &str, text: &str) {
        self.site.create(&Note::new(name, NoteSpec { pause: false, text: text.to_owned() })).await;
    }

    async fn is_available(&self, name: &str) {
        let fits = |note: &Note| available(note.status.as_ref()).is_some_and(|(is, ..)| is == "True");
        until_object(&self.site.api::<Note>(), name, "is available", fits).await;
    }

    async fn says(&self, code: u16, words: &str) {
        wait::until(format!("readiness says {code} and `{words}`"), PATIENCE, async || {
            match readiness(self.port.address()).await? {
                (said, text) if said == code && text.contains(words) => Ok(()),
                (said, text) => Err(format!("{said}: {text}")),
            }
        })
        .await;
    }
}

async fn from_the_start(plane: Arc<Plane>) {
    let behind = Behind::new(&plane).await;
    behind.proxy.fall_silent();
    let _running = behind.run().await;
    behind.note("one", "a").await;
    behind.says(503, "Note: failed to list Note").await;
    behind.proxy.speak();
    behind.is_available("one").await;
    behind.says(200, "Note: ok").await;
}

async fn in_the_middle(plane: Arc<Plane>) {
    let behind = Behind::new(&plane).await;
    let _running = behind.run().await;
    for name in ["edited", "deleted"] {
        behind.note(name, "a").await;
        behind.is_available(name).await;
    }
    behind.site.settled().await;
    behind.proxy.fall_silent();
    behind.site.patch::<Note>("edited", &json!({"spec": {"text": "b"}})).await;
    behind.site.delete::<Note>("deleted").await;
    behind.note("new", "a").await;
    behind.says(503, "Note: failed to watch Note").await;
    behind.proxy.speak();
    let configs = behind.site.api::<ConfigMap>();
    until_object(&configs, "edited", "follows", |config| kinds::text(config) == "b").await;
    until_gone(&behind.site.api::<Note>(), "deleted").await;
    behind.is_available("new").await;
    behind.says(200, "Note: ok").await;
    assert!(behind.operator.counters().timeouts() > 0);
}

async fn within_an_answer(plane: Arc<Plane>) {
    let behind = Behind::new(&plane).await;
    for number in 0..20 {
        behind.note(&format!("note-{number}"), &"a".repeat(20_000)).await;
    }
    // Enough to shake hands and to begin an answer, and not for the list of the notes.
    behind.proxy.fall_silent_after(100_000);
    let _running = behind.run().await;
    behind.says(503, "was not complete within 2s").await;
    behind.proxy.speak();
    for number in 0..20 {
        behind.is_available(&format!("note-{number}")).await;
    }
    behind.says(200, "Note: ok").await;
}
