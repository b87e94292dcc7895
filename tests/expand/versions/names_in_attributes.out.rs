mod pools {
    /// The version `v1beta1`.
    #[allow(dead_code)]
    pub mod v1beta1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated, Clone)]
        #[kube(
            group = "demo.example.com",
            kind = "Pool",
            root = "PoolResource",
            status = "PoolStatus"
        )]
        #[kube(
            printcolumn(name = "Nodes", type_ = "integer", json_path = ".spec.size"),
            printcolumn(
                name = "Port",
                type_ = "integer",
                json_path = ".spec.network.ports.postgres"
            ),
            printcolumn(name = "Ready", type_ = "integer", json_path = ".status.ready")
        )]
        #[kube(
            scale(
                spec_replicas_path = ".spec.size",
                status_replicas_path = ".status.ready"
            )
        )]
        #[serde(rename_all = "camelCase")]
        #[valid(one_of(container_image, source))]
        #[kube(version = "v1beta1", storage = false, served = true)]
        pub struct PoolSpec {
            #[valid(immutable)]
            pub size: i32,
            pub container_image: Option<String>,
            pub source: Option<String>,
            pub zone: Option<String>,
            pub rack: Option<String>,
            #[valid(unique(id))]
            pub nodes: Vec<Node>,
            pub network: Network,
            #[serde(default)]
            pub old_name: String,
        }
        pub struct PoolStatus {
            pub ready: Option<i32>,
        }
        #[derive(Validated)]
        #[valid(crate = "opgen")]
        pub struct Node {
            #[valid(immutable)]
            pub id: String,
        }
        pub enum Mode {
            Shared,
            Dedicated,
        }
        pub struct Network {
            pub ports: Option<Ports>,
        }
        #[serde(rename_all = "camelCase")]
        pub struct Ports {
            pub postgres: Option<u16>,
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for PoolResource {
            const VERSION: &'static ::core::primitive::str = "v1beta1";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_PoolResource()
            }
        }
    }
    /// The version `v1`.
    #[allow(dead_code)]
    pub mod v1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, opgen::Managed, Clone)]
        #[kube(
            group = "demo.example.com",
            kind = "Pool",
            root = "PoolResource",
            status = "PoolStatus"
        )]
        #[kube(
            printcolumn(
                name = "Nodes",
                type_ = "integer",
                json_path = ".spec.nodeCount"
            ),
            printcolumn(
                name = "Port",
                type_ = "integer",
                json_path = ".spec.network.ports.sqlPort"
            ),
            printcolumn(
                name = "Ready",
                type_ = "integer",
                json_path = ".status.readyNodes"
            ),
            printcolumn(name = "Mode", type_ = "string", json_path = ".spec.mode")
        )]
        #[kube(
            scale(
                spec_replicas_path = ".spec.nodeCount",
                status_replicas_path = ".status.readyNodes"
            )
        )]
        #[managed(allow(list))]
        #[serde(rename_all = "camelCase")]
        #[valid(one_of(image, source), at_most_one_of(image, mirror))]
        #[kube(version = "v1", storage = true, served = true)]
        #[managed(versions)]
        pub struct PoolSpec {
            #[valid(at_most(max_nodes), immutable)]
            pub node_count: i32,
            pub max_nodes: i32,
            pub image: Option<String>,
            pub source: Option<String>,
            pub mirror: Option<String>,
            pub mode: Mode,
            #[valid(required_if(mode = "Reserved"))]
            #[managed(reference = Zone)]
            pub zone: Option<String>,
            #[valid(forbidden_if(mode = "Shared"))]
            pub rack: Option<String>,
            #[valid(unique(name), unique(label, message = "labels must differ"))]
            pub nodes: Vec<Node>,
            pub network: Network,
            #[serde(rename = "newName", default)]
            pub name: String,
        }
        pub struct PoolStatus {
            #[serde(rename = "readyNodes")]
            pub ready_nodes: Option<i32>,
        }
        #[derive(Validated)]
        #[valid(crate = "opgen")]
        pub struct Node {
            #[valid(immutable)]
            pub name: String,
            pub label: Option<String>,
        }
        pub enum Mode {
            Shared,
            Reserved,
        }
        pub struct Network {
            pub ports: Option<Ports>,
        }
        #[serde(rename_all = "camelCase")]
        pub struct Ports {
            pub sql_port: Option<u16>,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for PoolSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                        ::core::convert::Into::into([
                            ::opgen::versions::FieldChange::moved(
                                &[&["size"]],
                                &[&["nodeCount"]],
                                ::core::option::Option::None,
                            ),
                            ::opgen::versions::FieldChange::added(
                                &[&["maxNodes"]],
                                ::core::option::Option::Some(|| {
                                    let value: i32 = 9;
                                    ::opgen::__private::versions::write(value)
                                        .unwrap_or_default()
                                }),
                            ),
                            ::opgen::versions::FieldChange::moved(
                                &[&["containerImage"]],
                                &[&["image"]],
                                ::core::option::Option::None,
                            ),
                            ::opgen::versions::FieldChange::added(
                                &[&["mirror"]],
                                ::core::option::Option::None,
                            ),
                            ::opgen::versions::FieldChange::added(
                                &[&["mode"]],
                                ::core::option::Option::Some(|| {
                                    let value: Mode = Mode::Shared;
                                    ::opgen::__private::versions::write(value)
                                        .unwrap_or_default()
                                }),
                            ),
                            ::opgen::versions::FieldChange::moved(
                                &[&["oldName"]],
                                &[&["newName"]],
                                ::core::option::Option::None,
                            ),
                        ]),
                    )
                    .with_field(
                        "nodes",
                        &[],
                        ::core::option::Option::Some(
                            <Vec<Node> as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
                    .with_field(
                        "network",
                        &[],
                        ::core::option::Option::Some(
                            <Network as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for PoolStatus {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["ready"]],
                            &[&["readyNodes"]],
                            ::core::option::Option::None,
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Node {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["id"]],
                            &[&["name"]],
                            ::core::option::Option::None,
                        ),
                        ::opgen::versions::FieldChange::added(
                            &[&["label"]],
                            ::core::option::Option::None,
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Mode {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_enum(
                    ::core::option::Option::None,
                    ::core::convert::Into::into([
                        ::opgen::versions::VariantChange::Renamed(
                            "Dedicated",
                            "Reserved",
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Network {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
                    .with_field(
                        "ports",
                        &[],
                        ::core::option::Option::Some(
                            <Option<Ports> as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Ports {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["postgres"]],
                            &[&["sqlPort"]],
                            ::core::option::Option::None,
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for PoolResource {
            const VERSION: &'static ::core::primitive::str = "v1";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_PoolResource()
            }
        }
    }
    #[allow(non_snake_case)]
    fn versions_of_PoolResource() -> ::opgen::versions::Versions {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        ::opgen::versions::Versions::new(
            ::core::convert::Into::into([
                ::opgen::versions::Version::new(
                        "v1beta1",
                        <v1beta1::PoolResource as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1beta1::PoolResource>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1beta1::PoolSpec>::NEW
                            .validation(),
                    )
                    .converted(
                        ::core::option::Option::None,
                        ::core::option::Option::None,
                    ),
                ::opgen::versions::Version::new(
                        "v1",
                        <v1::PoolResource as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1::PoolResource>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1::PoolSpec>::NEW.validation(),
                    )
                    .converted(
                        ::core::option::Option::Some(
                            <v1::PoolSpec as ::opgen::versions::Versioned>::conversion,
                        ),
                        ::core::option::Option::Some(
                            <v1::PoolStatus as ::opgen::versions::Versioned>::conversion,
                        ),
                    ),
            ]),
            "v1",
        )
    }
}
