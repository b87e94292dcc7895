#[automatically_derived]
impl ::opgen::Provisioner for Snapshot {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::Custom,
        access: &[
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Secret>,
                    &[
                        ::opgen::shape::Verb::Get,
                        ::opgen::shape::Verb::List,
                        ::opgen::shape::Verb::Watch,
                    ],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Secret)),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<core::v1::Pod>,
                    &[
                        ::opgen::shape::Verb::Delete,
                        ::opgen::shape::Verb::DeleteCollection,
                    ],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(core::v1::Pod)),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Pod>,
                    &[::opgen::shape::Verb::Update, ::opgen::shape::Verb::Patch],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Pod))
                .subresource("status"),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Pod>,
                    &[::opgen::shape::Verb::Create],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Pod))
                .subresource("eviction"),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<ConfigMap>,
                    &[::opgen::shape::Verb::Create, ::opgen::shape::Verb::Patch],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(ConfigMap)),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Secret>,
                    &[::opgen::shape::Verb::Get, ::opgen::shape::Verb::Patch],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Secret))
                .named(&["tls", "ca"])
                .within("kube-system"),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Deployment>,
                    &[::opgen::shape::Verb::Get],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Deployment))
                .subresource("scale")
                .named(&["web"]),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Deployment>,
                    &[::opgen::shape::Verb::Get, ::opgen::shape::Verb::Patch],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Deployment))
                .subresource("scale")
                .within("kube-system"),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Pod>,
                    &[::opgen::shape::Verb::Get],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Pod))
                .subresource("log"),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Machine>,
                    &[::opgen::shape::Verb::Update],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Machine))
                .subresource(<parts::Pause as ::opgen::Subresource>::NAME),
            ::opgen::shape::Access::to_url(
                "/metrics",
                &[::opgen::shape::Verb::Get],
                ::opgen::shape::SourceLocation {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            ),
            ::opgen::shape::Access::to(
                    ::opgen::__private::kind_of::<Pod>,
                    &[::opgen::shape::Verb::Create],
                    ::opgen::shape::SourceLocation {
                        file: ::core::file!(),
                        line: ::core::line!(),
                    },
                )
                .in_bucket(::opgen::__private::bucket_of!(Pod))
                .subresource("exec"),
            ::opgen::shape::Access::to_url(
                "/version",
                &[::opgen::shape::Verb::Get],
                ::opgen::shape::SourceLocation {
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
impl ::opgen::access::CreateSubresource<Snapshot, ::opgen::access::subresource::Eviction>
for Pod {}
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
impl ::opgen::access::GetSubresource<Snapshot, ::opgen::access::subresource::Log>
for Pod {}
#[automatically_derived]
impl ::opgen::access::UpdateSubresource<Snapshot, parts::Pause> for Machine {}
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
