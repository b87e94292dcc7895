//! Groups: the order of children, who stops whom, and who speaks for all (unikorn §3.2–§3.4).

use opgen::{
    prelude::*,
    testing::{Answer, Recorder, Trial},
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
    let trial = Trial::<App, Serial>::new(app(&[]));
    assert!(trial.up().await.is_ok());
    assert_eq!(trial.called(), ["provision first", "provision second", "provision third"]);
    for answer in [Answer::Yield, Answer::Fail, Answer::UserAction, Answer::Terminal] {
        trial.answer("second", answer);
        assert!(trial.up().await.is_err());
        assert_eq!(trial.calls().len(), 2, "{answer:?}");
    }
}

#[tokio::test]
async fn group_s2_teardown_is_reversed_and_a_yield_stops_it() {
    let trial = Trial::<App, Serial>::new(app(&[]));
    assert!(trial.down().await.is_ok());
    assert_eq!(trial.called(), ["deprovision third", "deprovision second", "deprovision first"]);
    trial.answer("second", Answer::Yield);
    assert!(matches!(trial.down().await, Err(Error::Yield { .. })));
    assert_eq!(trial.called(), ["deprovision third", "deprovision second: yield"]);
}

#[tokio::test]
async fn group_c1_every_child_runs_though_the_first_fails() {
    let trial = Trial::<App, Concurrent>::new(app(&[]));
    trial.answer("first", Answer::Fail);
    assert!(matches!(trial.up().await, Err(Error::Unexpected(_))));
    assert_eq!(trial.called(), ["provision first: fail", "provision second", "provision third"]);
    assert!(trial.down().await.is_err());
    assert_eq!(trial.calls().len(), 3);
}

#[tokio::test]
async fn group_c2_the_gravest_outcome_speaks_and_ties_go_to_the_first() {
    let trial = Trial::<App, Concurrent>::new(app(&[]));
    trial.answer("first", Answer::Yield);
    trial.answer("second", Answer::Fail);
    trial.answer("third", Answer::Terminal);
    let Err(Error::Terminal { message, .. }) = trial.up().await else { panic!("not the terminal one") };
    assert_eq!(message, "third gives up");
    trial.answer("third", Answer::Fail);
    assert_eq!(trial.up().await.unwrap_err().to_string(), "second fails");
}

#[tokio::test]
async fn group_c2_where_all_wait_each_says_what_for() {
    let trial = Trial::<App, Concurrent>::new(app(&[]));
    trial.answer("first", Answer::Yield);
    trial.answer("third", Answer::Yield);
    let Err(Error::Yield { message, .. }) = trial.up().await else { panic!("not a yield") };
    assert_eq!(message, "first waits; third waits");
}

#[tokio::test]
async fn group_c2_a_panic_ends_its_child_and_no_sibling() {
    let trial = Trial::<App, Concurrent>::new(app(&[]));
    trial.answer("first", Answer::Panic);
    assert!(trial.up().await.unwrap_err().to_string().contains("first panics"));
    assert_eq!(trial.calls().len(), 3);
}

#[tokio::test]
async fn group_a_direction_can_have_its_own_order() {
    let trial = Trial::<App, Mixed>::new(app(&[]));
    trial.answer("second", Answer::Yield);
    assert!(trial.up().await.is_err());
    assert_eq!(trial.called(), ["provision first", "provision second: yield", "provision third"]);
    assert!(trial.down().await.is_err());
    assert_eq!(trial.called(), ["deprovision third", "deprovision second: yield"]);
}

#[tokio::test]
async fn group_a_child_begins_after_those_it_names_and_goes_before_them() {
    let trial = Trial::<App, Ordered>::new(app(&[]));
    assert!(trial.up().await.is_ok());
    assert_eq!(trial.called(), ["provision first", "provision third", "provision second", "provision fourth"]);
    trial.answer("first", Answer::Yield);
    let Err(Error::Yield { message, .. }) = trial.up().await else { panic!("not a yield") };
    assert_eq!(message, "first waits");
    assert_eq!(trial.called(), ["provision first: yield", "provision third"]);
    trial.answer("first", Answer::Ok);
    trial.answer("second", Answer::Yield);
    assert!(trial.down().await.is_err());
    assert_eq!(trial.called(), ["deprovision fourth", "deprovision second: yield", "deprovision third"]);
}

#[tokio::test]
async fn group_k1_a_predicate_that_says_no_removes_the_child() {
    let mut trial = Trial::<App, Conditional>::new(app(&[]));
    assert!(trial.up().await.is_ok());
    assert_eq!(trial.called(), ["provision first", "deprovision snapshot", "provision last"]);
    trial.object().spec.snapshots = true;
    assert!(trial.up().await.is_ok());
    assert_eq!(trial.called(), ["provision first", "provision snapshot", "provision last"]);
    trial.object().spec.snapshots = false;
    trial.answer("snapshot", Answer::Yield);
    assert!(trial.up().await.is_err());
    assert_eq!(trial.called(), ["provision first", "deprovision snapshot: yield"]);
    assert!(trial.left().contains("snapshot"));
}
