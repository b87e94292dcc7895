//! Tests the operator with fault injection on a sandbox and on buckets in the process: crashes at every call, faults, edits and deletions.

use platform_controller::{operator, sample_tier, sample_workload};

#[test]
fn the_trial_finds_no_defect() -> Result<(), opgen_testing::TrialError> {
    opgen_testing::trial(operator).sample(&sample_tier()).sample(&sample_workload()).run().verdict()
}
