#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::CONCURRENT,
        access: &[],
        children: &[
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
                ..::opgen::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("config", ::core::line!())
            },
            ::opgen::__private::edge::<Migration>("migration", ::core::line!()),
            ::opgen::__private::edge::<Warmup>("warmup", ::core::line!()),
            ::opgen::shape::Edge {
                after: &["migration", "warmup"],
                reads: &["config", "migration"],
                ..::opgen::__private::edge::<Workload>("workload", ::core::line!())
            },
            ::opgen::shape::Edge {
                reads: &["workload/service", "workload/type"],
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
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
                (
                    ::opgen::__private::apply::<
                        ConfigMap,
                        _,
                        _,
                        _,
                        _,
                    >(cx, "config", |draft| Self::config(draft)),
                    &[],
                ),
                (::opgen::__private::up::<Migration, WebApp, _>(cx, "migration"), &[]),
                (::opgen::__private::up::<Warmup, WebApp, _>(cx, "warmup"), &[]),
                (
                    ::opgen::__private::boxed(async move {
                        let __made0 = ::opgen::__private::read::<
                            ConfigMap,
                            _,
                            _,
                            _,
                        >(cx, "config")?;
                        let __made1 = ::opgen::__private::node_output::<
                            Migration,
                            _,
                            _,
                        >(cx, "migration")?;
                        ::opgen::__private::up_with::<
                            Workload,
                            WebApp,
                            _,
                            _,
                        >(
                                cx,
                                "workload",
                                (
                                    ::core::clone::Clone::clone(&__made0),
                                    ::core::clone::Clone::clone(&__made1),
                                ),
                                ::opgen::__private::inputs_digest(
                                    cx,
                                    &[
                                        ::opgen::__private::version(&__made0),
                                        ::opgen::__private::version(&__made1),
                                    ],
                                ),
                            )
                            .await
                    }),
                    &[0, 1, 2],
                ),
                (
                    ::opgen::__private::boxed(async move {
                        let __made0 = <<Workload as ::opgen::__private::Group>::Children>::service
                            .read(cx, "workload/service")?;
                        let __made1 = <<Workload as ::opgen::__private::Group>::Children>::r#type
                            .read(cx, "workload/type")?;
                        ::opgen::__private::apply_with::<
                            ConfigMap,
                            _,
                            _,
                            _,
                        >(
                                cx,
                                "type",
                                ::opgen::shape::ResourceOptions::DEFAULT,
                                ::opgen::__private::inputs_digest(
                                    cx,
                                    &[
                                        ::opgen::__private::version(&__made0),
                                        ::opgen::__private::version(&__made1),
                                    ],
                                ),
                                |draft| {
                                    let __value0 = __made0.get()?;
                                    let __value1 = __made1.get()?;
                                    let built = Self::r#type(draft, __value0, __value1);
                                    ::opgen::__private::desired_objects::<ConfigMap, _>(built)
                                },
                            )
                            .await
                    }),
                    &[3],
                ),
            ])
            .await
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::in_order([
                (::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "config"), &[3]),
                (
                    ::opgen::__private::down::<Migration, WebApp, _>(cx, "migration"),
                    &[3],
                ),
                (::opgen::__private::down::<Warmup, WebApp, _>(cx, "warmup"), &[3]),
                (::opgen::__private::down::<Workload, WebApp, _>(cx, "workload"), &[4]),
                (::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "type"), &[]),
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
        let _ = (
            node,
            &node.config,
            &node.migration,
            &node.warmup,
            &node.workload,
            &node.r#type,
        );
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const config: ::opgen::__private::Resource<ConfigMap> = ::opgen::__private::Resource::CHILD;
        pub const migration: ::opgen::__private::Node<Migration> = ::opgen::__private::Node::CHILD;
        pub const warmup: ::opgen::__private::Node<Warmup> = ::opgen::__private::Node::CHILD;
        pub const workload: ::opgen::__private::Node<Workload> = ::opgen::__private::Node::CHILD;
        pub const r#type: ::opgen::__private::Resource<ConfigMap> = ::opgen::__private::Resource::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
