#[automatically_derived]
impl my::facade::Provisioner for Tree {
    type Inputs = ();
    type Output = ();
    const SHAPE: my::facade::shape::Shape = my::facade::shape::Shape {
        node: my::facade::shape::Node::SERIAL,
        access: &[],
        children: &[
            my::facade::shape::Edge {
                bucket: my::facade::__private::bucket_of!(ConfigMap),
                ..my::facade::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("config", ::core::line!())
            },
            my::facade::__private::edge::<Gate>("gate", ::core::line!()),
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl my::facade::Provision<WebApp> for Tree {
    async fn provision(
        cx: &my::facade::Context<'_, WebApp, Self>,
    ) -> my::facade::Result<()> {
        my::facade::__private::apply::<
            ConfigMap,
            _,
            _,
            _,
            _,
        >(cx, "config", |draft| Self::config(draft))
            .await?;
        my::facade::__private::up::<Gate, WebApp, _>(cx, "gate").await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &my::facade::Teardown<'_, WebApp, Self>,
    ) -> my::facade::Result<()> {
        my::facade::__private::down::<Gate, WebApp, _>(cx, "gate").await?;
        my::facade::__private::remove::<ConfigMap, _, _, _>(cx, "config").await?;
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
    fn reads(node: &Tree) {
        let _ = (node, &node.config, &node.gate);
    }
    pub struct ChildrenOfTree;
    impl ChildrenOfTree {
        pub const config: my::facade::__private::Resource<ConfigMap> = my::facade::__private::Resource::CHILD;
        pub const gate: my::facade::__private::Node<Gate> = my::facade::__private::Node::CHILD;
    }
    #[automatically_derived]
    impl my::facade::__private::Group for Tree {
        type Children = ChildrenOfTree;
    }
};
