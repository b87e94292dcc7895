mod tape {
    /// The version `v1alpha1`.
    #[allow(dead_code)]
    pub mod v1alpha1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated)]
        #[kube(group = "demo.example.com", kind = "Tape", status = "Status")]
        #[kube(version = "v1alpha1", storage = false, served = true)]
        pub struct TapeSpec {
            pub mode: Mode,
            pub class: Class,
        }
        #[serde(rename_all = "camelCase")]
        pub enum Mode {
            Full,
            Snap,
            Sized(Limit),
            Named { nodes: u32 },
        }
        #[serde(tag = "type")]
        pub enum Class {
            Small(Box<Limit>),
            Reserved,
        }
        pub struct Limit {
            pub amount: u32,
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Tape {
            const VERSION: &'static ::core::primitive::str = "v1alpha1";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_Tape()
            }
        }
    }
    /// The version `v1beta1`.
    #[allow(dead_code)]
    pub mod v1beta1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated)]
        #[kube(group = "demo.example.com", kind = "Tape", status = "Status")]
        #[kube(version = "v1beta1", storage = false, served = true)]
        pub struct TapeSpec {
            pub mode: Mode,
            pub class: Class,
        }
        #[serde(rename_all = "camelCase")]
        pub enum Mode {
            Full,
            Tape,
            Snap,
            Sized(Limit),
            Named { nodes: u32 },
        }
        #[serde(tag = "type")]
        pub enum Class {
            Small(Box<Limit>),
            Reserved,
        }
        pub struct Limit {
            pub value: u32,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for TapeSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
                    .with_field(
                        "mode",
                        &[],
                        ::core::option::Option::Some(
                            <Mode as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
                    .with_field(
                        "class",
                        &[],
                        ::core::option::Option::Some(
                            <Class as ::opgen::versions::Versioned>::conversion,
                        ),
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
                            ::opgen::versions::VariantChange::Added(
                                "tape",
                                || {
                                    ::opgen::__private::versions::write(
                                            super::v1alpha1::Mode::Full,
                                        )
                                        .unwrap_or_default()
                                },
                            ),
                        ]),
                    )
                    .with_variant(
                        "sized",
                        ::core::option::Option::Some(
                            <Limit as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Class {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_enum(
                        ::core::option::Option::Some("type"),
                        ::core::convert::Into::into([]),
                    )
                    .with_variant(
                        "Small",
                        ::core::option::Option::Some(
                            <Box<Limit> as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Limit {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["amount"]],
                            &[&["value"]],
                            ::core::option::Option::None,
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Tape {
            const VERSION: &'static ::core::primitive::str = "v1beta1";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_Tape()
            }
        }
    }
    /// The version `v1`.
    #[allow(dead_code)]
    pub mod v1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, Managed)]
        #[kube(group = "demo.example.com", kind = "Tape", status = "Status")]
        #[kube(version = "v1", storage = true, served = true)]
        #[managed(versions)]
        pub struct TapeSpec {
            pub mode: Mode,
            pub class: Class,
        }
        #[serde(rename_all = "camelCase")]
        pub enum Mode {
            Full,
            Disk,
            Snapshot,
            Image,
            Sized(Limit),
            Named { nodes: u32 },
        }
        #[serde(tag = "type")]
        pub enum Class {
            Shared(Box<Limit>),
            Reserved,
        }
        pub struct Limit {
            pub value: u32,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for TapeSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
                    .with_field(
                        "mode",
                        &[],
                        ::core::option::Option::Some(
                            <Mode as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
                    .with_field(
                        "class",
                        &[],
                        ::core::option::Option::Some(
                            <Class as ::opgen::versions::Versioned>::conversion,
                        ),
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
                            ::opgen::versions::VariantChange::Removed(
                                "tape",
                                || {
                                    ::opgen::__private::versions::write(
                                            Mode::Sized(Limit { value: 3 }),
                                        )
                                        .unwrap_or_default()
                                },
                            ),
                            ::opgen::versions::VariantChange::Added(
                                "disk",
                                || {
                                    ::opgen::__private::versions::write(super::v1beta1::Mode::Named {
                                            nodes: 3,
                                        })
                                        .unwrap_or_default()
                                },
                            ),
                            ::opgen::versions::VariantChange::Renamed(
                                "snap",
                                "snapshot",
                            ),
                            ::opgen::versions::VariantChange::Added(
                                "image",
                                || {
                                    ::opgen::__private::versions::write(
                                            super::v1beta1::Mode::Snap,
                                        )
                                        .unwrap_or_default()
                                },
                            ),
                        ]),
                    )
                    .with_variant(
                        "sized",
                        ::core::option::Option::Some(
                            <Limit as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Class {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_enum(
                        ::core::option::Option::Some("type"),
                        ::core::convert::Into::into([
                            ::opgen::versions::VariantChange::Renamed("Small", "Shared"),
                        ]),
                    )
                    .with_variant(
                        "Shared",
                        ::core::option::Option::Some(
                            <Box<Limit> as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Limit {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Tape {
            const VERSION: &'static ::core::primitive::str = "v1";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_Tape()
            }
        }
    }
    #[allow(non_snake_case)]
    fn versions_of_Tape() -> ::opgen::versions::Versions {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        ::opgen::versions::Versions::new(
            ::core::convert::Into::into([
                ::opgen::versions::Version::new(
                        "v1alpha1",
                        <v1alpha1::Tape as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1alpha1::Tape>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1alpha1::TapeSpec>::NEW
                            .validation(),
                    )
                    .converted(
                        ::core::option::Option::None,
                        ::core::option::Option::None,
                    ),
                ::opgen::versions::Version::new(
                        "v1beta1",
                        <v1beta1::Tape as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1beta1::Tape>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1beta1::TapeSpec>::NEW
                            .validation(),
                    )
                    .converted(
                        ::core::option::Option::Some(
                            <v1beta1::TapeSpec as ::opgen::versions::Versioned>::conversion,
                        ),
                        ::core::option::Option::None,
                    ),
                ::opgen::versions::Version::new(
                        "v1",
                        <v1::Tape as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1::Tape>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1::TapeSpec>::NEW.validation(),
                    )
                    .converted(
                        ::core::option::Option::Some(
                            <v1::TapeSpec as ::opgen::versions::Versioned>::conversion,
                        ),
                        ::core::option::Option::None,
                    ),
            ]),
            "v1",
        )
    }
}
