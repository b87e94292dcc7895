#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::SERIAL,
        access: &[],
        children: &[
            ::opgen::__private::application_edge::<
                ArgoCd,
            >("cert_manager", ::core::line!()),
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
                ..::opgen::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("config", ::core::line!())
            },
            ::opgen::shape::Edge {
                when: "app.spec.monitored",
                reads: &["config"],
                ..::opgen::__private::application_edge::<
                    flux::HelmCharts,
                >("monitoring", ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::apply_application::<
            ArgoCd,
            WebApp,
            Self,
        >(
                cx,
                "cert_manager",
                || {
                    let built = Self::cert_manager(&::opgen::__private::draft(cx));
                    ::opgen::__private::application_of(built)
                },
            )
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
                if ::opgen::__private::is_wanted(
                    cx,
                    "monitoring",
                    ::opgen::__private::call1(
                        ::opgen::__private::subject(cx),
                        |app| app.spec.monitored,
                    ),
                )? {
                    let __made0 = ::opgen::__private::read::<
                        ConfigMap,
                        _,
                        _,
                        _,
                    >(cx, "config")?;
                    ::opgen::__private::apply_application::<
                        flux::HelmCharts,
                        WebApp,
                        Self,
                    >(
                            cx,
                            "monitoring",
                            || {
                                let __value0 = __made0.get()?;
                                let built = Self::monitoring(
                                    &::opgen::__private::draft(cx),
                                    __value0,
                                );
                                ::opgen::__private::application_of(built)
                            },
                        )
                        .await
                } else {
                    let cx = &::opgen::__private::not_wanted(cx);
                    ::opgen::__private::remove_application::<
                        WebApp,
                        Self,
                    >(cx, "monitoring")
                        .await
                }
            })
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::remove_application::<WebApp, Self>(cx, "monitoring").await?;
        ::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "config").await?;
        ::opgen::__private::remove_application::<WebApp, Self>(cx, "cert_manager")
            .await?;
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
        let _ = (node, &node.cert_manager, &node.config, &node.monitoring);
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const cert_manager: ::opgen::__private::Node<Application> = ::opgen::__private::Node::CHILD;
        pub const config: ::opgen::__private::Resource<ConfigMap> = ::opgen::__private::Resource::CHILD;
        pub const monitoring: ::opgen::__private::Several<Application> = ::opgen::__private::Several::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
