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

/// The lines of one outcome that are waited for: those of the passes 1, 2, 4, 8 and 16.
const LINES: usize = 5;

async fn repeated(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls_with::<For<Errand, Diary>, ErrandTree>(|controller| {
        let pause = Duration::from_millis(20);
        controller.options(Diary::default()).requeue_after(pause).backoff(Backoff::Fixed(pause))
    });
    let _running = site.start(&operator).await;
    let object = format!("object={}/one", site.namespace);
    site.create(&Errand::new("one", ErrandSpec { first: Outcome::Unexpected, ..ErrandSpec::default() })).await;
    is_repeated(&object, "the pass failed", "ERROR").await;
    site.patch::<Errand>("one", &json!({"spec": {"first": "Yield"}})).await;
    is_repeated(&object, "the pass yielded", "DEBUG").await;
    let failures = || log::lines_with(&[&object, "the pass failed"]);
    let before = failures().len();
    site.patch::<Errand>("one", &json!({"spec": {"first": "Unexpected"}})).await;
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

/// Waits for the lines with this text about an object, and checks them.
async fn is_repeated(object: &str, text: &str, level: &str) {
    let lines = wait::until(format!("`{text}` is logged again and again"), PATIENCE, async || {
        let lines = log::lines_with(&[object, text]);
        if lines.len() < LINES { Err(format!("{lines:#?}")) } else { Ok(lines) }
    })
    .await;
    let numbers: Vec<_> = lines.iter().map(|line| number(line)).collect();
    let expected = std::iter::once(None).chain((1..).map(|power| Some(1_u32 << power)));
    assert!(numbers.iter().copied().eq(expected.take(numbers.len())), "{lines:#?}");
    assert!(lines.iter().all(|line| line.contains(level)), "{lines:#?}");
}

/// The number of repetitions in a line.
fn number(line: &str) -> Option<u32> {
    line.split_once(" repeated=")?.1.split(' ').next()?.parse().ok()
}
