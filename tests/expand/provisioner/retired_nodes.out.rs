#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::CONCURRENT,
        access: &[],
        children: &[
            ::opgen::__private::edge::<Workload>("workload", ::core::line!()),
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(Deployment),
                resource: ::opgen::shape::ResourceOptions::RETIRED,
                ..::opgen::__private::resource_edge::<
                    Deployment,
                    _,
                >("cache", ::core::line!())
            },
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
                resource: ::opgen::shape::ResourceOptions::RETIRED,
                ..::opgen::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("type", ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::in_order([
                (::opgen::__private::up::<Workload, WebApp, _>(cx, "workload"), &[]),
                (::opgen::__private::retire::<Deployment, _, _, _>(cx, "cache"), &[0]),
                (::opgen::__private::retire::<ConfigMap, _, _, _>(cx, "type"), &[0]),
            ])
            .await
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::in_order([
                (
                    ::opgen::__private::down::<Workload, WebApp, _>(cx, "workload"),
                    &[1, 2],
                ),
                (
                    ::opgen::__private::remove_with::<
                        Deployment,
                        _,
                        _,
                        _,
                    >(cx, "cache", ::opgen::shape::ResourceOptions::RETIRED),
                    &[],
                ),
                (
                    ::opgen::__private::remove_with::<
                        ConfigMap,
                        _,
                        _,
                        _,
                    >(cx, "type", ::opgen::shape::ResourceOptions::RETIRED),
                    &[],
                ),
            ])
            .await
    }
}
#[allow(
    dead_code,
    missing_debug_implementations,
    missing_docs,
    non_upper_case_globals,
    private_interfaces,
    unreachable_pub
)]
const _: () = {
    fn reads(node: &WebAppTree) {
        let _ = (node, &node.workload);
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const workload: ::opgen::__private::Node<Workload> = ::opgen::__private::Node::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
