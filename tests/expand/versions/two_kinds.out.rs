mod storage {
    /// The version `v1`.
    #[allow(dead_code)]
    pub mod v1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated)]
        #[kube(group = "demo.example.com", kind = "Disk", status = "Status")]
        #[kube(version = "v1", storage = false, served = false)]
        pub struct DiskSpec {}
        #[derive(CustomResource, ::opgen::validation::Validated)]
        #[kube(group = "demo.example.com", kind = "Tape", status = "Status")]
        #[kube(version = "v1", storage = false, served = false)]
        pub enum TapeSpec {
            Small(Size),
        }
        pub struct Size {
            pub bytes: u64,
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Disk {
            const VERSION: &'static ::core::primitive::str = "v1";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_Disk()
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
    /// The version `v2`.
    #[allow(dead_code)]
    pub mod v2 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, Managed)]
        #[kube(group = "demo.example.com", kind = "Disk", status = "Status")]
        #[kube(version = "v2", storage = true, served = true)]
        #[managed(versions)]
        pub struct DiskSpec {
            pub size: Option<Size>,
        }
        #[derive(CustomResource, Managed)]
        #[kube(group = "demo.example.com", kind = "Tape", status = "Status")]
        #[kube(version = "v2", storage = true, served = true)]
        #[managed(versions)]
        pub enum TapeSpec {
            Small(Size),
            Large,
        }
        pub struct Size {
            pub octets: u64,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DiskSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::added(
                            &[&["size"]],
                            ::core::option::Option::None,
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for TapeSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_enum(
                        ::core::option::Option::None,
                        ::core::convert::Into::into([
                            ::opgen::versions::VariantChange::Added(
                                "Large",
                                || {
                                    ::opgen::__private::versions::write(
                                            super::v1::TapeSpec::Small(super::v1::Size { bytes: 0 }),
                                        )
                                        .unwrap_or_default()
                                },
                            ),
                        ]),
                    )
                    .with_variant(
                        "Small",
                        ::core::option::Option::Some(
                            <Size as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Size {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["bytes"]],
                            &[&["octets"]],
                            ::core::option::Option::None,
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Disk {
            const VERSION: &'static ::core::primitive::str = "v2";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_Disk()
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Tape {
            const VERSION: &'static ::core::primitive::str = "v2";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_Tape()
            }
        }
    }
    #[allow(non_snake_case)]
    fn versions_of_Disk() -> ::opgen::versions::Versions {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        ::opgen::versions::Versions::new(
            ::core::convert::Into::into([
                ::opgen::versions::Version::new(
                        "v1",
                        <v1::Disk as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1::Disk>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1::DiskSpec>::NEW.validation(),
                    )
                    .converted(
                        ::core::option::Option::None,
                        ::core::option::Option::None,
                    ),
                ::opgen::versions::Version::new(
                        "v2",
                        <v2::Disk as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v2::Disk>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v2::DiskSpec>::NEW.validation(),
                    )
                    .converted(
                        ::core::option::Option::Some(
                            <v2::DiskSpec as ::opgen::versions::Versioned>::conversion,
                        ),
                        ::core::option::Option::None,
                    ),
            ]),
            "v2",
        )
    }
    #[allow(non_snake_case)]
    fn versions_of_Tape() -> ::opgen::versions::Versions {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        ::opgen::versions::Versions::new(
            ::core::convert::Into::into([
                ::opgen::versions::Version::new(
                        "v1",
                        <v1::Tape as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1::Tape>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1::TapeSpec>::NEW.validation(),
                    )
                    .converted(
                        ::core::option::Option::None,
                        ::core::option::Option::None,
                    ),
                ::opgen::versions::Version::new(
                        "v2",
                        <v2::Tape as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v2::Tape>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v2::TapeSpec>::NEW.validation(),
                    )
                    .converted(
                        ::core::option::Option::Some(
                            <v2::TapeSpec as ::opgen::versions::Versioned>::conversion,
                        ),
                        ::core::option::Option::None,
                    ),
            ]),
            "v2",
        )
    }
}
