//! What the READMEs of the examples show is what they are.

use opgen::{
    Operator,
    manifest::{Describe as _, tree},
};

#[test]
fn readmes_show_the_trees() {
    shows(include_str!("../../examples/cluster/README.md"), &cluster_controller::operator());
    shows(include_str!("../../examples/ippool/README.md"), &ippool_controller::operator());
    shows(include_str!("../../examples/platform/README.md"), &platform_controller::operator());
    shows(include_str!("../../examples/shop/README.md"), &shop_controller::operator());
}

#[track_caller]
fn shows(readme: &str, operator: &Operator) {
    let tree = tree(&operator.project().unwrap());
    assert!(readme.contains(&tree), "this is not in the README:\n{tree}");
}
