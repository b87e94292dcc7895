//! Tests the operator with fault injection on a sandbox and on buckets in the process: crashes at every call, faults, edits, deletions.

use demo_api::{Policy, PolicySpec};
use demo_controller::operator;

#[test]
fn the_trial_finds_no_defect() -> Result<(), opgen_testing::TrialError> {
    let spec = PolicySpec { namespace: "default".to_owned(), message: "hello".to_owned(), copies: 2 };
    opgen_testing::trial(operator).sample(&Policy::new("first", spec)).run().verdict()
}
