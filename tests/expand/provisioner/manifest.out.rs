#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::SERIAL,
        access: &[],
        children: &[
            {
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
                ::opgen::__private::manifest_edge("agent", &MANIFEST, ::core::line!())
            },
            ::opgen::shape::Edge {
                when: "app.spec.gauges",
                ..{
                    const MANIFEST: ::opgen::shape::Shape = ::opgen::shape::Shape {
                        node: ::opgen::shape::Node::Manifest(::opgen::shape::EmbeddedManifest {
                            file: "manifests/gauges.yaml",
                            text: ::core::include_str!(
                                ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/",
                                "manifests/gauges.yaml")
                            ),
                        }),
                        access: &[
                            ::opgen::__private::applied::<api::Gauge>()
                                .in_bucket(::opgen::__private::bucket_of!(api::Gauge)),
                        ],
                        children: &[],
                    };
                    ::opgen::__private::manifest_edge(
                        "gauges",
                        &MANIFEST,
                        ::core::line!(),
                    )
                }
            },
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
                ..::opgen::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("config", ::core::line!())
            },
            ::opgen::shape::Edge {
                reads: &["config"],
                ..{
                    const MANIFEST: ::opgen::shape::Shape = ::opgen::shape::Shape {
                        node: ::opgen::shape::Node::Manifest(::opgen::shape::EmbeddedManifest {
                            file: "",
                            text: "",
                        }),
                        access: &[
                            ::opgen::__private::applied::<Deployment>()
                                .in_bucket(::opgen::__private::bucket_of!(Deployment)),
                            ::opgen::__private::applied::<Service>()
                                .in_bucket(::opgen::__private::bucket_of!(Service)),
                        ],
                        children: &[],
                    };
                    ::opgen::__private::manifest_edge(
                        "workload",
                        &MANIFEST,
                        ::core::line!(),
                    )
                }
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::apply_file::<WebApp, Self>(cx, "agent").await?;
        ::opgen::__private::boxed(async move {
                if ::opgen::__private::is_wanted(
                    cx,
                    "gauges",
                    ::opgen::__private::call1(
                        ::opgen::__private::subject(cx),
                        |app| app.spec.gauges,
                    ),
                )? {
                    ::opgen::__private::apply_file::<WebApp, Self>(cx, "gauges").await
                } else {
                    let cx = &::opgen::__private::not_wanted(cx);
                    ::opgen::__private::remove_manifest::<WebApp, Self>(cx, "gauges")
                        .await
                }
            })
            .await?;
        ::opgen::__private::apply::<
            ConfigMap,
            _,
            _,
            _,
            _,
        >(cx, "config", |draft| Self::config(draft))
            .await?;
        ::opgen::__private::boxed(async move {
                let __made0 = ::opgen::__private::read::<
                    ConfigMap,
                    _,
                    _,
                    _,
                >(cx, "config")?;
                ::opgen::__private::apply_manifest::<
                    WebApp,
                    Self,
                >(
                        cx,
                        "workload",
                        || {
                            let __value0 = __made0.get()?;
                            let built = Self::workload(
                                &::opgen::__private::draft(cx),
                                __value0,
                            );
                            ::opgen::__private::text_of(built)
                        },
                    )
                    .await
            })
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::remove_manifest::<WebApp, Self>(cx, "workload").await?;
        ::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "config").await?;
        ::opgen::__private::remove_manifest::<WebApp, Self>(cx, "gauges").await?;
        ::opgen::__private::remove_manifest::<WebApp, Self>(cx, "agent").await?;
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
        let _ = (node, &node.agent, &node.gauges, &node.config, &node.workload);
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const agent: ::opgen::__private::Node<Manifest> = ::opgen::__private::Node::CHILD;
        pub const gauges: ::opgen::__private::Several<Manifest> = ::opgen::__private::Several::CHILD;
        pub const config: ::opgen::__private::Resource<ConfigMap> = ::opgen::__private::Resource::CHILD;
        pub const workload: ::opgen::__private::Node<Manifest> = ::opgen::__private::Node::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
