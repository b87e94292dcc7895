//! Tests that a user's edit, and the change of a child, are reconciled before the objects of the initial list.

use std::sync::{Arc, Mutex};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Resource as _, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams},
};
use libtest_mimic::Trial;
use opgen_tests::{
    Plane, case,
    wait::{PATIENCE, until, until_object},
};
use serde_json::json;

use super::{
    kinds::{self, Note, NoteSpec, NoteTree},
    site::{NAME, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("backlog_the_changes_of_a_user_and_of_a_child_go_before_listed_objects", changes_first)]
}

const COUNT: usize = 500;
/// Passes over other objects between a change and its pass: each of the sixteen workers has one under way, and some
/// begin before the watch shows the change.
const BETWEEN: usize = 64;

/// A user changes the first of these objects, and the child of the second is deleted.
const CHANGED: [usize; 2] = [COUNT - 1, COUNT - 2];

/// For each change: how many passes had begun when it was made, and when its own began.
type Marks = Arc<Mutex<[[Option<usize>; 2]; 2]>>;

fn name(number: usize) -> String {
    format!("note-{number}")
}

/// There are owners with children when the operator starts, and the lists of both are news of all owners. The clock of the
/// sandbox stands still until all passes are over, so passes are counted.
async fn changes_first(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let (begun, marks) = (Arc::<Mutex<usize>>::default(), Marks::default());
    let observed = site.environment().observed({
        let (notes, configs, marks) = (site.api::<Note>(), site.api::<ConfigMap>(), marks.clone());
        move |pass| {
            let passes = {
                let mut begun = begun.lock().unwrap();
                *begun += 1;
                *begun
            };
            if passes == 20 {
                let (notes, configs, marks, begun) = (notes.clone(), configs.clone(), marks.clone(), begun.clone());
                tokio::spawn(async move {
                    let mark = |change: usize| {
                        let passes = *begun.lock().unwrap();
                        marks.lock().unwrap()[change][0] = Some(passes);
                    };
                    let patch = Patch::Merge(json!({"spec": {"text": "now"}}));
                    // Before each request: the pass may begin before its response is here.
                    mark(0);
                    notes.patch(&name(CHANGED[0]), &PatchParams::default(), &patch).await.unwrap();
                    mark(1);
                    configs.delete(&name(CHANGED[1]), &DeleteParams::default()).await.unwrap();
                });
            }
            for (changed, [made, served]) in CHANGED.into_iter().zip(marks.lock().unwrap().iter_mut()) {
                if made.is_some() && pass.name == name(changed) {
                    served.get_or_insert(passes);
                }
            }
            Box::new(|_| {})
        }
    });
    let operator = site.operator().environment(observed).controls::<Note, NoteTree>();
    site.install(&operator).await;
    for number in 0..COUNT {
        let note = site.create(&Note::new(&name(number), NoteSpec::default())).await;
        let mut config = ConfigMap::default();
        config.metadata.name = note.metadata.name.clone();
        config.metadata.owner_references = Some(note.controller_owner_ref(&()).into_iter().collect());
        config.labels_mut().insert("app.kubernetes.io/managed-by".to_owned(), NAME.to_owned());
        site.create(&config).await;
    }
    let _running = site.run(&operator, Default::default()).await;
    let configs = site.api::<ConfigMap>();
    until_object(&configs, &name(CHANGED[0]), "is made anew", |config| kinds::text(config) == "now").await;
    let passes = until("both changes have had their pass", PATIENCE, async || {
        let marks = *marks.lock().unwrap();
        let [[Some(edited), Some(own)], [Some(deleted), Some(of_owner)]] = marks else {
            return Err(format!("{marks:?}"));
        };
        Ok([(edited, own), (deleted, of_owner)])
    })
    .await;
    for (what, (made, served)) in ["a user", "a child"].into_iter().zip(passes) {
        println!("a change of {what} after {made} of {COUNT} passes waited for {} others", served - made);
        assert!(made < COUNT / 2 && served - made <= BETWEEN, "{what}: made after {made} passes, served by {served}");
    }
    let is_new = |config: &ConfigMap| config.metadata.annotations.is_some();
    until_object(&configs, &name(CHANGED[1]), "is created again", is_new).await;
}
