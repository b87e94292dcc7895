//! The whole life of the operator, without a cluster: stopped at every call, hit by every fault, edited and deleted.

#[test]
fn it_lives_through_everything() -> Result<(), opgen_testing::TrialError> {
    opgen_testing::trial(webapp_controller::operator).run().verdict()
}
