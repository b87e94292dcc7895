//! Groups: the order of children, who stops whom, and who speaks for all (unikorn §3.2–§3.4).

use opgen::{
    prelude::*,
    testing::{Answer, Recorder, TreeHarness},
};

use super::kind::{App, app};

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Serial {
    first: Recorder,
    second: Recorder,
    third: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = App)]
struct Concurrent {
    first: Recorder,
    second: Recorder,
    third: Recorder,
}

#[derive(Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = App)]
struct Mixed {
    first: Recorder,
    second: Recorder,
    third: Recorder,
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = App)]
struct Ordered {
    first: Recorder,
    #[provisioner(after(first))]
    second: Recorder,
    third: Recorder,
    #[provisioner(after(second, third))]
    fourth: Recorder,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Conditional {
    first: Recorder,
    #[provisioner(when = |app| app.spec.snapshots)]
    snapshot: Recorder,
    last: Recorder,
}

#[tokio::test]
async fn group_s1_children_run_in_declared_order_and_a_yield_stops_those_behind() {
    let rehearsal = TreeHarness::<App, Serial>::new(app(&[]));
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.called(), ["provision first", "provision second", "provision third"]);
    for answer in [Answer::Yield, Answer::Fail, Answer::UserAction, Answer::Terminal] {
        rehearsal.answer("second", answer);
        assert!(rehearsal.up().await.is_err());
        assert_eq!(rehearsal.calls().len(), 2, "{answer:?}");
    }
}

#[tokio::test]
async fn group_s2_teardown_is_reversed_and_a_yield_stops_it() {
    let rehearsal = TreeHarness::<App, Serial>::new(app(&[]));
    assert!(rehearsal.down().await.is_ok());
    assert_eq!(rehearsal.called(), ["deprovision third", "deprovision second", "deprovision first"]);
    rehearsal.answer("second", Answer::Yield);
    assert!(matches!(rehearsal.down().await, Err(Error::Yield { .. })));
    assert_eq!(rehearsal.called(), ["deprovision third", "deprovision second: yield"]);
}

#[tokio::test]
async fn group_c1_every_child_runs_though_the_first_fails() {
    let rehearsal = TreeHarness::<App, Concurrent>::new(app(&[]));
    rehearsal.answer("first", Answer::Fail);
    assert!(matches!(rehearsal.up().await, Err(Error::Unexpected(_))));
    assert_eq!(rehearsal.called(), ["provision first: fail", "provision second", "provision third"]);
    assert!(rehearsal.down().await.is_err());
    assert_eq!(rehearsal.calls().len(), 3);
}

#[tokio::test]
async fn group_c2_the_gravest_outcome_speaks_and_ties_go_to_the_first() {
    let rehearsal = TreeHarness::<App, Concurrent>::new(app(&[]));
    rehearsal.answer("first", Answer::Yield);
    rehearsal.answer("second", Answer::Fail);
    rehearsal.answer("third", Answer::Terminal);
    let Err(Error::Terminal { message, .. }) = rehearsal.up().await else { panic!("not the terminal one") };
    assert_eq!(message, "third gives up");
    rehearsal.answer("third", Answer::Fail);
    assert_eq!(rehearsal.up().await.unwrap_err().to_string(), "second fails");
}

#[tokio::test]
async fn group_c2_where_all_wait_each_says_what_for() {
    let rehearsal = TreeHarness::<App, Concurrent>::new(app(&[]));
    rehearsal.answer("first", Answer::Yield);
    rehearsal.answer("third", Answer::Yield);
    let Err(Error::Yield { message, .. }) = rehearsal.up().await else { panic!("not a yield") };
    assert_eq!(message, "first waits; third waits");
}

#[tokio::test]
async fn group_c2_a_panic_ends_its_child_and_no_sibling() {
    let rehearsal = TreeHarness::<App, Concurrent>::new(app(&[]));
    rehearsal.answer("first", Answer::Panic);
    assert!(rehearsal.up().await.unwrap_err().to_string().contains("first panics"));
    assert_eq!(rehearsal.calls().len(), 3);
}

#[tokio::test]
async fn group_a_direction_can_have_its_own_order() {
    let rehearsal = TreeHarness::<App, Mixed>::new(app(&[]));
    rehearsal.answer("second", Answer::Yield);
    assert!(rehearsal.up().await.is_err());
    assert_eq!(rehearsal.called(), ["provision first", "provision second: yield", "provision third"]);
    assert!(rehearsal.down().await.is_err());
    assert_eq!(rehearsal.called(), ["deprovision third", "deprovision second: yield"]);
}

#[tokio::test]
async fn group_a_child_begins_after_those_it_names_and_goes_before_them() {
    let rehearsal = TreeHarness::<App, Ordered>::new(app(&[]));
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.called(), ["provision first", "provision third", "provision second", "provision fourth"]);
    rehearsal.answer("first", Answer::Yield);
    let Err(Error::Yield { message, .. }) = rehearsal.up().await else { panic!("not a yield") };
    assert_eq!(message, "first waits");
    assert_eq!(rehearsal.called(), ["provision first: yield", "provision third"]);
    rehearsal.answer("first", Answer::Ok);
    rehearsal.answer("second", Answer::Yield);
    assert!(rehearsal.down().await.is_err());
    assert_eq!(rehearsal.called(), ["deprovision fourth", "deprovision second: yield", "deprovision third"]);
}

#[tokio::test]
async fn group_k1_a_predicate_that_says_no_removes_the_child() {
    let mut rehearsal = TreeHarness::<App, Conditional>::new(app(&[]));
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.called(), ["provision first", "deprovision snapshot", "provision last"]);
    rehearsal.object().spec.snapshots = true;
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(rehearsal.called(), ["provision first", "provision snapshot", "provision last"]);
    rehearsal.object().spec.snapshots = false;
    rehearsal.answer("snapshot", Answer::Yield);
    assert!(rehearsal.up().await.is_err());
    assert_eq!(rehearsal.called(), ["provision first", "deprovision snapshot: yield"]);
    assert!(rehearsal.provisioned_nodes().contains("snapshot"));
}
