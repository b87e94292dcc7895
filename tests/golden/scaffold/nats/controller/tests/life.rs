//! Tests the operator with fault injection on a sandbox and on buckets in the process: crashes at every call, faults, edits, deletions.

use demo_api::{Widget, WidgetSpec};
use demo_controller::operator;

#[test]
fn the_trial_finds_no_defect() -> Result<(), opgen_testing::TrialError> {
    let spec = WidgetSpec { message: "hello".to_owned(), copies: 2 };
    opgen_testing::trial(operator).sample(&Widget::new("first", spec)).run().verdict()
}
