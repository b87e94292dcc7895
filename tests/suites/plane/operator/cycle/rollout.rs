//! An object that goes on each time that one of many others is done: its passes and theirs cause each other, and end.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use opgen::{NamespacedName, ObjectKey, prelude::*};
use opgen_tests::{Plane, wait::until_object};

use super::{Numbers, number, numbered};
use crate::operator::{
    kinds::{Errand, ErrandSpec, Note, NoteSpec},
    site::Site,
};

/// The number of objects that take turns, twice as many as a cycle needs repetitions.
const MEMBERS: u64 = 30;

/// Its ConfigMap holds the number of the note whose turn it is.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = For<Errand, Numbers>)]
struct RolloutTree {
    #[provisioner(resource)]
    turn: ConfigMap,
}

impl RolloutTree {
    fn turn(draft: &Draft<'_, For<Errand, Numbers>>) -> Result<ConfigMap> {
        let namespace = draft.metadata.namespace.as_deref().unwrap_or_default();
        let is_waiting = |number: &u64| {
            draft.options().read(|objects| objects.get(namespace, &format!("done-{number}")).is_none()).unwrap_or(true)
        };
        numbered("turn", (0..MEMBERS).find(is_waiting).unwrap_or(MEMBERS))
    }
}

/// Its ConfigMap exists from its turn on.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = For<Note, Numbers>)]
struct MemberTree {
    #[provisioner(resource)]
    done: Option<ConfigMap>,
}

impl MemberTree {
    fn done(draft: &Draft<'_, For<Note, Numbers>>) -> Result<Option<ConfigMap>> {
        let namespace = draft.metadata.namespace.as_deref().unwrap_or_default();
        let turn = draft.options().read(|objects| objects.get(namespace, "turn").copied())?;
        let own = draft.spec.text.parse::<u64>().unwrap_or(MEMBERS);
        turn.is_some_and(|turn| turn >= own).then(|| numbered(&format!("done-{own}"), own)).transpose()
    }
}

pub(super) async fn by_turns(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (for_errands, for_notes) = (Numbers::default(), Numbers::default());
    let named = |key: &ObjectKey, name: String| NamespacedName { name, namespace: key.namespace().map(str::to_owned) };
    let rollout = move |key: &ObjectKey, _: &u64| key.name().starts_with("done-").then(|| named(key, "one".to_owned()));
    let member = move |key: &ObjectKey, turn: &u64| (key.name() == "turn").then(|| named(key, format!("n{turn}")));
    let operator = site
        .operator()
        .controls_with::<For<Errand, Numbers>, RolloutTree>(|controller| {
            controller.options(for_errands.clone()).lister::<ConfigMap, _, _, _>(&for_errands, number, rollout)
        })
        .controls_with::<For<Note, Numbers>, MemberTree>(|controller| {
            controller.options(for_notes.clone()).lister::<ConfigMap, _, _, _>(&for_notes, number, member)
        });
    let _running = site.start(&operator).await;
    for number in 0..MEMBERS {
        site.create(&Note::new(&format!("n{number}"), NoteSpec { pause: false, text: number.to_string() })).await;
    }
    site.create(&Errand::new("one", ErrandSpec::default())).await;
    until_object(&site.api::<ConfigMap>(), "turn", "has come to all", |config| number(config) == MEMBERS).await;
    site.settled().await;
    assert_eq!(operator.counters().fights(), 0);
}
