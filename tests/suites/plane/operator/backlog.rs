//! Tests that a user's edit is reconciled before the objects of the initial list.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Resource as _, ResourceExt as _,
    api::{Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen_tests::{Plane, case, wait::until_object};
use serde_json::json;

use super::{
    kinds::{self, Note, NoteSpec, NoteTree},
    site::{NAME, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("backlog_the_change_of_a_user_goes_before_listed_objects", user_first)]
}

const COUNT: usize = 500;
/// Passes over other objects between a change of a user and its pass: each of the sixteen workers has one under way, and some
/// begin before the watch shows the change.
const BETWEEN: usize = 64;

/// There are owners with children when the operator starts, and the lists of both are news of all owners. The clock of the
/// sandbox stands still until all passes are over, so passes are counted.
async fn user_first(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let last = format!("note-{}", COUNT - 1);
    let (begun, edited) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Mutex<Option<(usize, Instant)>>>::default());
    let served = Arc::<Mutex<Option<(usize, Instant)>>>::default();
    let observed = site.environment().observed({
        let (api, last, edited, served) = (site.api::<Note>(), last.clone(), edited.clone(), served.clone());
        move |pass| {
            let passes = {
                let mut begun = begun.lock().unwrap();
                begun.push(pass.name.to_owned());
                begun.len()
            };
            if passes == 20 {
                let (api, last, begun, edited) = (api.clone(), last.clone(), begun.clone(), edited.clone());
                tokio::spawn(async move {
                    let patch = Patch::Merge(json!({"spec": {"text": "now"}}));
                    api.patch(&last, &PatchParams::default(), &patch).await.unwrap();
                    *edited.lock().unwrap() = Some((begun.lock().unwrap().len(), Instant::now()));
                });
            }
            if pass.name == last && edited.lock().unwrap().is_some() {
                served.lock().unwrap().get_or_insert((passes, Instant::now()));
            }
            Box::new(|_| {})
        }
    });
    let operator = site.operator().environment(observed).controls::<Note, NoteTree>();
    site.install(&operator).await;
    for number in 0..COUNT {
        let note = site.create(&Note::new(&format!("note-{number}"), NoteSpec::default())).await;
        let mut config = ConfigMap::default();
        config.metadata.name = note.metadata.name.clone();
        config.metadata.owner_references = Some(note.controller_owner_ref(&()).into_iter().collect());
        config.labels_mut().insert("app.kubernetes.io/managed-by".to_owned(), NAME.to_owned());
        site.create(&config).await;
    }
    let _running = site.run(&operator, Default::default()).await;
    until_object(&site.api::<ConfigMap>(), &last, "is made anew", |config| kinds::text(config) == "now").await;
    let ((before, asked), (after, begun)) = (edited.lock().unwrap().unwrap(), served.lock().unwrap().unwrap());
    println!("a change after {before} of {COUNT} passes waited for {} others, {:?}", after - before, begun - asked);
    assert!(before < COUNT / 2 && after - before <= BETWEEN, "pass {after} is that of a change after {before} passes");
}
