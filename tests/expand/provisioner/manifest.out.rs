#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Takes = ();
    type Gives = ();
    const SHAPE: ::opgen::Shape = ::opgen::Shape {
        node: ::opgen::Node::Group {
            up: ::opgen::Order::Serial,
            down: ::opgen::Order::Serial,
        },
        access: &[],
        children: &[
            {
                const MANIFEST: ::opgen::Shape = ::opgen::Shape {
                    node: ::opgen::Node::Manifest(::opgen::Embedded {
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
                    ::core::file!(),
                    ::core::line!(),
                )
            },
            ::opgen::Edge {
                when: "app.spec.gauges",
                ..{
                    const MANIFEST: ::opgen::Shape = ::opgen::Shape {
                        node: ::opgen::Node::Manifest(::opgen::Embedded {
                            file: "manifests/gauges.yaml",
                            text: ::core::include_str!(
                                ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/",
                                "manifests/gauges.yaml")
                            ),
                        }),
                        access: &[::opgen::__private::applied::<api::Gauge>()],
                        children: &[],
                    };
                    ::opgen::__private::manifest_edge(
                        "gauges",
                        &MANIFEST,
                        ::core::file!(),
                        ::core::line!(),
                    )
                }
            },
            ::opgen::__private::resource_edge::<
                ConfigMap,
                _,
            >("config", ::core::file!(), ::core::line!()),
            ::opgen::Edge {
                reads: &["config"],
                ..{
                    const MANIFEST: ::opgen::Shape = ::opgen::Shape {
                        node: ::opgen::Node::Manifest(::opgen::Embedded {
                            file: "",
                            text: "",
                        }),
                        access: &[
                            ::opgen::__private::applied::<Deployment>(),
                            ::opgen::__private::applied::<Service>(),
                        ],
                        children: &[],
                    };
                    ::opgen::__private::manifest_edge(
                        "workload",
                        &MANIFEST,
                        ::core::file!(),
                        ::core::line!(),
                    )
                }
            },
        ],
    };
}
#[automatically_derived]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::apply_file::<WebApp, Self>(cx, "agent").await?;
        ::opgen::__private::boxed(async move {
                if ::opgen::__private::is_wanted(
                    cx,
                    "gauges",
                    ::opgen::__private::ask1(
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
            WebApp,
            Self,
        >(
                cx,
                "config",
                ::opgen::ResourceOptions::DEFAULT,
                ::opgen::__private::inputs(cx, &[]),
                || {
                    let built = Self::config(&::opgen::__private::draft(cx));
                    ::opgen::__private::wanted::<ConfigMap, _>(built)
                },
            )
            .await?;
        ::opgen::__private::boxed(async move {
                let __made0 = ::opgen::__private::read::<
                    ConfigMap,
                    _,
                    WebApp,
                    Self,
                >(cx, "config")?;
                ::opgen::__private::apply_manifest::<
                    WebApp,
                    Self,
                >(
                        cx,
                        "workload",
                        || {
                            let built = Self::workload(
                                &::opgen::__private::draft(cx),
                                __made0.get()?,
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
        ::opgen::__private::remove::<
            ConfigMap,
            _,
            WebApp,
            Self,
        >(cx, "config", ::opgen::ResourceOptions::DEFAULT)
            .await?;
        ::opgen::__private::remove_manifest::<WebApp, Self>(cx, "gauges").await?;
        ::opgen::__private::remove_manifest::<WebApp, Self>(cx, "agent").await?;
        ::core::result::Result::Ok(())
    }
}
#[automatically_derived]
#[allow(dead_code, missing_docs, unreachable_pub)]
impl WebAppTree {
    #[doc(hidden)]
    pub fn __read_config<O: ::opgen::Owner, P: ::opgen::Provisioner>(
        cx: &::opgen::Context<'_, O, P>,
        path: &::core::primitive::str,
    ) -> ::opgen::Result<::opgen::Made<ConfigMap>> {
        ::opgen::__private::read::<ConfigMap, _, O, P>(cx, path)
    }
}
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &WebAppTree) {
        let _ = (node, &node.agent, &node.gauges, &node.config, &node.workload);
    }
};
