//! What an object costs whose children are ready as soon as they are there.

use std::sync::Arc;

use kube::ResourceExt as _;
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_object},
};
use serde_json::json;

use super::{
    install,
    kinds::{Note, NoteSpec, NoteTree, available},
    site::Site,
    tally::{Tally, state_writes},
};

const COUNT: usize = 10;

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("a_creation_costs_its_children_and_one_write_with_the_finalizer_policy", with_the_policy),
        case("a_creation_costs_its_children_and_two_writes_without_the_finalizer_policy", without_the_policy),
    ]
}

async fn with_the_policy(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Note, NoteTree>();
    site.install(&operator).await;
    install::apply_quietly(&plane, install::generated(&operator).text("finalizer-policy.yaml").expect("a policy"))
        .await;
    let mut attempt = 0;
    // Until the server has read the schema of a new kind, no policy can be applied, and nothing is created.
    wait::until("the policy is in force", PATIENCE, async || {
        attempt += 1;
        let probe = note(&format!("probe-{attempt}"));
        let made = site.api::<Note>().create(&Default::default(), &probe).await.map_err(|error| error.to_string())?;
        if made.finalizers().is_empty() { Err("no finalizer".to_owned()) } else { Ok(()) }
    })
    .await;
    let _running = site.run(&operator, Default::default()).await;
    costs(&site, 1 + 1).await;
}

async fn without_the_policy(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let _running = site.start(&site.operator().controls::<Note, NoteTree>()).await;
    costs(&site, 1 + 2).await;
}

async fn costs(site: &Site, writes: usize) {
    let names: Vec<_> = (0..COUNT).map(|number| format!("note-{number}")).collect();
    for name in &names {
        site.create(&note(name)).await;
    }
    for name in &names {
        until_object(&site.api::<Note>(), name, "is available", is_available).await;
    }
    let created = site.settled().await;
    Tally::of(&state_writes(&created), &names).is("writes of a creation", writes);
    Tally::of(&created.verb("get"), &names).is("reads of a creation", 0);

    for name in &names {
        site.patch::<Note>(name, &json!({"spec": {"text": "another"}})).await;
    }
    let changed = |note: &Note| note.metadata.generation == Some(2) && is_available(note);
    for name in &names {
        until_object(&site.api::<Note>(), name, "is available again", changed).await;
    }
    let all = site.settled().await;
    let later = all.since(&created);
    Tally::of(&state_writes(&later), &names).is("writes of a change", 1 + 1);
    assert!(later.verb("get").is_empty() && all.denied().is_empty(), "{all}");
}

fn note(name: &str) -> Note {
    Note::new(name, NoteSpec { pause: false, text: "some".to_owned() })
}

fn is_available(note: &Note) -> bool {
    let status = note.status.as_ref();
    let observed = status.and_then(|status| status.observed_generation);
    available(status).is_some_and(|(truth, ..)| truth == "True") && observed == note.metadata.generation
}
