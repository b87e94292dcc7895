#[automatically_derived]
impl ::opgen::Provisioner for Snapshot {
    type Takes = ();
    type Gives = ();
    const SHAPE: ::opgen::Shape = ::opgen::Shape {
        node: ::opgen::Node::Custom,
        access: &[
            ::opgen::Access::to(
                ::opgen::__private::kind_of::<Secret>,
                &[::opgen::Verb::Get, ::opgen::Verb::List, ::opgen::Verb::Watch],
                ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            ),
            ::opgen::Access::to(
                ::opgen::__private::kind_of::<core::v1::Pod>,
                &[::opgen::Verb::Delete, ::opgen::Verb::DeleteCollection],
                ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            ),
            ::opgen::Access::to(
                    ::opgen::__private::kind_of::<Pod>,
                    &[::opgen::Verb::Update, ::opgen::Verb::Patch],
                    ::opgen::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .part("status"),
            ::opgen::Access::to(
                    ::opgen::__private::kind_of::<Pod>,
                    &[::opgen::Verb::Create],
                    ::opgen::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .part("eviction"),
            ::opgen::Access::to(
                ::opgen::__private::kind_of::<ConfigMap>,
                &[::opgen::Verb::Create, ::opgen::Verb::Patch],
                ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            ),
            ::opgen::Access::to(
                    ::opgen::__private::kind_of::<Secret>,
                    &[::opgen::Verb::Get, ::opgen::Verb::Patch],
                    ::opgen::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .named(&["tls", "ca"])
                .within("kube-system"),
            ::opgen::Access::to(
                    ::opgen::__private::kind_of::<Deployment>,
                    &[::opgen::Verb::Get],
                    ::opgen::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .part("scale")
                .named(&["web"]),
            ::opgen::Access::to_url(
                "/metrics",
                &[::opgen::Verb::Get],
                ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            ),
        ],
        children: &[],
    };
}
#[automatically_derived]
impl ::opgen::access::Get<Snapshot> for Secret {}
#[automatically_derived]
impl ::opgen::access::List<Snapshot> for Secret {}
#[automatically_derived]
impl ::opgen::access::Watch<Snapshot> for Secret {}
#[automatically_derived]
impl ::opgen::access::Delete<Snapshot> for core::v1::Pod {}
#[automatically_derived]
impl ::opgen::access::DeleteCollection<Snapshot> for core::v1::Pod {}
#[automatically_derived]
impl ::opgen::access::UpdateStatus<Snapshot> for Pod {}
#[automatically_derived]
impl ::opgen::access::PatchStatus<Snapshot> for Pod {}
#[automatically_derived]
impl ::opgen::access::Create<Snapshot> for ConfigMap {}
#[automatically_derived]
impl ::opgen::access::Patch<Snapshot> for ConfigMap {}
#[automatically_derived]
impl ::opgen::access::Patch<Snapshot> for Secret {}
#[allow(dead_code)]
const _: () = {
    fn reads(node: &Snapshot) {
        let _ = (node,);
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for Snapshot {
        type Children = ::opgen::__private::NoChildren;
    }
};
