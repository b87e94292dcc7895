//! Tests the operator with fault injection on a sandbox: crashes at every call, faults, edits and deletions.

#[test]
fn the_trial_finds_no_defect() -> Result<(), opgen_testing::TrialError> {
    opgen_testing::trial(database_controller::operator).run().verdict()
}
