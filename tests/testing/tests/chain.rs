//! The whole life of a chain of five kinds, each of which names the one below: stopped at every call, and all the rest.
#![allow(clippy::print_stdout, unreachable_pub)]

#[path = "../../suites/plane/reference/chain/kinds.rs"]
mod kinds;

use kinds::{Chair, ChairSpec, House, HouseSpec, Land, LandSpec, Room, RoomSpec, Storey, StoreySpec};
use opgen::Operator;
use opgen_testing::{Check, trial};

fn operator() -> Operator {
    kinds::controlled_by(Operator::new("chain"))
}

/// Made from the top, so that each waits for the one below it. An edit would have one name what is not there; it keeps what it
/// had until it can have the other, and so ends elsewhere than a new one. Chance edits, too.
#[test]
fn a_chain_of_references_lives_through_everything() {
    let on = |below: &str| below.to_owned();
    let checks = Check::ALL.iter().copied().filter(|check| !matches!(check, Check::Edit | Check::Chance));
    let report = trial(operator)
        .sample(&Chair::new("chair", ChairSpec { on: on("room") }))
        .sample(&Room::new("room", RoomSpec { on: on("storey") }))
        .sample(&Storey::new("storey", StoreySpec { on: on("house") }))
        .sample(&House::new("house", HouseSpec { on: on("land") }))
        .sample(&Land::new("land", LandSpec::default()))
        .only(checks)
        .pairs(15)
        .run();
    println!("{report}");
    assert!(report.is_clean(), "{report}");
    assert!(report.steps.iter().any(|step| step.check == Check::Stop && step.runs > 60), "{report}");
}
