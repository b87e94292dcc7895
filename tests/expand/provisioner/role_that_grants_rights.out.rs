#[automatically_derived]
impl ::opgen::Provisioner for Tree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::SERIAL,
        access: &[],
        children: &[
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(ServiceAccount),
                ..::opgen::__private::resource_edge::<
                    ServiceAccount,
                    _,
                >("account", ::core::line!())
            },
            ::opgen::shape::Edge {
                bucket: ::opgen::__private::bucket_of!(Option < ClusterRole >),
                access: &[
                    ::opgen::shape::Access::to(
                            ::opgen::__private::kind_of::<ConfigMap>,
                            &[::opgen::shape::Verb::Get, ::opgen::shape::Verb::List],
                            ::opgen::shape::SourceLocation {
                                file: ::core::file!(),
                                line: ::core::line!(),
                            },
                        )
                        .in_bucket(::opgen::__private::bucket_of!(ConfigMap)),
                    ::opgen::shape::Access::to(
                            ::opgen::__private::kind_of::<Secret>,
                            &[::opgen::shape::Verb::Get],
                            ::opgen::shape::SourceLocation {
                                file: ::core::file!(),
                                line: ::core::line!(),
                            },
                        )
                        .in_bucket(::opgen::__private::bucket_of!(Secret))
                        .named(&["tls", "ca"]),
                    ::opgen::shape::Access::to_url(
                        "/healthz/*",
                        &[::opgen::shape::Verb::Get],
                        ::opgen::shape::SourceLocation {
                            file: ::core::file!(),
                            line: ::core::line!(),
                        },
                    ),
                ],
                ..::opgen::__private::resource_edge::<
                    Option<ClusterRole>,
                    _,
                >("role", ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for Tree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::apply::<
            ServiceAccount,
            _,
            _,
            _,
            _,
        >(cx, "account", |draft| Self::account(draft))
            .await?;
        ::opgen::__private::apply_with::<
            Option<ClusterRole>,
            _,
            _,
            _,
        >(
                cx,
                "role",
                ::opgen::shape::ResourceOptions::DEFAULT,
                ::opgen::__private::inputs_digest(cx, &[]),
                |draft| {
                    let built = Self::role(draft);
                    ::opgen::__private::granted_roles::<
                        Option<ClusterRole>,
                        _,
                    >(
                        "role",
                        <Self as ::opgen::Provisioner>::SHAPE.children[1].access,
                        built,
                    )
                },
            )
            .await?;
        ::core::result::Result::Ok(())
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::remove::<Option<ClusterRole>, _, _, _>(cx, "role").await?;
        ::opgen::__private::remove::<ServiceAccount, _, _, _>(cx, "account").await?;
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
        let _ = (node, &node.account, &node.role);
    }
    pub struct ChildrenOfTree;
    impl ChildrenOfTree {
        pub const account: ::opgen::__private::Resource<ServiceAccount> = ::opgen::__private::Resource::CHILD;
        pub const role: ::opgen::__private::Resource<Option<ClusterRole>> = ::opgen::__private::Resource::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for Tree {
        type Children = ChildrenOfTree;
    }
};
