//! Tests that a case on a paused clock which never advances fails with its name, and that the other cases run.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use libtest_mimic::Arguments;
use opgen_tests::{Form, Options, Plane, case_on};

/// The real time after which the hot loop ends by itself, so that it passes if nothing limits it.
const LOOP_END: Duration = Duration::from_secs(30);

fn sandbox() -> Options {
    Options { form: Form::Sandbox, ..Options::default() }
}

/// Waits for a quarter of an hour of the paused clock.
async fn waits(_: Arc<Plane>) {
    let mut quarters = tokio::time::interval(Duration::from_secs(900));
    quarters.tick().await;
    quarters.tick().await;
}

async fn panics(_: Arc<Plane>) {
    panic!("the panic of the case");
}

async fn fails(_: Arc<Plane>) -> Result<(), &'static str> {
    Err("the error of the case")
}

#[test]
fn a_hot_loop_on_a_paused_clock_fails_with_its_name_and_the_other_cases_run() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("output.txt");
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = is_over.clone();
    let spins = move |_: Arc<Plane>| async move {
        let begin = Instant::now();
        while !ends.load(Ordering::Relaxed) && begin.elapsed() < LOOP_END {
            tokio::task::yield_now().await;
        }
    };
    let limited = Options { real_time_limit: Duration::from_secs(2), ..sandbox() };
    let cases = vec![
        case_on("spins", limited, spins),
        case_on("waits", sandbox(), waits),
        case_on("panics", sandbox(), panics),
        case_on("fails", sandbox(), fails),
    ];
    let logfile = output.to_str().map(str::to_owned);
    // One thread, so that the others run after the hot loop.
    let arguments = Arguments { logfile, test_threads: Some(1), ..Arguments::default() };
    let conclusion = libtest_mimic::run(&arguments, cases);
    is_over.store(true, Ordering::Relaxed);
    let output = fs::read_to_string(output).unwrap();
    assert_eq!((conclusion.num_passed, conclusion.num_failed), (1, 3), "{output}");
    for failure in [
        "---- sandbox::spins ----\nthe case used 2 s of real time: work is queued without end",
        "---- sandbox::panics ----\ntest panicked: the panic of the case\n",
        "---- sandbox::fails ----\nthe error of the case\n",
    ] {
        assert!(output.contains(failure), "{failure}: {output}");
    }
}
