#[automatically_derived]
impl my::facade::Provisioner for Tree {
    type Takes = ();
    type Gives = ();
    const SHAPE: my::facade::Shape = my::facade::Shape {
        node: my::facade::Node::Group {
            up: my::facade::Order::Serial,
            down: my::facade::Order::Serial,
        },
        access: &[],
        children: &[
            my::facade::__private::resource_edge::<
                ConfigMap,
                _,
            >("config", ::core::file!(), ::core::line!()),
            my::facade::__private::edge::<Gate>("gate", ::core::file!(), ::core::line!()),
        ],
    };
}
#[automatically_derived]
impl my::facade::Provision<WebApp> for Tree {
    async fn provision(
        cx: &my::facade::Context<'_, WebApp, Self>,
    ) -> my::facade::Result<()> {
        my::facade::__private::apply::<
            ConfigMap,
            _,
            WebApp,
            Self,
        >(
                cx,
                "config",
                my::facade::ResourceOptions::DEFAULT,
                my::facade::__private::inputs(cx, &[]),
                || {
                    let built = Self::config(&my::facade::__private::draft(cx));
                    my::facade::__private::wanted::<ConfigMap, _>(built)
                },
            )
            .await?;
        my::facade::__private::up::<
            Gate,
            WebApp,
            Self,
        >(cx, "gate", (), my::facade::__private::inputs(cx, &[]))
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &my::facade::Teardown<'_, WebApp, Self>,
    ) -> my::facade::Result<()> {
        my::facade::__private::down::<Gate, WebApp, Self>(cx, "gate").await?;
        my::facade::__private::remove::<
            ConfigMap,
            _,
            WebApp,
            Self,
        >(cx, "config", my::facade::ResourceOptions::DEFAULT)
            .await?;
        ::core::result::Result::Ok(())
    }
}
#[automatically_derived]
#[allow(dead_code, missing_docs, unreachable_pub)]
impl Tree {
    #[doc(hidden)]
    pub fn __read_config<O: my::facade::Owner, P: my::facade::Provisioner>(
        cx: &my::facade::Context<'_, O, P>,
        path: &::core::primitive::str,
    ) -> my::facade::Result<my::facade::Made<ConfigMap>> {
        my::facade::__private::read::<ConfigMap, _, O, P>(cx, path)
    }
}
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &Tree) {
        let _ = (node, &node.config, &node.gate);
    }
};
