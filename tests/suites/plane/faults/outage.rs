//! An API server that is away, and one that forgets.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::ConfigMap;
use libtest_mimic::Trial;
use opgen::{Backoff, RunOptions};
use opgen_tests::{
    Options, Plane, Port, case_on,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde_json::json;

use crate::operator::{
    example::{Installed, WEBAPP},
    fleet::Fleet,
    kinds::{self, Note, NoteSpec, NoteTree, available},
    program::readiness,
    site::{Running, Site},
    tally::state_writes,
};

const NOTES: usize = 20;
const OUTAGE: Duration = Duration::from_secs(30);
const SHORT_OUTAGE: Duration = Duration::from_secs(8);

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case_on("an_outage_of_half_a_minute_is_survived", Options::served(), outage),
        case_on("an_outage_is_one_line_for_each_kind_when_it_begins_and_one_when_it_ends", Options::served(), logged),
        case_on("a_watch_that_expires_misses_nothing", Options::served(), expiry),
    ]
}

async fn notes(plane: &Arc<Plane>, options: RunOptions) -> (Site, Running) {
    let site = Site::new(plane).await;
    let soon = Backoff::Fixed(Duration::from_secs(1));
    let operator = site.operator().controls_with::<Note, NoteTree>(|notes| notes.backoff(soon));
    site.install(&operator).await;
    let running = site.run(&operator, options).await;
    for number in 0..NOTES {
        site.create(&note(number)).await;
    }
    for number in 0..NOTES {
        until_object(&site.api::<Note>(), &name(number), "is available", is_available).await;
    }
    site.settled().await;
    (site, running)
}

fn name(number: usize) -> String {
    format!("note-{number}")
}

fn note(number: usize) -> Note {
    Note::new(&name(number), NoteSpec { pause: false, text: "before".to_owned() })
}

async fn outage(plane: Arc<Plane>) {
    let port = Port::reserve();
    let probes = port.address();
    let (site, running) = notes(&plane, RunOptions::default().probes(probes)).await;
    let before = site.asked().await;
    plane.stop_apiserver();
    let begin = Instant::now();
    wait::until("half a minute is over", PATIENCE, async || {
        let (code, text) = readiness(probes).await?;
        let over = begin.elapsed();
        if over < OUTAGE { Err(format!("{over:?}: {code} {text}")) } else { Ok(()) }
    })
    .await;
    let (code, text) = readiness(probes).await.unwrap();
    assert_eq!(code, 503, "{text}");
    plane.start_apiserver().await;
    everything_is_followed(&site, &running).await;
    let (code, text) = readiness(probes).await.unwrap();
    assert_eq!(code, 200, "{text}");
    let untouched = state_writes(&site.asked().await.since(&before)).name(&name(9));
    assert!(untouched.is_empty(), "{untouched}");
}

/// The whole log of a program, with what the crates that it is made of write.
async fn logged(plane: Arc<Plane>) {
    let installed = Installed::new(WEBAPP, plane).await;
    let mut program = installed.start().await;
    let fleet = Fleet::new(&installed.plane, 3).await;
    fleet.create(&fleet.names).await;
    fleet.available(3).await;
    // A pass that the outage interrupts is reported by itself.
    installed.settled(&installed.earlier).await;
    let before = program.process.log().len();
    installed.plane.stop_apiserver();
    let begin = Instant::now();
    wait::until("several attempts have failed", PATIENCE, async || match begin.elapsed() {
        over if over < SHORT_OUTAGE => Err(format!("{over:?}")),
        _ => Ok(()),
    })
    .await;
    installed.plane.start_apiserver().await;
    program.ready().await;
    let lines = wait::until("all watches work again", PATIENCE, async || {
        let lines: Vec<_> = program.process.log()[before..].lines().map(str::to_owned).collect();
        let of = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
        let (failed, works) = (of("the watch failed; retrying"), of("the watch recovered"));
        if failed > 0 && failed == works { Ok(lines) } else { Err(lines.join("\n")) }
    })
    .await;
    let text = lines.join("\n");
    for kind in ["WebApp", "ConfigMap", "Deployment", "Service"] {
        let field = format!("kind={kind}");
        let of_kind = lines.iter().filter(|line| line.split(' ').any(|word| word == field)).count();
        assert_eq!(of_kind, 2, "{kind}:\n{text}");
    }
    // A server that has just started may ask for time, which the client logs once. Events are counted.
    let known = |line: &&String| {
        ["the watch ", "the API server is overloaded", "events were not recorded while"]
            .iter()
            .any(|words| line.contains(words))
    };
    assert_eq!(lines.iter().filter(known).count(), lines.len(), "nothing else is said of an outage:\n{text}");
}

async fn expiry(plane: Arc<Plane>) {
    let (site, running) = notes(&plane, RunOptions::default()).await;
    let before = site.asked().await;
    plane.expire_watches().await;
    everything_is_followed(&site, &running).await;
    let since = site.asked().await.since(&before);
    for resource in ["notes", "configmaps"] {
        assert!(!since.verb("list").resource(resource).is_empty(), "{resource} were not listed again:\n{since}");
    }
    let untouched = state_writes(&since).name(&name(9));
    assert!(untouched.is_empty(), "{untouched}");
}

/// What happens before the operator has its watches back is not lost, and neither is what happens later.
async fn everything_is_followed(site: &Site, running: &Running) {
    for step in 0..2 {
        let (edited, deleted, bereft, new) = (step, 2 + step, 4 + step, NOTES + step);
        site.patch::<Note>(&name(edited), &json!({"spec": {"text": "after"}})).await;
        site.delete::<Note>(&name(deleted)).await;
        site.delete::<ConfigMap>(&name(bereft)).await;
        site.create(&note(new)).await;
        let configs = site.api::<ConfigMap>();
        until_object(&configs, &name(edited), "follows", |config| kinds::text(config) == "after").await;
        until_gone(&site.api::<Note>(), &name(deleted)).await;
        until_gone(&configs, &name(deleted)).await;
        until_object(&configs, &name(bereft), "is back", |_| true).await;
        until_object(&site.api::<Note>(), &name(new), "is available", is_available).await;
    }
    assert!(!running.has_ended());
    site.settled().await;
}

fn is_available(note: &Note) -> bool {
    available(note.status.as_ref()).is_some_and(|(truth, ..)| truth == "True")
}
