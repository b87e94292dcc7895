const _: () = {
    #[allow(dead_code)]
    trait ListedOnce {}
    impl ListedOnce for WebApp {}
    impl ListedOnce for Foreign<Namespace> {}
    impl ListedOnce for api::Network {}
};
/// The operator of this binary: its kinds with their trees.
pub fn operator() -> ::opgen::Operator {
    ::opgen::Operator::new("webapp")
        .version(::core::env!("CARGO_PKG_VERSION"))
        .controls::<WebApp, WebAppTree>()
        .controls_with::<
            Foreign<Namespace>,
            NamespaceTree,
        >(|c| c.labels([("team", "web"), ("example.com/tier", "front")]))
        .controls_with::<
            api::Network,
            NetworkTree,
        >(|c| {
            c
                .resync_period(::core::time::Duration::from_millis(5400000u64))
                .events(false)
                .workers(4usize)
                .finalizer("demo.example.com/network")
        })
}
fn main() -> ::std::process::ExitCode {
    ::opgen::__private::main(operator())
}
