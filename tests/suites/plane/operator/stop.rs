//! Ends that are asked for.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap, events::v1::Event};
use kube::api::ListParams;
use libtest_mimic::Trial;
use opgen::{For, Operator, RunError, RunOptions, leader_election::LeaderElection};
use opgen_tests::{
    Plane, case, case_on_controlplane, usage,
    wait::{self, PATIENCE, until_object},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{
    example::WEBAPP,
    fleet::Fleet,
    kinds::{Diary, Errand, ErrandSpec, ErrandTree, Note, NoteSpec, NoteTree, Outcome, available},
    program::Program,
    site::{NAME, Running, Site},
};

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        case("work_in_flight_ends_before_an_operator_does", in_flight),
        case("manager_m32_a_pass_that_does_not_end_is_interrupted_and_named_and_its_status_says_so", timeout),
        case("manager_m6_a_shutdown_timeout_of_zero_waits_for_no_pass_and_is_no_error", no_wait),
        case("manager_m6_a_lost_lead_waits_for_no_pass_and_writes_nothing", lost_lead),
        case("events_that_wait_are_written_before_an_operator_ends", events),
        case_on_controlplane(
            "a_second_signal_ends_at_once_and_one_lets_calls_in_flight_end",
            "it holds the API server's process up, and a sandbox has none",
            signals,
        ),
    ]
}

/// An operator with a pass in flight that waits at the gate of the diary.
async fn at_the_gate(site: &Site, diary: &Diary, timeout: Duration) -> Running {
    at_the_gate_with(site, diary, |operator| operator.shutdown_timeout(timeout)).await
}

async fn at_the_gate_with(site: &Site, diary: &Diary, change: impl FnOnce(Operator) -> Operator) -> Running {
    let (operator, options) = (change(site.operator()), diary.clone());
    let operator = operator.controls_with::<For<Errand, Diary>, ErrandTree>(|controller| controller.options(options));
    let running = site.start(&operator).await;
    site.create(&Errand::new("one", ErrandSpec { first: Outcome::Gate, ..ErrandSpec::default() })).await;
    wait::until("a pass waits at the gate", PATIENCE, async || {
        if diary.times("first one").is_empty() { Err("none does".to_owned()) } else { Ok(()) }
    })
    .await;
    running
}

async fn in_flight(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let mut running = at_the_gate(&site, &diary, PATIENCE).await;
    running.signal();
    // Nothing new is begun: this one stays as it is.
    site.create(&Errand::new("two", ErrandSpec::default())).await;
    site.settled().await;
    assert!(!running.has_ended());
    diary.gate.add_permits(1);
    running.end().await.unwrap();
    let done = |errand: &Errand| errand.status.as_ref().is_some_and(|status| status.tried == Some(Outcome::Gate));
    until_object(&site.api::<Errand>(), "one", "has the status of its last pass", done).await;
    assert!(site.asked().await.name("two").is_empty());
}

async fn timeout(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let mut running = at_the_gate(&site, &diary, Duration::from_millis(500)).await;
    let pass = format!("the pass over Errand {}/one", site.namespace);
    running.signal();
    let end = running.end().await;
    let names = |unfinished: &[String]| unfinished == [pass.as_str()];
    assert!(matches!(&end, Err(RunError::Timeout { unfinished, .. }) if names(unfinished)), "{end:?}");
    // What was not waited for is not left behind either.
    diary.gate.add_permits(1);
    let writes = site.settled().await.subresource("status");
    assert_eq!((writes.len(), diary.gate.available_permits()), (1, 1), "{writes}");
    let errand = site.api::<Errand>().get("one").await.unwrap();
    let status = errand.status.as_ref().map(|status| &status.standard);
    assert_eq!(available(status).map(|(is, reason, _)| (is, reason)), Some(("Unknown", "Interrupted")));
    let conditions = &status.unwrap().conditions;
    assert!(conditions.iter().any(|held| held.type_ == "Reconciling" && held.status == "True"), "{conditions:?}");
    // The next operator continues.
    diary.gate.add_permits(1);
    let options = diary.clone();
    let operator =
        site.operator().controls_with::<For<Errand, Diary>, ErrandTree>(|controller| controller.options(options));
    let _running = site.run(&operator, RunOptions::default()).await;
    let done = |errand: &Errand| {
        available(errand.status.as_ref().map(|status| &status.standard)).is_some_and(|(is, _, _)| is == "True")
    };
    until_object(&site.api::<Errand>(), "one", "is available", done).await;
}

async fn no_wait(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let mut running = at_the_gate(&site, &diary, Duration::ZERO).await;
    running.signal();
    running.end().await.unwrap();
    diary.gate.add_permits(1);
    assert!(site.settled().await.subresource("status").is_empty());
    assert_eq!(diary.gate.available_permits(), 1);
}

async fn lost_lead(plane: Arc<Plane>) {
    let (site, diary) = (Site::new(&plane).await, Diary::default());
    let election = LeaderElection::default().lease_duration(Duration::from_secs(3));
    let election = election.renew_deadline(Duration::from_secs(2)).retry_period(Duration::from_millis(500));
    let mut running = at_the_gate_with(&site, &diary, |operator| operator.leader_election(election)).await;
    running.signal();
    // While it waits for the pass, a stranger takes the Lease.
    site.patch::<Lease>(&format!("{NAME}.opgen.dev"), &json!({"spec": {"holderIdentity": "stranger"}})).await;
    let end = running.end().await;
    assert!(matches!(&end, Err(RunError::LeadLost(_))), "{end:?}");
    diary.gate.add_permits(1);
    assert!(site.settled().await.subresource("status").is_empty());
}

/// Events are written one after the other, so a burst of them is behind the work that they tell of.
async fn events(plane: Arc<Plane>) {
    const NOTES: usize = 100;
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Note, NoteTree>();
    site.install(&operator).await;
    for number in 0..NOTES {
        site.create(&Note::new(&format!("note-{number}"), NoteSpec::default())).await;
    }
    let mut running = site.run(&operator, Default::default()).await;
    let ours = ListParams::default().labels("app.kubernetes.io/managed-by");
    let made = async || site.api::<ConfigMap>().list_metadata(&ours).await.unwrap().items.len();
    wait::until("most are made", PATIENCE, async || match made().await {
        count if count >= NOTES - 20 => Ok(()),
        count => Err(format!("{count} are")),
    })
    .await;
    running.signal();
    running.end().await.unwrap();
    let recorded = site.api::<Event>().list(&ListParams::default()).await.unwrap();
    let tells = |event: &&Event| event.reason.as_deref() == Some("Created");
    assert_eq!(recorded.iter().filter(tells).count(), made().await);
}

/// The API server is held still while calls are on their way to it.
async fn signals(plane: Arc<Plane>) {
    let access = WEBAPP.install(&plane).await;
    let fleet = Fleet::new(&plane, 60).await;
    let (some, others) = fleet.names.split_at(30);
    let mut program = Program::start(&WEBAPP, &plane, &access, &[]);
    program.ready().await;

    fleet.create(some).await;
    signal_apiserver(&plane, Signal::STOP);
    program.process.terminate();
    says(&program, "a second signal stops the process at once").await;
    program.process.terminate();
    let status = program.process.wait_exit(Duration::from_secs(2)).await;
    assert_eq!(status.code(), Some(1), "{}", program.process.log_tail(5));
    says(&program, "error: stopped at once by a second signal").await;
    signal_apiserver(&plane, Signal::CONT);

    let mut program = Program::start(&WEBAPP, &plane, &access, &[]);
    program.ready().await;
    fleet.create(others).await;
    signal_apiserver(&plane, Signal::STOP);
    program.process.terminate();
    // The log goes on from that of the first one.
    says_times(&program, "stopping; a second signal stops the process at once", 2).await;
    signal_apiserver(&plane, Signal::CONT);
    let status = program.process.wait_exit(PATIENCE).await;
    assert!(status.success(), "{status}; {}", program.process.log_tail(20));

    let mut program = Program::start(&WEBAPP, &plane, &access, &[]);
    program.ready().await;
    fleet.available(fleet.names.len()).await;
    program.stop().await;
}

async fn says(program: &Program, words: &str) {
    says_times(program, words, 1).await;
}

async fn says_times(program: &Program, words: &str, times: usize) {
    wait::until(format!("webapp says `{words}`"), PATIENCE, async || {
        let log = program.process.log();
        if log.matches(words).count() >= times { Ok(()) } else { Err(program.process.log_tail(5)) }
    })
    .await;
}

fn signal_apiserver(plane: &Plane, signal: Signal) {
    let processes = plane.processes();
    let (_, id) = processes.iter().find(|(name, _)| *name == "kube-apiserver").expect("an API server");
    kill_process(Pid::from_raw(i32::try_from(*id).unwrap()).unwrap(), signal).unwrap();
    if signal == Signal::STOP {
        usage::wait_until_stopped(*id);
    }
}
