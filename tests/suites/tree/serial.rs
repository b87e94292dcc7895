//! What every node promises, and serial groups (unikorn §3.1, §3.2).
//!
//! A group without children is refused by the macro ("`Tree` has no children"): the cases `item` of tests/diagnostics. So
//! S3's and C3's empty lists can't be written.

use opgen::{
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
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
    let rehearsal = TreeHarness::<App, Pair>::new(app(&[]));
    for _ in 0..3 {
        assert!(rehearsal.up().await.is_ok());
        assert_eq!(rehearsal.provisioned_nodes().len(), 2);
    }
    for _ in 0..3 {
        assert!(rehearsal.down().await.is_ok());
        assert!(rehearsal.provisioned_nodes().is_empty());
    }
}

#[tokio::test]
async fn group_removal_succeeds_only_when_all_is_gone() {
    let rehearsal = TreeHarness::<App, Pair>::new(app(&[]));
    assert!(rehearsal.up().await.is_ok());
    for (waiting, left) in [("second", 2), ("first", 1)] {
        rehearsal.answer(waiting, Answer::Yield);
        assert!(matches!(rehearsal.down().await, Err(Error::Yield { .. })));
        assert_eq!(rehearsal.provisioned_nodes().len(), left);
        rehearsal.answer(waiting, Answer::Ok);
    }
    assert!(rehearsal.down().await.is_ok());
    assert!(rehearsal.provisioned_nodes().is_empty());
}

#[tokio::test]
async fn group_s1_the_error_of_the_child_comes_back_unchanged() {
    let rehearsal = TreeHarness::<App, Pair>::new(app(&[]));
    for answer in NOT_DONE {
        for node in ["second", "first"] {
            rehearsal.answer(node, answer);
            let outcome = rehearsal.up().await;
            assert_eq!(kind_of(&outcome), answer);
            assert!(outcome.unwrap_err().to_string().contains(node));
        }
        rehearsal.answer("first", Answer::Ok);
    }
}

#[tokio::test]
async fn group_s1_what_comes_behind_a_child_that_is_not_done_is_untouched() {
    let rehearsal = TreeHarness::<App, Pair>::new(app(&[]));
    for answer in NOT_DONE {
        rehearsal.answer("first", answer);
        assert_eq!(kind_of(&rehearsal.up().await), answer);
        assert_eq!(rehearsal.calls().len(), 1);
        assert_eq!(rehearsal.provisioned_nodes().into_iter().collect::<Vec<_>>(), ["first"]);
    }
}

#[tokio::test]
async fn group_s2_on_the_way_down_the_last_child_stops_the_first() {
    let rehearsal = TreeHarness::<App, Pair>::new(app(&[]));
    assert!(rehearsal.up().await.is_ok());
    rehearsal.called();
    for answer in NOT_DONE {
        rehearsal.answer("second", answer);
        let outcome = rehearsal.down().await;
        assert_eq!(kind_of(&outcome), answer);
        assert!(outcome.unwrap_err().to_string().contains("second"));
        let calls = rehearsal.calls();
        assert_eq!((calls.len(), calls[0].node.as_str()), (1, "second"));
    }
    rehearsal.answer("second", Answer::Ok);
    rehearsal.answer("first", Answer::Yield);
    assert!(rehearsal.down().await.is_err());
    assert_eq!(rehearsal.called(), ["deprovision second", "deprovision first: yield"]);
}

#[tokio::test]
async fn group_s3_nothing_is_rolled_back() {
    let rehearsal = TreeHarness::<App, Pair>::new(app(&[]));
    rehearsal.answer("second", Answer::Terminal);
    assert!(rehearsal.up().await.is_err());
    assert!(rehearsal.calls().iter().all(|call| call.action == opgen::testing::NodeAction::Provision));
    assert!(rehearsal.provisioned_nodes().contains("first"));
}

#[tokio::test]
async fn group_s3_every_pass_begins_at_the_first_child() {
    let rehearsal = TreeHarness::<App, Pair>::new(app(&[]));
    rehearsal.answer("second", Answer::Yield);
    for _ in 0..3 {
        assert!(rehearsal.up().await.is_err());
        assert_eq!(rehearsal.called(), ["provision first", "provision second: yield"]);
    }
    assert!(rehearsal.down().await.is_err());
    rehearsal.called();
    rehearsal.answer("second", Answer::Ok);
    rehearsal.answer("first", Answer::Yield);
    for _ in 0..3 {
        assert!(rehearsal.down().await.is_err());
        assert_eq!(rehearsal.called(), ["deprovision second", "deprovision first: yield"]);
    }
}
