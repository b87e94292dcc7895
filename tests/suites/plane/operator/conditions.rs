//! Two operators of one kind: each has conditions of its own, or one of them doesn't start.

use std::sync::Arc;

use libtest_mimic::Trial;
use opgen::{RunOptions, prelude::*};
use opgen_tests::{
    Plane, case,
    wait::{until_gone, until_object},
};

use super::{
    kinds::{Note, NoteSpec, NoteTree},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("conditions_that_another_operator_writes_keep_an_operator_from_starting", two_operators)]
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

async fn two_operators(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Note, NoteTree>();
    let _running = site.start(&operator).await;
    site.create(&Note::new("one", NoteSpec { pause: false, text: "a".to_owned() })).await;
    until_object(&site.api::<Note>(), "one", "has a status", |note| note.status.is_some()).await;

    let namespace = site.namespace.clone();
    let other = |prefix: &'static str| {
        let other = Operator::new("other").namespace(&namespace).namespaced().environment(site.environment());
        other.controls_with::<Note, Look>(|c| c.condition_prefix(prefix))
    };
    let options = || RunOptions::default().namespace(&site.namespace);
    let refused = other("").run_with(plane.client(), options(), std::future::pending()).await;
    let said = refused.err().map(|error| error.to_string());
    let expected = format!(
        "operator live writes the condition Available of Note {namespace}/one, too; give this controller a \
         `condition_prefix`, or if live is gone, remove its finalizer"
    );
    assert_eq!(said, Some(expected));
    let invalid = other("Ö").run_with(plane.client(), options(), std::future::pending()).await;
    assert!(invalid.is_err_and(|error| error.to_string().starts_with("condition prefix \"Ö\"")));

    let _other = Site::run_with(&other("Other"), plane.client(), options());
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
