#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    const SHAPE: ::opgen::Shape = ::opgen::Shape {
        node: ::opgen::Node::Serial,
        access: &[],
        children: &[
            ::opgen::__private::resource_edge::<ConfigMap, _>("config"),
            ::opgen::__private::edge::<Workload>("workload"),
            ::opgen::__private::resource_edge::<Option<Ingress>, _>("ingress"),
        ],
    };
}
#[automatically_derived]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::apply::<
            ConfigMap,
            _,
            WebApp,
            Self,
        >(
                cx,
                "config",
                {
                    let built = Self::config(&::opgen::__private::draft(cx));
                    ::opgen::__private::wanted::<ConfigMap, _>(built)
                },
            )
            .await?;
        ::opgen::__private::up::<Workload, WebApp, Self>(cx, "workload").await?;
        ::opgen::__private::apply::<
            Option<Ingress>,
            _,
            WebApp,
            Self,
        >(
                cx,
                "ingress",
                {
                    let built = Self::ingress(&::opgen::__private::draft(cx));
                    ::opgen::__private::wanted::<Option<Ingress>, _>(built)
                },
            )
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::remove::<Option<Ingress>, _, WebApp, Self>(cx, "ingress")
            .await?;
        ::opgen::__private::down::<Workload, WebApp, Self>(cx, "workload").await?;
        ::opgen::__private::remove::<ConfigMap, _, WebApp, Self>(cx, "config").await?;
        ::core::result::Result::Ok(())
    }
}
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &WebAppTree) {
        let _ = (node, &node.config, &node.workload, &node.ingress);
    }
};
