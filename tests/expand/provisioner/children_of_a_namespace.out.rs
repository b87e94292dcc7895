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
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(Option < Namespace >),
                ..::opgen::__private::resource_edge::<
                    Option<Namespace>,
                    _,
                >("namespace", ::core::line!())
            },
            ::opgen::shape::Edge {
                after: &["namespace"],
                deleted_with: ::opgen::__private::namespace_of_resource::<
                    ConfigMap,
                    _,
                    Option<Namespace>,
                    _,
                >("namespace"),
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
                ..::opgen::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("config", ::core::line!())
            },
            ::opgen::shape::Edge {
                reads: &["config"],
                deleted_with: ::opgen::__private::namespace_of_resource::<
                    Secret,
                    _,
                    Option<Namespace>,
                    _,
                >("namespace"),
                resource: ::opgen::shape::ResourceOptions {
                    once: true,
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                bucket: ::opgen::__private::bucket_of!(Secret),
                ..::opgen::__private::resource_edge::<Secret, _>("key", ::core::line!())
            },
            ::opgen::shape::Edge {
                after: &["key"],
                deleted_with: ::opgen::__private::namespace_node::<
                    Option<Namespace>,
                    _,
                >("namespace"),
                ..{
                    const MANIFEST: ::opgen::shape::Shape = ::opgen::shape::Shape {
                        node: ::opgen::shape::Node::Manifest(::opgen::shape::EmbeddedManifest {
                            file: "manifests/agent.yaml",
                            text: ::core::include_str!(
                                ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/",
                                "manifests/agent.yaml")
                            ),
                        }),
                        access: &[],
                        children: &[],
                    };
                    ::opgen::__private::manifest_edge(
                        "agent",
                        &MANIFEST,
                        ::core::line!(),
                    )
                }
            },
            ::opgen::shape::Edge {
                each: "&app.spec.pools",
                after: &["namespace"],
                deleted_with: ::opgen::__private::namespace_of_group::<
                    PoolTree,
                    Option<Namespace>,
                    _,
                >("namespace"),
                ..::opgen::__private::edge::<PoolTree>("pools", ::core::line!())
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
                        Option<Namespace>,
                        _,
                        _,
                        _,
                        _,
                    >(cx, "namespace", |draft| Self::namespace(draft)),
                    &[],
                ),
                (
                    ::opgen::__private::apply::<
                        ConfigMap,
                        _,
                        _,
                        _,
                        _,
                    >(cx, "config", |draft| Self::config(draft)),
                    &[0],
                ),
                (
                    ::opgen::__private::boxed(async move {
                        let __made0 = ::opgen::__private::read::<
                            ConfigMap,
                            _,
                            _,
                            _,
                        >(cx, "config")?;
                        ::opgen::__private::apply_with::<
                            Secret,
                            _,
                            _,
                            _,
                        >(
                                cx,
                                "key",
                                ::opgen::shape::ResourceOptions {
                                    once: true,
                                    ..::opgen::shape::ResourceOptions::DEFAULT
                                },
                                ::opgen::__private::inputs_digest(
                                    cx,
                                    &[::opgen::__private::version(&__made0)],
                                ),
                                |draft| {
                                    let __value0 = __made0.get()?;
                                    let built = Self::key(draft, __value0);
                                    ::opgen::__private::desired_objects::<Secret, _>(built)
                                },
                            )
                            .await
                    }),
                    &[1],
                ),
                (::opgen::__private::apply_file::<WebApp, Self>(cx, "agent"), &[2]),
                (
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
                    }),
                    &[0],
                ),
            ])
            .await
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::down_each::<PoolTree, _, WebApp, _>(cx, "pools").await?;
        ::opgen::__private::remove_manifest::<WebApp, Self>(cx, "agent").await?;
        ::opgen::__private::remove_with::<
            Secret,
            _,
            _,
            _,
        >(
                cx,
                "key",
                ::opgen::shape::ResourceOptions {
                    once: true,
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
            )
            .await?;
        ::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "config").await?;
        ::opgen::__private::remove::<Option<Namespace>, _, _, _>(cx, "namespace").await?;
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
        let _ = (
            node,
            &node.namespace,
            &node.config,
            &node.key,
            &node.agent,
            &node.pools,
        );
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const namespace: ::opgen::__private::Resource<Option<Namespace>> = ::opgen::__private::Resource::CHILD;
        pub const config: ::opgen::__private::Resource<ConfigMap> = ::opgen::__private::Resource::CHILD;
        pub const key: ::opgen::__private::Resource<Secret> = ::opgen::__private::Resource::CHILD;
        pub const agent: ::opgen::__private::Node<Manifest> = ::opgen::__private::Node::CHILD;
        pub const pools: ::opgen::__private::Several<PoolTree> = ::opgen::__private::Several::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
