#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::SERIAL,
        access: &[],
        children: &[
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
                ..::opgen::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("config", ::core::line!())
            },
            ::opgen::__private::edge::<Workload>("workload", ::core::line!()),
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(Option < Ingress >),
                ..::opgen::__private::resource_edge::<
                    Option<Ingress>,
                    _,
                >("ingress", ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::apply::<
            ConfigMap,
            _,
            _,
            _,
            _,
        >(cx, "config", |draft| Self::config(draft))
            .await?;
        ::opgen::__private::up::<Workload, WebApp, _>(cx, "workload").await?;
        ::opgen::__private::apply::<
            Option<Ingress>,
            _,
            _,
            _,
            _,
        >(cx, "ingress", |draft| Self::ingress(draft))
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::remove::<Option<Ingress>, _, _, _>(cx, "ingress").await?;
        ::opgen::__private::down::<Workload, WebApp, _>(cx, "workload").await?;
        ::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "config").await?;
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
        let _ = (node, &node.config, &node.workload, &node.ingress);
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const config: ::opgen::__private::Resource<ConfigMap> = ::opgen::__private::Resource::CHILD;
        pub const workload: ::opgen::__private::Node<Workload> = ::opgen::__private::Node::CHILD;
        pub const ingress: ::opgen::__private::Resource<Option<Ingress>> = ::opgen::__private::Resource::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
