#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::SERIAL,
        access: &[],
        children: &[
            ::opgen::__private::edge::<Solve>("solve", ::core::line!()),
            ::opgen::shape::Edge {
                each: "&app.spec.pools",
                ..::opgen::__private::edge::<PoolTree>("pools", ::core::line!())
            },
            ::opgen::shape::Edge {
                each: "plan.nodes(app)",
                reads: &["solve"],
                ..::opgen::__private::edge::<NodeTree>("nodes", ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::up::<Solve, WebApp, _>(cx, "solve").await?;
        ::opgen::__private::boxed(async move {
                ::opgen::__private::up_each::<
                    PoolTree,
                    _,
                    _,
                    WebApp,
                    _,
                    _,
                >(
                        cx,
                        "pools",
                        (),
                        ::opgen::__private::inputs_digest(cx, &[]),
                        ::opgen::__private::keyed::<
                            PoolTree,
                            _,
                            WebApp,
                            _,
                        >(
                            ::opgen::__private::call1(
                                ::opgen::__private::subject(cx),
                                |app| &app.spec.pools,
                            ),
                            |item| ::opgen::__private::text(
                                ::opgen::__private::call1(item, |pool| &pool.name),
                            ),
                        ),
                    )
                    .await
            })
            .await?;
        ::opgen::__private::boxed(async move {
                let __made0 = ::opgen::__private::node_output::<
                    Solve,
                    _,
                    _,
                >(cx, "solve")?;
                ::opgen::__private::up_each::<
                    NodeTree,
                    _,
                    _,
                    WebApp,
                    _,
                    _,
                >(
                        cx,
                        "nodes",
                        (),
                        ::opgen::__private::inputs_digest(
                            cx,
                            &[::opgen::__private::version(&__made0)],
                        ),
                        ::opgen::__private::keyed::<
                            NodeTree,
                            _,
                            WebApp,
                            _,
                        >(
                            ::opgen::__private::call2(
                                ::opgen::__private::subject(cx),
                                __made0.get()?,
                                |app, plan| plan.nodes(app),
                            ),
                            |item| ::opgen::__private::text(
                                ::opgen::__private::call1(item, Node::name),
                            ),
                        ),
                    )
                    .await
            })
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::down_each::<NodeTree, _, WebApp, _>(cx, "nodes").await?;
        ::opgen::__private::down_each::<PoolTree, _, WebApp, _>(cx, "pools").await?;
        ::opgen::__private::down::<Solve, WebApp, _>(cx, "solve").await?;
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
        let _ = (node, &node.solve, &node.pools, &node.nodes);
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const solve: ::opgen::__private::Node<Solve> = ::opgen::__private::Node::CHILD;
        pub const pools: ::opgen::__private::Several<PoolTree> = ::opgen::__private::Several::CHILD;
        pub const nodes: ::opgen::__private::Several<NodeTree> = ::opgen::__private::Several::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
