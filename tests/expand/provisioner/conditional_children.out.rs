#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::SERIAL,
        access: &[],
        children: &[
            ::opgen::shape::Edge {
                when: "app.spec.public",
                bucket: ::opgen::__private::bucket_of!(Ingress),
                ..::opgen::__private::resource_edge::<
                    Ingress,
                    _,
                >("ingress", ::core::line!())
            },
            ::opgen::shape::Edge {
                when: "wants_snapshots",
                ..::opgen::__private::edge::<Snapshot>("snapshot", ::core::line!())
            },
            ::opgen::shape::Edge {
                resource: ::opgen::shape::ResourceOptions {
                    if_api: true,
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                bucket: ::opgen::__private::bucket_of!(ServiceMonitor),
                ..::opgen::__private::resource_edge::<
                    ServiceMonitor,
                    _,
                >("monitor", ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::boxed(async move {
                if ::opgen::__private::is_wanted(
                    cx,
                    "ingress",
                    ::opgen::__private::call1(
                        ::opgen::__private::subject(cx),
                        |app| app.spec.public,
                    ),
                )? {
                    ::opgen::__private::apply::<
                        Ingress,
                        _,
                        _,
                        _,
                        _,
                    >(cx, "ingress", |draft| Self::ingress(draft))
                        .await
                } else {
                    let cx = &::opgen::__private::not_wanted(cx);
                    ::opgen::__private::remove::<Ingress, _, _, _>(cx, "ingress").await
                }
            })
            .await?;
        ::opgen::__private::boxed(async move {
                if ::opgen::__private::is_wanted(
                    cx,
                    "snapshot",
                    (wants_snapshots)(&::opgen::__private::draft(cx)),
                )? {
                    ::opgen::__private::up::<Snapshot, WebApp, _>(cx, "snapshot").await
                } else {
                    let cx = &::opgen::__private::not_wanted(cx);
                    ::opgen::__private::down::<Snapshot, WebApp, _>(cx, "snapshot").await
                }
            })
            .await?;
        ::opgen::__private::apply_with::<
            ServiceMonitor,
            _,
            _,
            _,
        >(
                cx,
                "monitor",
                ::opgen::shape::ResourceOptions {
                    if_api: true,
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                ::opgen::__private::inputs_digest(cx, &[]),
                |draft| {
                    let built = Self::monitor(draft);
                    ::opgen::__private::desired_objects::<ServiceMonitor, _>(built)
                },
            )
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::remove_with::<
            ServiceMonitor,
            _,
            _,
            _,
        >(
                cx,
                "monitor",
                ::opgen::shape::ResourceOptions {
                    if_api: true,
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
            )
            .await?;
        ::opgen::__private::down::<Snapshot, WebApp, _>(cx, "snapshot").await?;
        ::opgen::__private::remove::<Ingress, _, _, _>(cx, "ingress").await?;
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
        let _ = (node, &node.ingress, &node.snapshot, &node.monitor);
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const ingress: ::opgen::__private::Several<Ingress> = ::opgen::__private::Several::CHILD;
        pub const snapshot: ::opgen::__private::Several<Snapshot> = ::opgen::__private::Several::CHILD;
        pub const monitor: ::opgen::__private::Several<ServiceMonitor> = ::opgen::__private::Several::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
