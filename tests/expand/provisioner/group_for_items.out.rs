#[automatically_derived]
impl ::opgen::Provisioner for PoolTree {
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
            ::opgen::__private::edge::<Machines>("machines", ::core::line!()),
            ::opgen::shape::Edge {
                each: "&pool.disks",
                ..::opgen::__private::edge::<DiskTree>("disks", ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<Each<WebApp, Pool>> for PoolTree {
    async fn provision(
        cx: &::opgen::Context<'_, Each<WebApp, Pool>, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::apply::<
            ConfigMap,
            _,
            _,
            _,
            _,
        >(cx, "config", |draft| Self::config(draft))
            .await?;
        ::opgen::__private::up::<Machines, Each<WebApp, Pool>, _>(cx, "machines").await?;
        ::opgen::__private::boxed(async move {
                ::opgen::__private::up_each::<
                    DiskTree,
                    _,
                    _,
                    Each<WebApp, Pool>,
                    _,
                    _,
                >(
                        cx,
                        "disks",
                        (),
                        ::opgen::__private::inputs_digest(cx, &[]),
                        ::opgen::__private::keyed::<
                            DiskTree,
                            _,
                            Each<WebApp, Pool>,
                            _,
                        >(
                            ::opgen::__private::call1(
                                ::opgen::__private::subject(cx),
                                |pool| &pool.disks,
                            ),
                            |item| ::opgen::__private::text(
                                ::opgen::__private::call1(item, |disk| disk.id),
                            ),
                        ),
                    )
                    .await
            })
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, Each<WebApp, Pool>, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::down_each::<DiskTree, _, Each<WebApp, Pool>, _>(cx, "disks")
            .await?;
        ::opgen::__private::down::<Machines, Each<WebApp, Pool>, _>(cx, "machines")
            .await?;
        ::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "config").await?;
        ::core::result::Result::Ok(())
    }
}
#[automatically_derived]
impl ::opgen::Keyed<Each<WebApp, Pool>> for PoolTree {
    async fn keys(
        cx: &::opgen::Teardown<'_, Each<WebApp, Pool>, Self>,
    ) -> ::opgen::Result<::opgen::__private::Keys> {
        let mut keys = ::opgen::__private::keys_of_objects(cx)?;
        keys.extend(
            ::opgen::__private::keys_below::<
                Machines,
                Each<WebApp, Pool>,
                _,
            >(cx, "machines")
                .await?,
        );
        ::core::result::Result::Ok(keys)
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
    fn reads(node: &PoolTree) {
        let _ = (node, &node.config, &node.machines, &node.disks);
    }
    pub struct ChildrenOfPoolTree;
    impl ChildrenOfPoolTree {
        pub const config: ::opgen::__private::Resource<ConfigMap> = ::opgen::__private::Resource::CHILD;
        pub const machines: ::opgen::__private::Node<Machines> = ::opgen::__private::Node::CHILD;
        pub const disks: ::opgen::__private::Several<DiskTree> = ::opgen::__private::Several::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for PoolTree {
        type Children = ChildrenOfPoolTree;
    }
};
