//! Whole lives of the examples' operators, and that a life repeats.

mod doubt;
mod release;
mod versions;
mod waiting;

use opgen_sandbox::fault::{PassPhase, TimelineEvent};
use opgen_testing::{Check, Timeline, trial};
use webapp_api::{WebApp, WebAppSpec};

type MakeOperator = fn() -> opgen::Operator;

const OPERATORS: [(&str, MakeOperator); 2] =
    [("webapp", webapp_controller::operator), ("shop", shop_controller::operator)];

/// Names, versions, times and the order of all calls and events follow from the course alone, also where several objects
/// are worked on at a time.
#[test]
fn a_course_repeats_to_the_letter_a_hundred_times() {
    let spec = |image: &str| WebAppSpec { image: image.to_owned(), ..sample().spec };
    let apps = ["a", "b", "c", "d"].map(|name| WebApp::new(name, spec(&format!("example.com/{name}:1"))));
    let trial = apps.iter().fold(trial(webapp_controller::operator), |trial, app| trial.sample(app));
    for course in ["dice:1", "chance:7 dice:2", "after:20 dice:3", "edit:1 dice:4"] {
        let lived = || -> Timeline { trial.replay(course).unwrap().timeline };
        let first = lived();
        assert!(first.calls().count() > 30, "{first}");
        for run in 1..25 {
            let again = lived();
            let differs = first.entries.iter().zip(&again.entries).position(|(one, other)| one != other);
            assert_eq!(differs.map(|at| (&first.entries[at], &again.entries[at])), None, "run {run} of {course}");
            assert_eq!(first.entries.len(), again.entries.len(), "run {run} of {course}");
        }
    }
}

/// The end of a deletion is not always seen before the next pass, which then must not ask for it again.
#[test]
fn nobody_writes_to_what_is_gone() {
    for (name, operator) in OPERATORS {
        let trial = trial(operator);
        for dice in 1..=10 {
            let timeline = trial.timeline(&format!("dice:{dice}")).unwrap();
            let in_vain = timeline.calls().filter(|call| call.is_write() && call.code == Some(404));
            assert_eq!(in_vain.map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new(), "{name}, {dice}");
        }
    }
}

/// A process that is ended because it was enough is no crash.
#[test]
fn a_timeline_tells_stops_from_ends() {
    let trial = trial(webapp_controller::operator);
    let count = |course: &str, what: &TimelineEvent| {
        let entries = trial.timeline(course).unwrap().entries;
        assert_eq!(entries.last().map(|entry| &entry.event), Some(&TimelineEvent::End), "{course}");
        entries.iter().filter(|entry| entry.event == *what).count()
    };
    for (course, stops, ends) in [("dice:1", 0, 1), ("idle:1", 0, 2), ("after:5", 1, 1), ("before:5 after:9", 2, 1)] {
        assert_eq!(
            (count(course, &TimelineEvent::Stop), count(course, &TimelineEvent::End)),
            (stops, ends),
            "{course}"
        );
    }
}

/// Which calls are of which pass can be seen.
#[test]
fn a_timeline_tells_where_passes_begin_and_end() {
    let timeline = trial(webapp_controller::operator).timeline("after:12").unwrap();
    let (mut going_on, mut outside, mut cut_short) = (0, Vec::new(), 0);
    for entry in &timeline.entries {
        match &entry.event {
            TimelineEvent::Pass(pass) => {
                assert_eq!(pass.resource, "webapps.demo.example.com");
                match &pass.part {
                    PassPhase::Beginning => going_on += 1,
                    PassPhase::End { outcome } => {
                        assert!(!outcome.is_empty());
                        going_on -= 1;
                    }
                    _ => {}
                }
            }
            TimelineEvent::Stop => cut_short += std::mem::take(&mut going_on),
            // Events of objects are written on the side.
            TimelineEvent::Call(call) if call.is_write() && going_on == 0 && !call.uri.contains("/events") => {
                outside.push(call.to_string());
            }
            _ => {}
        }
    }
    assert_eq!((going_on, cut_short), (0, 1), "{timeline}");
    assert_eq!(outside, Vec::<String>::new(), "{timeline}");
}

fn sample() -> WebApp {
    let text = include_str!("../../../examples/webapp/deploy/samples/demo.example.com_v1alpha1_webapp.yaml");
    serde_saphyr::from_str(text).unwrap()
}

/// Three tiers, of which one waits for the other.
#[test]
fn the_shop_lives_through_everything() {
    let report = trial(shop_controller::operator).seeds(0..10).pairs(10).run();
    println!("{report}");
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Stop && step.runs > 100), "{report}");
}
