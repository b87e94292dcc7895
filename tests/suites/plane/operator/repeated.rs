//! The log has a failure and a yield when they change, and then with their number.

use std::{sync::Arc, time::Duration};

use libtest_mimic::Trial;
use opgen::{Backoff, For};
use opgen_tests::{
    Plane, case,
    wait::{self, PATIENCE},
};
use serde_json::json;

use super::{
    kinds::{Diary, Errand, ErrandSpec, ErrandTree, Outcome},
    log,
    site::Site,
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("log_a_repeated_outcome_is_logged_when_it_changes_and_at_powers_of_two", repeated)]
}

/// Passes with one outcome. Their lines are those of the first one, and of the second, the fourth, ...
const PASSES: usize = 20;

async fn repeated(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let options = diary.clone();
    let operator = site.operator().controls_with::<For<Errand, Diary>, ErrandTree>(|controller| {
        let pause = Duration::from_millis(20);
        controller.options(options).requeue_after(pause).backoff(Backoff::Fixed(pause))
    });
    let _running = site.start(&operator).await;
    let object = format!("object={}/one", site.namespace);
    site.create(&Errand::new("one", ErrandSpec { first: Outcome::Unexpected, ..ErrandSpec::default() })).await;
    passes(&diary, Outcome::Unexpected).await;
    is_repeated(&object, "the pass failed", "ERROR");
    site.patch::<Errand>("one", &json!({"spec": {"first": "Yield"}})).await;
    passes(&diary, Outcome::Yield).await;
    is_repeated(&object, "the pass yielded", "DEBUG");
    site.patch::<Errand>("one", &json!({"spec": {"first": "Unexpected"}})).await;
    let failures = || log::lines_with(&[&object, "the pass failed"]);
    let before = failures().len();
    wait::until("the failure is logged again", PATIENCE, async || {
        failures().get(before).map(drop).ok_or_else(|| format!("{:#?}", failures()))
    })
    .await;
    assert_eq!(number(&failures()[before]), None, "it is another outcome than the one before");
    site.patch::<Errand>("one", &json!({"spec": {"first": "Done"}})).await;
    wait::until("the success is logged", PATIENCE, async || {
        let lines = log::lines_with(&[&object, "the pass succeeded again"]);
        if lines.len() == 1 { Ok(()) } else { Err(format!("{lines:#?}")) }
    })
    .await;
}

/// Waits until so many passes have had an outcome.
async fn passes(diary: &Diary, outcome: Outcome) {
    let line = "first one";
    let before = diary.times(line).len();
    wait::until(format!("there are passes with {outcome:?}"), PATIENCE, async || {
        let seen = diary.times(line).len() - before;
        if seen > PASSES { Ok(()) } else { Err(seen.to_string()) }
    })
    .await;
}

/// Checks the lines with this text about an object.
#[track_caller]
fn is_repeated(object: &str, text: &str, level: &str) {
    let lines = log::lines_with(&[object, text]);
    let numbers: Vec<_> = lines.iter().map(|line| number(line)).collect();
    assert!(numbers.len() >= 5, "{lines:#?}");
    let expected = std::iter::once(None).chain((1..).map(|power| Some(1_u32 << power)));
    assert!(numbers.iter().copied().eq(expected.take(numbers.len())), "{lines:#?}");
    assert!(lines.iter().all(|line| line.contains(level)), "{lines:#?}");
}

/// The number of repetitions in a line.
fn number(line: &str) -> Option<u32> {
    line.split_once(" repeated=")?.1.split(' ').next()?.parse().ok()
}
