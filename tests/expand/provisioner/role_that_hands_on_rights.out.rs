#[automatically_derived]
impl ::opgen::Provisioner for Tree {
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
                ServiceAccount,
                _,
            >("account", ::core::file!(), ::core::line!()),
            ::opgen::Edge {
                access: &[
                    ::opgen::Access::to(
                        ::opgen::__private::kind_of::<ConfigMap>,
                        &[::opgen::Verb::Get, ::opgen::Verb::List],
                        ::opgen::Place {
                            file: ::core::file!(),
                            line: ::core::line!(),
                        },
                    ),
                    ::opgen::Access::to(
                            ::opgen::__private::kind_of::<Secret>,
                            &[::opgen::Verb::Get],
                            ::opgen::Place {
                                file: ::core::file!(),
                                line: ::core::line!(),
                            },
                        )
                        .named(&["tls", "ca"]),
                    ::opgen::Access::to_url(
                        "/healthz/*",
                        &[::opgen::Verb::Get],
                        ::opgen::Place {
                            file: ::core::file!(),
                            line: ::core::line!(),
                        },
                    ),
                ],
                ..::opgen::__private::resource_edge::<
                    Option<ClusterRole>,
                    _,
                >("role", ::core::file!(), ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
impl ::opgen::Provision<WebApp> for Tree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::apply::<
            ServiceAccount,
            _,
            WebApp,
            Self,
        >(
                cx,
                "account",
                ::opgen::ResourceOptions::DEFAULT,
                ::opgen::__private::inputs(cx, &[]),
                || {
                    let built = Self::account(&::opgen::__private::draft(cx));
                    ::opgen::__private::wanted::<ServiceAccount, _>(built)
                },
            )
            .await?;
        ::opgen::__private::apply::<
            Option<ClusterRole>,
            _,
            WebApp,
            Self,
        >(
                cx,
                "role",
                ::opgen::ResourceOptions::DEFAULT,
                ::opgen::__private::inputs(cx, &[]),
                || {
                    let built = Self::role(&::opgen::__private::draft(cx));
                    ::opgen::__private::hand_on::<
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
        ::opgen::__private::remove::<
            Option<ClusterRole>,
            _,
            WebApp,
            Self,
        >(cx, "role", ::opgen::ResourceOptions::DEFAULT)
            .await?;
        ::opgen::__private::remove::<
            ServiceAccount,
            _,
            WebApp,
            Self,
        >(cx, "account", ::opgen::ResourceOptions::DEFAULT)
            .await?;
        ::core::result::Result::Ok(())
    }
}
#[automatically_derived]
#[allow(dead_code, missing_docs, unreachable_pub)]
impl Tree {
    #[doc(hidden)]
    pub fn __read_account<O: ::opgen::Owner, P: ::opgen::Provisioner>(
        cx: &::opgen::Context<'_, O, P>,
        path: &::core::primitive::str,
    ) -> ::opgen::Result<::opgen::Made<ServiceAccount>> {
        ::opgen::__private::read::<ServiceAccount, _, O, P>(cx, path)
    }
    #[doc(hidden)]
    pub fn __read_role<O: ::opgen::Owner, P: ::opgen::Provisioner>(
        cx: &::opgen::Context<'_, O, P>,
        path: &::core::primitive::str,
    ) -> ::opgen::Result<::opgen::Made<Option<ClusterRole>>> {
        ::opgen::__private::read::<Option<ClusterRole>, _, O, P>(cx, path)
    }
}
const _: () = {
    #[allow(dead_code)]
    fn reads(node: &Tree) {
        let _ = (node, &node.account, &node.role);
    }
};
