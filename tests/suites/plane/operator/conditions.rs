//! Tests two operators of one kind: each has conditions of its own, or they report the clash.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use libtest_mimic::Trial;
use opgen::{RunOptions, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE, until_gone, until_object},
};
use serde_json::json;

use super::{
    kinds::{self, Note, NoteSpec, NoteTree},
    log,
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("conditions_that_another_operator_writes_keep_an_operator_from_starting", two_operators),
        case("conditions_of_two_operators_that_started_before_the_first_object_are_reported", started_before),
    ]
}

/// Makes nothing.
#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Look;

impl Provision<Note> for Look {
    async fn provision(_: &Context<'_, Note, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Note, Self>) -> Result<()> {
        Ok(())
    }
}

fn other(site: &Site, prefix: &str) -> Operator {
    let other = Operator::new("other").namespace(&site.namespace).namespaced().environment(site.environment());
    other.controls_with::<Note, Look>(|c| c.condition_prefix(prefix))
}

async fn two_operators(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Note, NoteTree>();
    let _running = site.start(&operator).await;
    site.create(&Note::new("one", NoteSpec { pause: false, text: "a".to_owned() })).await;
    until_object(&site.api::<Note>(), "one", "has a status", |note| note.status.is_some()).await;

    let namespace = &site.namespace;
    let options = || RunOptions::default().namespace(&site.namespace);
    let refused = other(&site, "").run_with(plane.client(), options(), std::future::pending()).await;
    let said = refused.err().map(|error| error.to_string());
    let expected = format!(
        "operator live writes the condition Available of Note {namespace}/one, too; give this controller a \
         `condition_prefix`, or if live is gone, remove its finalizer"
    );
    assert_eq!(said, Some(expected));
    let invalid = other(&site, "Ö").run_with(plane.client(), options(), std::future::pending()).await;
    assert!(invalid.is_err_and(|error| error.to_string().starts_with("condition prefix \"Ö\"")));

    let _other = Site::run_with(&other(&site, "Other"), plane.client(), options());
    let types = |note: &Note| -> Vec<String> {
        let status = note.status.as_ref();
        status.map(|status| status.conditions.iter().map(|held| held.type_.clone()).collect()).unwrap_or_default()
    };
    let both =
        |note: &Note| ["Available", "OtherAvailable"].iter().all(|type_| types(note).iter().any(|held| held == type_));
    until_object(&site.api::<Note>(), "one", "has the conditions of both", both).await;
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
}

async fn started_before(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (first, second) = (site.operator().controls::<Note, NoteTree>(), other(&site, ""));
    let first_run = site.start(&first).await;
    let second_run = site.run(&second, RunOptions::default()).await;
    for operator in [&first, &second] {
        wait::until("the operator has listed the notes", PATIENCE, async || {
            let text = operator.metrics().text().unwrap();
            let follows = r#"opgen_watches{resource="notes.live.example.com",state="following"} 1"#;
            if text.lines().any(|line| line == follows) { Ok(()) } else { Err(text) }
        })
        .await;
    }
    site.settled().await;
    site.create(&Note::new("one", NoteSpec { pause: false, text: "a".to_owned() })).await;
    let place = format!("writes the condition Available of Note {}/one, too; give this controller", site.namespace);
    wait::until("the clash is logged", PATIENCE, async || {
        let lines = log::lines_with(&["ERROR", "another operator writes the same conditions", &place]);
        if lines.is_empty() { Err("no line".to_owned()) } else { Ok(()) }
    })
    .await;

    // Both go on.
    site.patch::<Note>("one", &json!({"spec": {"text": "b"}})).await;
    until_object(&site.api::<ConfigMap>(), "one", "follows", |config| kinds::text(config) == "b").await;
    assert!(!first_run.has_ended() && !second_run.has_ended());
    site.delete::<Note>("one").await;
    until_gone(&site.api::<Note>(), "one").await;
}
