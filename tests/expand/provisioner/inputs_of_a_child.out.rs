#[automatically_derived]
impl ::opgen::Provisioner for Workload {
    type Inputs = (
        ::opgen::Output<ConfigMap>,
        ::opgen::Output<Plan>,
        ::opgen::Output<Option<Secret>>,
    );
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::SERIAL,
        access: &[],
        children: &[
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(Service),
                ..::opgen::__private::resource_edge::<
                    Service,
                    _,
                >("service", ::core::line!())
            },
            ::opgen::shape::Edge {
                when: "app.spec.public &&service.spec.is_some()",
                reads: &["service"],
                ..::opgen::__private::edge::<Check>("check", ::core::line!())
            },
            ::opgen::shape::Edge {
                when: "is_single",
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
                ..::opgen::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("note", ::core::line!())
            },
            ::opgen::__private::edge::<Nodes>("nodes", ::core::line!()),
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for Workload {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::boxed(async move {
                let __made0 = ::core::clone::Clone::clone(&cx.inputs().0);
                let __made1 = ::core::clone::Clone::clone(&cx.inputs().2);
                ::opgen::__private::apply_with::<
                    Service,
                    _,
                    _,
                    _,
                >(
                        cx,
                        "service",
                        ::opgen::shape::ResourceOptions::DEFAULT,
                        ::opgen::__private::inputs_digest(
                            cx,
                            &[
                                ::opgen::__private::version(&__made0),
                                ::opgen::__private::version(&__made1),
                            ],
                        ),
                        |draft| {
                            let __value0 = __made0.get()?;
                            let __value1 = ::core::option::Option::as_ref(
                                __made1.get()?,
                            );
                            let built = Self::service(draft, __value0, __value1);
                            ::opgen::__private::desired_objects::<Service, _>(built)
                        },
                    )
                    .await
            })
            .await?;
        ::opgen::__private::boxed(async move {
                let __made0 = ::opgen::__private::read::<
                    Service,
                    _,
                    _,
                    _,
                >(cx, "service")?;
                if ::opgen::__private::is_wanted(
                    cx,
                    "check",
                    ::opgen::__private::call2(
                        ::opgen::__private::subject(cx),
                        __made0.get()?,
                        |app, service| app.spec.public && service.spec.is_some(),
                    ),
                )? {
                    ::opgen::__private::up_with::<
                        Check,
                        WebApp,
                        _,
                        _,
                    >(
                            cx,
                            "check",
                            (),
                            ::opgen::__private::inputs_digest(
                                cx,
                                &[::opgen::__private::version(&__made0)],
                            ),
                        )
                        .await
                } else {
                    let cx = &::opgen::__private::not_wanted(cx);
                    ::opgen::__private::down::<Check, WebApp, _>(cx, "check").await
                }
            })
            .await?;
        ::opgen::__private::boxed(async move {
                let __made0 = ::core::clone::Clone::clone(&cx.inputs().1);
                if ::opgen::__private::is_wanted(
                    cx,
                    "note",
                    (is_single)(&::opgen::__private::draft(cx), __made0.get()?),
                )? {
                    ::opgen::__private::apply_with::<
                        ConfigMap,
                        _,
                        _,
                        _,
                    >(
                            cx,
                            "note",
                            ::opgen::shape::ResourceOptions::DEFAULT,
                            ::opgen::__private::inputs_digest(
                                cx,
                                &[::opgen::__private::version(&__made0)],
                            ),
                            |draft| {
                                let __value0 = __made0.get()?;
                                let built = Self::note(draft, __value0);
                                ::opgen::__private::desired_objects::<ConfigMap, _>(built)
                            },
                        )
                        .await
                } else {
                    let cx = &::opgen::__private::not_wanted(cx);
                    ::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "note").await
                }
            })
            .await?;
        ::opgen::__private::boxed(async move {
                let __made0 = ::core::clone::Clone::clone(&cx.inputs().1);
                ::opgen::__private::up_with::<
                    Nodes,
                    WebApp,
                    _,
                    _,
                >(
                        cx,
                        "nodes",
                        (::core::clone::Clone::clone(&__made0),),
                        ::opgen::__private::inputs_digest(
                            cx,
                            &[::opgen::__private::version(&__made0)],
                        ),
                    )
                    .await
            })
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::down::<Nodes, WebApp, _>(cx, "nodes").await?;
        ::opgen::__private::remove::<ConfigMap, _, _, _>(cx, "note").await?;
        ::opgen::__private::down::<Check, WebApp, _>(cx, "check").await?;
        ::opgen::__private::remove::<Service, _, _, _>(cx, "service").await?;
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
    fn reads(node: &Workload) {
        let _ = (node, &node.service, &node.check, &node.note, &node.nodes);
    }
    pub struct ChildrenOfWorkload;
    impl ChildrenOfWorkload {
        pub const service: ::opgen::__private::Resource<Service> = ::opgen::__private::Resource::CHILD;
        pub const check: ::opgen::__private::Several<Check> = ::opgen::__private::Several::CHILD;
        pub const note: ::opgen::__private::Several<ConfigMap> = ::opgen::__private::Several::CHILD;
        pub const nodes: ::opgen::__private::Node<Nodes> = ::opgen::__private::Node::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for Workload {
        type Children = ChildrenOfWorkload;
    }
};
