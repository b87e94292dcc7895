#[automatically_derived]
impl ::opgen::Provisioner for Workload {
    type Takes = ();
    type Gives = ();
    const SHAPE: ::opgen::Shape = ::opgen::Shape {
        node: ::opgen::Node::Group {
            up: ::opgen::Order::Concurrent,
            down: ::opgen::Order::Concurrent,
        },
        access: &[],
        children: &[
            ::opgen::__private::resource_edge::<
                apps::v1::Deployment,
                _,
            >("deployment", ::core::file!(), ::core::line!()),
            ::opgen::__private::resource_edge::<
                Vec<CronJob>,
                _,
            >("jobs", ::core::file!(), ::core::line!()),
            ::opgen::__private::resource_edge::<
                Service,
                _,
            >("type", ::core::file!(), ::core::line!()),
            ::opgen::__private::edge::<
                Warmup,
            >("warmup", ::core::file!(), ::core::line!()),
        ],
    };
}
#[automatically_derived]
impl ::opgen::Provision<For<WebApp, Options>> for Workload {
    async fn provision(
        cx: &::opgen::Context<'_, For<WebApp, Options>, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::concurrently([
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::apply::<
                        apps::v1::Deployment,
                        _,
                        For<WebApp, Options>,
                        Self,
                    >(
                            cx,
                            "deployment",
                            ::opgen::ResourceOptions::DEFAULT,
                            ::opgen::__private::inputs(cx, &[]),
                            || {
                                let built = Self::deployment(
                                    &::opgen::__private::draft(cx),
                                );
                                ::opgen::__private::wanted::<apps::v1::Deployment, _>(built)
                            },
                        )
                        .await
                }),
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::apply::<
                        Vec<CronJob>,
                        _,
                        For<WebApp, Options>,
                        Self,
                    >(
                            cx,
                            "jobs",
                            ::opgen::ResourceOptions::DEFAULT,
                            ::opgen::__private::inputs(cx, &[]),
                            || {
                                let built = Self::jobs(&::opgen::__private::draft(cx));
                                ::opgen::__private::wanted::<Vec<CronJob>, _>(built)
                            },
                        )
                        .await
                }),
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::apply::<
                        Service,
                        _,
                        For<WebApp, Options>,
                        Self,
                    >(
                            cx,
                            "type",
                            ::opgen::ResourceOptions::DEFAULT,
                            ::opgen::__private::inputs(cx, &[]),
                            || {
                                let built = Self::r#type(&::opgen::__private::draft(cx));
                                ::opgen::__private::wanted::<Service, _>(built)
                            },
                        )
                        .await
                }),
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::up::<
                        Warmup,
                        For<WebApp, Options>,
                        Self,
                    >(cx, "warmup", (), ::opgen::__private::inputs(cx, &[]))
                        .await
                }),
            ])
            .await
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, For<WebApp, Options>, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::concurrently([
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::remove::<
                        apps::v1::Deployment,
                        _,
                        For<WebApp, Options>,
                        Self,
                    >(cx, "deployment", ::opgen::ResourceOptions::DEFAULT)
                        .await
                }),
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::remove::<
                        Vec<CronJob>,
                        _,
                        For<WebApp, Options>,
                        Self,
                    >(cx, "jobs", ::opgen::ResourceOptions::DEFAULT)
                        .await
                }),
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::remove::<
                        Service,
                        _,
                        For<WebApp, Options>,
                        Self,
                    >(cx, "type", ::opgen::ResourceOptions::DEFAULT)
                        .await
                }),
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::down::<
                        Warmup,
                        For<WebApp, Options>,
                        Self,
                    >(cx, "warmup")
                        .await
                }),
            ])
            .await
    }
}
#[automatically_derived]
#[allow(dead_code, missing_docs, unreachable_pub)]
impl Workload {
    #[doc(hidden)]
    pub fn __read_deployment<O: ::opgen::Owner, P: ::opgen::Provisioner>(
        cx: &::opgen::Context<'_, O, P>,
        path: &::core::primitive::str,
    ) -> ::opgen::Result<::opgen::Made<apps::v1::Deployment>> {
        ::opgen::__private::read::<apps::v1::Deployment, _, O, P>(cx, path)
    }
    #[doc(hidden)]
    pub fn __read_jobs<O: ::opgen::Owner, P: ::opgen::Provisioner>(
        cx: &::opgen::Context<'_, O, P>,
        path: &::core::primitive::str,
    ) -> ::opgen::Result<::opgen::Made<Vec<CronJob>>> {
        ::opgen::__private::read::<Vec<CronJob>, _, O, P>(cx, path)
    }
    #[doc(hidden)]
    pub fn __read_type<O: ::opgen::Owner, P: ::opgen::Provisioner>(
        cx: &::opgen::Context<'_, O, P>,
        path: &::core::primitive::str,
    ) -> ::opgen::Result<::opgen::Made<Service>> {
        ::opgen::__private::read::<Service, _, O, P>(cx, path)
    }
}
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &Workload) {
        let _ = (node, &node.deployment, &node.jobs, &node.r#type, &node.warmup);
    }
};
