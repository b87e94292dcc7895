/// The operator of this binary: its kinds with their trees.
pub fn operator() -> my::facade::Operator {
    my::facade::Operator::new(::core::env!("CARGO_PKG_NAME"))
        .version(::core::env!("CARGO_PKG_VERSION"))
        .controls_with::<
            WebApp,
            WebAppTree,
        >(|c| c.resync_period(::core::time::Duration::from_millis(500u64)))
}
fn main() -> ::std::process::ExitCode {
    my::facade::__private::main(operator())
}
