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
            ::opgen::__private::resource_edge::<
                ConfigMap,
                _,
            >("config", ::core::file!(), ::core::line!()),
            ::opgen::__private::edge::<
                Workload,
            >("workload", ::core::file!(), ::core::line!()),
            ::opgen::__private::resource_edge::<
                Option<Ingress>,
                _,
            >("ingress", ::core::file!(), ::core::line!()),
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
                ::opgen::ResourceOptions::DEFAULT,
                ::opgen::__private::inputs(cx, &[]),
                || {
                    let built = Self::config(&::opgen::__private::draft(cx));
                    ::opgen::__private::wanted::<ConfigMap, _>(built)
                },
            )
            .await?;
        ::opgen::__private::up::<
            Workload,
            WebApp,
            Self,
        >(cx, "workload", (), ::opgen::__private::inputs(cx, &[]))
            .await?;
        ::opgen::__private::apply::<
            Option<Ingress>,
            _,
            WebApp,
            Self,
        >(
                cx,
                "ingress",
                ::opgen::ResourceOptions::DEFAULT,
                ::opgen::__private::inputs(cx, &[]),
                || {
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
        ::opgen::__private::remove::<
            Option<Ingress>,
            _,
            WebApp,
            Self,
        >(cx, "ingress", ::opgen::ResourceOptions::DEFAULT)
            .await?;
        ::opgen::__private::down::<Workload, WebApp, Self>(cx, "workload").await?;
        ::opgen::__private::remove::<
            ConfigMap,
            _,
            WebApp,
            Self,
        >(cx, "config", ::opgen::ResourceOptions::DEFAULT)
            .await?;
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
    #[doc(hidden)]
    pub fn __read_ingress<O: ::opgen::Owner, P: ::opgen::Provisioner>(
        cx: &::opgen::Context<'_, O, P>,
        path: &::core::primitive::str,
    ) -> ::opgen::Result<::opgen::Made<Option<Ingress>>> {
        ::opgen::__private::read::<Option<Ingress>, _, O, P>(cx, path)
    }
}
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &WebAppTree) {
        let _ = (node, &node.config, &node.workload, &node.ingress);
    }
};
