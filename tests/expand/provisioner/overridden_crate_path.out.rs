#[automatically_derived]
impl my::facade::Provisioner for Tree {
    const SHAPE: my::facade::Shape = my::facade::Shape {
        node: my::facade::Node::Serial,
        access: &[],
        children: &[
            my::facade::__private::resource_edge::<ConfigMap, _>("config"),
            my::facade::__private::edge::<Gate>("gate"),
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
                {
                    let built = Self::config(&my::facade::__private::draft(cx));
                    my::facade::__private::wanted::<ConfigMap, _>(built)
                },
            )
            .await?;
        my::facade::__private::up::<Gate, WebApp, Self>(cx, "gate").await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &my::facade::Teardown<'_, WebApp, Self>,
    ) -> my::facade::Result<()> {
        my::facade::__private::down::<Gate, WebApp, Self>(cx, "gate").await?;
        my::facade::__private::remove::<ConfigMap, _, WebApp, Self>(cx, "config").await?;
        ::core::result::Result::Ok(())
    }
}
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &Tree) {
        let _ = (node, &node.config, &node.gate);
    }
};
