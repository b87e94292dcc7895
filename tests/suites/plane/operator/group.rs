//! Concurrent groups: who runs, and who speaks for all.

use std::{sync::Arc, time::Duration};

use libtest_mimic::Trial;
use opgen::For;
use opgen_tests::{Plane, case, wait::until_object};

use super::{
    kinds::{Diary, Errand, ErrandSpec, ErrandTree, Outcome, available},
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("group_c2_the_gravest_outcome_speaks_and_every_child_runs", gravest)]
}

/// From the gravest to the lightest, each with its reason in the condition.
const RANKS: [(Outcome, &str); 5] = [
    (Outcome::Terminal, "RoadClosed"),
    (Outcome::UserAction, "WrongAddress"),
    (Outcome::Unexpected, "Errored"),
    (Outcome::Yield, "NotYet"),
    (Outcome::Done, "Provisioned"),
];

async fn gravest(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let options = diary.clone();
    let operator = site.operator().controls_with::<For<Errand, Diary>, ErrandTree>(|controller| {
        controller.options(options).requeue_after(Duration::from_secs(60))
    });
    let _running = site.start(&operator).await;
    for (first_rank, (first, first_reason)) in RANKS.into_iter().enumerate() {
        for (second_rank, (second, second_reason)) in RANKS.into_iter().enumerate() {
            let name = format!("errand-{first_rank}-{second_rank}");
            site.create(&Errand::new(&name, ErrandSpec { first, second, ..ErrandSpec::default() })).await;
            let reason = if first_rank <= second_rank { first_reason } else { second_reason };
            let says = |errand: &Errand| {
                let status = errand.status.as_ref().map(|status| &status.standard);
                available(status).is_some_and(|(_, said, _)| said == reason)
            };
            until_object(&site.api::<Errand>(), &name, &format!("says {reason}"), says).await;
            let ran = ["first", "second"].map(|step| diary.times(&format!("{step} {name}")).len());
            assert!(ran.iter().all(|times| *times > 0), "{name}: {ran:?}");
        }
    }
    let asked = site.asked().await;
    assert!(asked.denied().is_empty(), "{}", asked.denied());
}
