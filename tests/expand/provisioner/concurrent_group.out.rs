#[automatically_derived]
impl ::opgen::Provisioner for Workload {
    const SHAPE: ::opgen::Shape = ::opgen::Shape {
        node: ::opgen::Node::Concurrent,
        access: &[],
        children: &[
            ::opgen::__private::resource_edge::<apps::v1::Deployment, _>("deployment"),
            ::opgen::__private::resource_edge::<Vec<CronJob>, _>("jobs"),
            ::opgen::__private::resource_edge::<Service, _>("type"),
            ::opgen::__private::edge::<Warmup>("warmup"),
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
                            {
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
                            {
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
                            {
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
                    >(cx, "warmup")
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
                    >(cx, "deployment")
                        .await
                }),
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::remove::<
                        Vec<CronJob>,
                        _,
                        For<WebApp, Options>,
                        Self,
                    >(cx, "jobs")
                        .await
                }),
                ::opgen::__private::boxed(async move {
                    ::opgen::__private::remove::<
                        Service,
                        _,
                        For<WebApp, Options>,
                        Self,
                    >(cx, "type")
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
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &Workload) {
        let _ = (node, &node.deployment, &node.jobs, &node.r#type, &node.warmup);
    }
};
