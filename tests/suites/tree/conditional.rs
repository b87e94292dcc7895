//! Conditional children, and what concurrent ones share (unikorn §3.3, §3.4).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use opgen::{
    prelude::*,
    testing::{Answer, NodeAction, Recorder, TreeHarness},
};

use super::kind::{App, app};

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Single {
    #[provisioner(when = |app| app.spec.snapshots)]
    child: Recorder,
}

fn single(wanted: bool) -> TreeHarness<App, Single> {
    let mut object = app(&[]);
    object.spec.snapshots = wanted;
    TreeHarness::new(object)
}

#[tokio::test]
async fn group_k1_the_way_up_goes_the_way_that_the_predicate_says() {
    for (wanted, asked) in [(true, NodeAction::Provision), (false, NodeAction::Deprovision)] {
        let rehearsal = single(wanted);
        for answer in [Answer::Ok, Answer::Yield, Answer::Fail] {
            rehearsal.answer("child", answer);
            let outcome = rehearsal.up().await;
            match answer {
                Answer::Ok => assert!(outcome.is_ok()),
                Answer::Yield => assert!(matches!(outcome, Err(Error::Yield { .. }))),
                _ => assert!(matches!(outcome, Err(Error::Unexpected(_)))),
            }
            let calls = rehearsal.calls();
            assert_eq!((calls.len(), calls[0].action, calls[0].answer), (1, asked, answer));
        }
    }
}

#[tokio::test]
async fn group_k1_a_child_can_come_back() {
    let mut rehearsal = single(true);
    for wanted in [true, false, true, false] {
        rehearsal.object().spec.snapshots = wanted;
        assert!(rehearsal.up().await.is_ok());
        assert_eq!(rehearsal.provisioned_nodes().contains("child"), wanted);
    }
}

#[tokio::test]
async fn group_k2_the_way_down_removes_the_child_whatever_the_predicate_would_say() {
    for wanted in [true, false] {
        let rehearsal = single(wanted);
        for answer in [Answer::Ok, Answer::Yield, Answer::Fail] {
            rehearsal.answer("child", answer);
            assert_eq!(rehearsal.down().await.is_ok(), answer == Answer::Ok);
            let calls = rehearsal.calls();
            assert_eq!((calls.len(), calls[0].action, calls[0].answer), (1, NodeAction::Deprovision, answer));
        }
    }
}

/// How often a predicate was asked.
type Asks = Arc<AtomicUsize>;

#[derive(Provisioner)]
#[provisioner(serial, owner = For<App, Asks>)]
struct Counted {
    #[provisioner(when = ask)]
    child: Recorder,
}

fn ask(draft: &Draft<'_, For<App, Asks>>) -> bool {
    draft.options().fetch_add(1, Ordering::Relaxed);
    true
}

#[tokio::test]
async fn group_k2_the_way_down_doesnt_ask_the_predicate() {
    let asks = Asks::default();
    let rehearsal = TreeHarness::<For<App, Asks>, Counted>::with_options(app(&[]), asks.clone());
    assert!(rehearsal.down().await.is_ok());
    assert_eq!(asks.load(Ordering::Relaxed), 0);
    assert!(rehearsal.up().await.is_ok());
    assert_eq!(asks.load(Ordering::Relaxed), 1);
}

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Reasoned {
    before: Recorder,
    #[provisioner(when = one_pool)]
    child: Recorder,
    behind: Recorder,
}

fn one_pool(app: &App) -> Result<Wanted> {
    match &app.spec.pools[..] {
        [] => Ok(Wanted::No("there is no pool".to_owned())),
        [_] => Ok(Wanted::Yes),
        _ => Err(Error::user_action("TooManyPools", "there is more than one pool")),
    }
}

#[tokio::test]
async fn group_k3_a_predicate_can_give_a_reason_and_can_fail() {
    for (pools, called) in [
        (&[][..], &["provision before", "deprovision child", "provision behind"][..]),
        (&["a"], &["provision before", "provision child", "provision behind"]),
        (&["a", "b"], &["provision before"]),
    ] {
        let rehearsal = TreeHarness::<App, Reasoned>::new(app(pools));
        let outcome = rehearsal.up().await;
        assert_eq!(matches!(outcome, Err(Error::UserAction { .. })), pools.len() == 2, "{outcome:?}");
        assert_eq!(rehearsal.called(), called);
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Registered {
    register: Recorder,
    always: Recorder,
    #[provisioner(when = |app| app.spec.snapshots)]
    sometimes: Recorder,
}

#[tokio::test]
async fn group_k4_a_child_that_is_not_wanted_takes_nothing_with_it_that_others_use() {
    let mut rehearsal = TreeHarness::<App, Registered>::new(app(&[]));
    for wanted in [false, true, false] {
        rehearsal.object().spec.snapshots = wanted;
        assert!(rehearsal.up().await.is_ok());
        assert!(rehearsal.called().iter().all(|call| call != "deprovision register"));
        assert!(rehearsal.provisioned_nodes().contains("register"));
    }
}

/// Lets others go first so many times, then fails.
struct Late<const TURNS: usize>;

impl<const TURNS: usize> Provisioner for Late<TURNS> {
    type Inputs = ();
    type Output = ();
    const SHAPE: opgen::shape::Shape =
        opgen::shape::Shape { node: opgen::shape::Node::Custom, access: &[], children: &[] };
}

impl<const TURNS: usize> Provision<App> for Late<TURNS> {
    async fn provision(_: &Context<'_, App, Self>) -> Result<()> {
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        Err(Error::unexpected(format!("done after {TURNS}")))
    }
    async fn deprovision(_: &Teardown<'_, App, Self>) -> Result<()> {
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
        Err(Error::unexpected(format!("gone after {TURNS}")))
    }
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = App)]
struct Race {
    slow: Late<9>,
    middle: Late<4>,
    quick: Late<0>,
}

#[tokio::test]
async fn group_c2_who_is_done_first_decides_nothing() {
    let rehearsal = TreeHarness::<App, Race>::new(app(&[]));
    assert_eq!(rehearsal.up().await.unwrap_err().to_string(), "done after 9");
    assert_eq!(rehearsal.down().await.unwrap_err().to_string(), "gone after 9");
}

#[derive(Provisioner)]
#[provisioner(concurrent, owner = App)]
struct Twins {
    left: Twin,
    right: Twin,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = App)]
struct Twin {
    only: Recorder,
}

#[tokio::test]
async fn group_c4_two_children_of_one_type_are_told_apart() {
    let rehearsal = TreeHarness::<App, Twins>::new(app(&[]));
    rehearsal.answer("right/only", Answer::Yield);
    assert!(rehearsal.up().await.is_err());
    assert_eq!(rehearsal.called(), ["provision left/only", "provision right/only: yield"]);
    assert!(rehearsal.down().await.is_err());
    assert_eq!(rehearsal.provisioned_nodes().into_iter().collect::<Vec<_>>(), ["right/only"]);
}

#[tokio::test]
async fn group_c4_passes_over_two_objects_share_nothing() {
    let (one, other) = (TreeHarness::<App, Twins>::new(app(&[])), TreeHarness::<App, Twins>::new(app(&[])));
    one.answer("left/only", Answer::Fail);
    let (failed, done) = tokio::join!(one.up(), other.up());
    assert!(failed.is_err() && done.is_ok());
    assert_eq!(other.called(), ["provision left/only", "provision right/only"]);
}
