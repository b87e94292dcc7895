#[automatically_derived]
impl ::opgen::Provisioner for Snapshot {
    type Takes = ();
    type Gives = ();
    const SHAPE: ::opgen::Shape = ::opgen::Shape {
        node: ::opgen::Node::Custom,
        access: &[
            ::opgen::Access {
                kind: ::opgen::__private::kind_of::<Secret>,
                subresource: "",
                verbs: &[::opgen::Verb::Get, ::opgen::Verb::List, ::opgen::Verb::Watch],
                place: ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            },
            ::opgen::Access {
                kind: ::opgen::__private::kind_of::<core::v1::Pod>,
                subresource: "",
                verbs: &[::opgen::Verb::Delete, ::opgen::Verb::DeleteCollection],
                place: ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            },
            ::opgen::Access {
                kind: ::opgen::__private::kind_of::<Pod>,
                subresource: "status",
                verbs: &[::opgen::Verb::Update, ::opgen::Verb::Patch],
                place: ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            },
            ::opgen::Access {
                kind: ::opgen::__private::kind_of::<Pod>,
                subresource: "eviction",
                verbs: &[::opgen::Verb::Create],
                place: ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            },
            ::opgen::Access {
                kind: ::opgen::__private::kind_of::<ConfigMap>,
                subresource: "",
                verbs: &[::opgen::Verb::Create, ::opgen::Verb::Patch],
                place: ::opgen::Place {
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
            },
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
