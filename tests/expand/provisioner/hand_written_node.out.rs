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
            ::opgen::Access::to(
                    ::opgen::__private::kind_of::<Deployment>,
                    &[::opgen::Verb::Get, ::opgen::Verb::Patch],
                    ::opgen::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .part("scale")
                .within("kube-system"),
            ::opgen::Access::to(
                    ::opgen::__private::kind_of::<Pod>,
                    &[::opgen::Verb::Get],
                    ::opgen::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .part("log"),
            ::opgen::Access::to(
                    ::opgen::__private::kind_of::<Machine>,
                    &[::opgen::Verb::Update],
                    ::opgen::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .part(<parts::Pause as ::opgen::Part>::NAME),
            ::opgen::Access::to_url(
                "/metrics",
                &[::opgen::Verb::Get],
                ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            ),
            ::opgen::Access::to(
                    ::opgen::__private::kind_of::<Pod>,
                    &[::opgen::Verb::Create],
                    ::opgen::Place {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .part("exec"),
            ::opgen::Access::to_url(
                "/version",
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
impl ::opgen::access::CreatePart<Snapshot, ::opgen::part::Eviction> for Pod {}
#[automatically_derived]
impl ::opgen::access::Create<Snapshot> for ConfigMap {}
#[automatically_derived]
impl ::opgen::access::Patch<Snapshot> for ConfigMap {}
#[automatically_derived]
impl ::opgen::access::Patch<Snapshot> for Secret {
    const WITHIN: &'static [::opgen::access::Within] = &[
        ::opgen::access::Within {
            names: &["tls", "ca"],
            namespace: ::core::option::Option::Some("kube-system"),
        },
    ];
}
#[automatically_derived]
impl ::opgen::access::GetScale<Snapshot> for Deployment {
    const WITHIN: &'static [::opgen::access::Within] = &[
        ::opgen::access::Within {
            names: &["web"],
            namespace: ::core::option::Option::None,
        },
        ::opgen::access::Within {
            names: &[],
            namespace: ::core::option::Option::Some("kube-system"),
        },
    ];
}
#[automatically_derived]
impl ::opgen::access::PatchScale<Snapshot> for Deployment {
    const WITHIN: &'static [::opgen::access::Within] = &[
        ::opgen::access::Within {
            names: &[],
            namespace: ::core::option::Option::Some("kube-system"),
        },
    ];
}
#[automatically_derived]
impl ::opgen::access::GetPart<Snapshot, ::opgen::part::Log> for Pod {}
#[automatically_derived]
impl ::opgen::access::UpdatePart<Snapshot, parts::Pause> for Machine {}
#[automatically_derived]
impl ::opgen::access::GetPath for Snapshot {
    const PATHS: &'static [&'static ::core::primitive::str] = &["/metrics"];
}
#[automatically_derived]
impl ::opgen::access::Raw for Snapshot {}
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
