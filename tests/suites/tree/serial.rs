//! What every node promises, and serial groups (unikorn §3.1, §3.2).
//!
//! A group without children is refused by the macro ("`Tree` has no children"): the cases `item` of tests/diagnostics. So
//! S3's and C3's empty lists can't be written.

use opgen::{
    prelude::*,
    testing::{Answer, Recorder, Trial},
};

use super::kind::{App, app};

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Pair {
    first: Recorder,
    second: Recorder,
}

const NOT_DONE: [Answer; 4] = [Answer::Yield, Answer::Fail, Answer::UserAction, Answer::Terminal];

fn kind_of(outcome: &Result<()>) -> Answer {
    match outcome {
        Ok(()) => Answer::Ok,
        Err(Error::Yield { .. }) => Answer::Yield,
        Err(Error::UserAction { .. }) => Answer::UserAction,
        Err(Error::Terminal { .. }) => Answer::Terminal,
        Err(_) => Answer::Fail,
    }
}

#[tokio::test]
async fn group_both_ways_can_be_gone_any_number_of_times() {
    let trial = Trial::<App, Pair>::new(app(&[]));
    for _ in 0..3 {
        assert!(trial.up().await.is_ok());
        assert_eq!(trial.left().len(), 2);
    }
    for _ in 0..3 {
        assert!(trial.down().await.is_ok());
        assert!(trial.left().is_empty());
    }
}

#[tokio::test]
async fn group_removal_succeeds_only_when_all_is_gone() {
    let trial = Trial::<App, Pair>::new(app(&[]));
    assert!(trial.up().await.is_ok());
    for (waiting, left) in [("second", 2), ("first", 1)] {
        trial.answer(waiting, Answer::Yield);
        assert!(matches!(trial.down().await, Err(Error::Yield { .. })));
        assert_eq!(trial.left().len(), left);
        trial.answer(waiting, Answer::Ok);
    }
    assert!(trial.down().await.is_ok());
    assert!(trial.left().is_empty());
}

#[tokio::test]
async fn group_s1_the_error_of_the_child_comes_back_unchanged() {
    let trial = Trial::<App, Pair>::new(app(&[]));
    for answer in NOT_DONE {
        for node in ["second", "first"] {
            trial.answer(node, answer);
            let outcome = trial.up().await;
            assert_eq!(kind_of(&outcome), answer);
            assert!(outcome.unwrap_err().to_string().contains(node));
        }
        trial.answer("first", Answer::Ok);
    }
}

#[tokio::test]
async fn group_s1_what_comes_behind_a_child_that_is_not_done_is_untouched() {
    let trial = Trial::<App, Pair>::new(app(&[]));
    for answer in NOT_DONE {
        trial.answer("first", answer);
        assert_eq!(kind_of(&trial.up().await), answer);
        assert_eq!(trial.calls().len(), 1);
        assert_eq!(trial.left().into_iter().collect::<Vec<_>>(), ["first"]);
    }
}

#[tokio::test]
async fn group_s2_on_the_way_down_the_last_child_stops_the_first() {
    let trial = Trial::<App, Pair>::new(app(&[]));
    assert!(trial.up().await.is_ok());
    trial.called();
    for answer in NOT_DONE {
        trial.answer("second", answer);
        let outcome = trial.down().await;
        assert_eq!(kind_of(&outcome), answer);
        assert!(outcome.unwrap_err().to_string().contains("second"));
        let calls = trial.calls();
        assert_eq!((calls.len(), calls[0].node.as_str()), (1, "second"));
    }
    trial.answer("second", Answer::Ok);
    trial.answer("first", Answer::Yield);
    assert!(trial.down().await.is_err());
    assert_eq!(trial.called(), ["deprovision second", "deprovision first: yield"]);
}

#[tokio::test]
async fn group_s3_nothing_is_rolled_back() {
    let trial = Trial::<App, Pair>::new(app(&[]));
    trial.answer("second", Answer::Terminal);
    assert!(trial.up().await.is_err());
    assert!(trial.calls().iter().all(|call| call.asked == opgen::testing::Asked::Provision));
    assert!(trial.left().contains("first"));
}

#[tokio::test]
async fn group_s3_every_pass_begins_at_the_first_child() {
    let trial = Trial::<App, Pair>::new(app(&[]));
    trial.answer("second", Answer::Yield);
    for _ in 0..3 {
        assert!(trial.up().await.is_err());
        assert_eq!(trial.called(), ["provision first", "provision second: yield"]);
    }
    assert!(trial.down().await.is_err());
    trial.called();
    trial.answer("second", Answer::Ok);
    trial.answer("first", Answer::Yield);
    for _ in 0..3 {
        assert!(trial.down().await.is_err());
        assert_eq!(trial.called(), ["deprovision second", "deprovision first: yield"]);
    }
}
