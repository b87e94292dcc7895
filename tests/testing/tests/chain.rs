//! Injects faults into an operator with a chain of five kinds, each of which refers to the next.
#![allow(clippy::print_stdout, unreachable_pub)]

#[path = "../../suites/plane/reference/chain/kinds.rs"]
mod kinds;

use kinds::{Chair, ChairSpec, House, HouseSpec, Land, LandSpec, Room, RoomSpec, Storey, StoreySpec};
use opgen::Operator;
use opgen_testing::{Check, trial};

fn operator() -> Operator {
    kinds::controlled_by(Operator::new("chain"))
}

/// The samples are created from the top, so that each waits for the one below it. An edit may refer to an object that does not
/// exist; the sample then keeps its children, and its state differs from that of a new object. Random faults come with edits.
#[test]
fn a_chain_of_references_lives_through_everything() {
    let on = |below: &str| below.to_owned();
    let checks = Check::ALL.iter().copied().filter(|check| !matches!(check, Check::Edit | Check::RandomFaults));
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
