//! The whole life of the operator, without a cluster: stopped at every call, hit by every fault, edited and deleted.

use web_shop_controller::operator;

#[test]
fn it_lives_through_everything() -> Result<(), opgen_testing::TrialError> {
    opgen_testing::trial(operator).run().verdict()
}
