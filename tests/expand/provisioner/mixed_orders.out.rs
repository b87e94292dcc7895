#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::Group {
            up: ::opgen::shape::Order::Concurrent,
            down: ::opgen::shape::Order::Serial,
        },
        access: &[],
        children: &[
            ::opgen::__private::edge::<Network>("network", ::core::line!()),
            ::opgen::shape::Edge {
                after: &["network"],
                ..::opgen::__private::edge::<Storage>("storage", ::core::line!())
            },
            ::opgen::__private::edge::<Workload>("workload", ::core::line!()),
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::in_order([
                (::opgen::__private::up::<Network, WebApp, _>(cx, "network"), &[]),
                (::opgen::__private::up::<Storage, WebApp, _>(cx, "storage"), &[0]),
                (::opgen::__private::up::<Workload, WebApp, _>(cx, "workload"), &[]),
            ])
            .await
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::down::<Workload, WebApp, _>(cx, "workload").await?;
        ::opgen::__private::down::<Storage, WebApp, _>(cx, "storage").await?;
        ::opgen::__private::down::<Network, WebApp, _>(cx, "network").await?;
        ::core::result::Result::Ok(())
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
        let _ = (node, &node.network, &node.storage, &node.workload);
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const network: ::opgen::__private::Node<Network> = ::opgen::__private::Node::CHILD;
        pub const storage: ::opgen::__private::Node<Storage> = ::opgen::__private::Node::CHILD;
        pub const workload: ::opgen::__private::Node<Workload> = ::opgen::__private::Node::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
