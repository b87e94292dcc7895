/// The operator of this binary: its kinds with their trees.
pub fn operator() -> ::opgen::Operator {
    ::opgen::Operator::new(::core::env!("CARGO_PKG_NAME"))
        .version(::core::env!("CARGO_PKG_VERSION"))
        .controls::<WebApp, WebAppTree>()
}
fn main() -> ::std::process::ExitCode {
    ::opgen::__private::main(operator())
}
