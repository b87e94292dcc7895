#[automatically_derived]
impl ::opgen::Provisioner for Workload {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::CONCURRENT,
        access: &[],
        children: &[
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(apps::v1::Deployment),
                ..::opgen::__private::resource_edge::<
                    apps::v1::Deployment,
                    _,
                >("deployment", ::core::line!())
            },
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(Vec < CronJob >),
                ..::opgen::__private::resource_edge::<
                    Vec<CronJob>,
                    _,
                >("jobs", ::core::line!())
            },
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(Service),
                ..::opgen::__private::resource_edge::<
                    Service,
                    _,
                >("type", ::core::line!())
            },
            ::opgen::__private::edge::<Warmup>("warmup", ::core::line!()),
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<For<WebApp, Options>> for Workload {
    async fn provision(
        cx: &::opgen::Context<'_, For<WebApp, Options>, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::concurrently([
                ::opgen::__private::apply::<
                    apps::v1::Deployment,
                    _,
                    _,
                    _,
                    _,
                >(cx, "deployment", |draft| Self::deployment(draft)),
                ::opgen::__private::apply::<
                    Vec<CronJob>,
                    _,
                    _,
                    _,
                    _,
                >(cx, "jobs", |draft| Self::jobs(draft)),
                ::opgen::__private::apply::<
                    Service,
                    _,
                    _,
                    _,
                    _,
                >(cx, "type", |draft| Self::r#type(draft)),
                ::opgen::__private::up::<Warmup, For<WebApp, Options>, _>(cx, "warmup"),
            ])
            .await
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, For<WebApp, Options>, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::concurrently([
                ::opgen::__private::remove::<
                    apps::v1::Deployment,
                    _,
                    _,
                    _,
                >(cx, "deployment"),
                ::opgen::__private::remove::<Vec<CronJob>, _, _, _>(cx, "jobs"),
                ::opgen::__private::remove::<Service, _, _, _>(cx, "type"),
                ::opgen::__private::down::<Warmup, For<WebApp, Options>, _>(cx, "warmup"),
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
    fn reads(node: &Workload) {
        let _ = (node, &node.deployment, &node.jobs, &node.r#type, &node.warmup);
    }
    pub struct ChildrenOfWorkload;
    impl ChildrenOfWorkload {
        pub const deployment: ::opgen::__private::Resource<apps::v1::Deployment> = ::opgen::__private::Resource::CHILD;
        pub const jobs: ::opgen::__private::Resource<Vec<CronJob>> = ::opgen::__private::Resource::CHILD;
        pub const r#type: ::opgen::__private::Resource<Service> = ::opgen::__private::Resource::CHILD;
        pub const warmup: ::opgen::__private::Node<Warmup> = ::opgen::__private::Node::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for Workload {
        type Children = ChildrenOfWorkload;
    }
};
