pub mod database {
    pub struct DatabaseStatus {
        pub phase: Option<String>,
    }
    /// The version `v1beta1`.
    #[allow(dead_code)]
    pub mod v1beta1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, my::facade::validation::Validated)]
        #[valid(crate = "my::facade")]
        #[kube(group = "demo.example.com", kind = "Database", status = "DatabaseStatus")]
        #[kube(version = "v1beta1", storage = false, served = true)]
        pub struct DatabaseSpec {
            pub endpoint: String,
            #[valid(immutable)]
            pub max: u32,
            pub mode: Mode,
        }
        pub enum Mode {
            Full,
        }
        #[automatically_derived]
        impl my::facade::versions::VersionedKind for Database {
            const VERSION: &'static ::core::primitive::str = "v1beta1";
            fn versions() -> my::facade::versions::Versions {
                super::versions_of_Database()
            }
        }
    }
    /// The version `v1`.
    #[allow(dead_code)]
    pub mod v1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, Managed)]
        #[kube(group = "demo.example.com", kind = "Database", status = "DatabaseStatus")]
        #[managed(crate = "my::facade")]
        #[kube(version = "v1", storage = true, served = true)]
        #[managed(versions)]
        pub struct DatabaseSpec {
            pub host: String,
            pub port: u16,
            #[valid(at_most(max))]
            pub size: u32,
            #[valid(immutable)]
            pub max: u32,
            pub mode: Mode,
        }
        pub enum Mode {
            Full,
            Half,
        }
        #[automatically_derived]
        impl my::facade::versions::Versioned for DatabaseSpec {
            fn conversion() -> my::facade::versions::Conversion {
                #[allow(unused_imports)]
                use my::facade::__private::versions::Infallible as _;
                my::facade::versions::Conversion::of_struct(
                        ::core::convert::Into::into([
                            my::facade::versions::FieldChange::added(
                                &[&["size"]],
                                ::core::option::Option::Some(|| {
                                    let value: u32 = 3;
                                    my::facade::__private::versions::write(value)
                                        .unwrap_or_default()
                                }),
                            ),
                            my::facade::versions::FieldChange::replaced(
                                &[&["endpoint"]],
                                &[&["host"], &["port"]],
                                |values| {
                                    let (target_0, target_1) = my::facade::__private::versions::Converted(
                                            split(
                                                my::facade::__private::versions::read::<
                                                    String,
                                                >(values.get(0usize))?,
                                            ),
                                        )
                                        .into_result()?;
                                    ::core::result::Result::Ok(
                                        ::core::convert::Into::into([
                                            my::facade::__private::versions::write::<String>(target_0)?,
                                            my::facade::__private::versions::write::<u16>(target_1)?,
                                        ]),
                                    )
                                },
                                |values| {
                                    let target_0 = my::facade::__private::versions::Converted(
                                            join(
                                                my::facade::__private::versions::read::<
                                                    String,
                                                >(values.get(0usize))?,
                                                my::facade::__private::versions::read::<
                                                    u16,
                                                >(values.get(1usize))?,
                                            ),
                                        )
                                        .into_result()?;
                                    ::core::result::Result::Ok(
                                        ::core::convert::Into::into([
                                            my::facade::__private::versions::write::<String>(target_0)?,
                                        ]),
                                    )
                                },
                            ),
                        ]),
                    )
                    .with_field(
                        "mode",
                        &[],
                        ::core::option::Option::Some(
                            <Mode as my::facade::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl my::facade::versions::Versioned for Mode {
            fn conversion() -> my::facade::versions::Conversion {
                #[allow(unused_imports)]
                use my::facade::__private::versions::Infallible as _;
                my::facade::versions::Conversion::of_enum(
                    ::core::option::Option::None,
                    ::core::convert::Into::into([
                        my::facade::versions::VariantChange::Added(
                            "Half",
                            || {
                                my::facade::__private::versions::write(
                                        super::v1beta1::Mode::Full,
                                    )
                                    .unwrap_or_default()
                            },
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl my::facade::versions::VersionedKind for Database {
            const VERSION: &'static ::core::primitive::str = "v1";
            fn versions() -> my::facade::versions::Versions {
                super::versions_of_Database()
            }
        }
    }
    #[allow(non_snake_case)]
    fn versions_of_Database() -> my::facade::versions::Versions {
        #[allow(unused_imports)]
        use my::facade::__private::WithoutRules as _;
        my::facade::versions::Versions::new(
            ::core::convert::Into::into([
                my::facade::versions::Version::new(
                        "v1beta1",
                        <v1beta1::Database as my::facade::__private::CustomResourceExt>::crd,
                        my::facade::__private::schema_by_names::<v1beta1::Database>,
                    )
                    .with_rules(
                        my::facade::__private::TypeOfField::<v1beta1::DatabaseSpec>::NEW
                            .validation(),
                    )
                    .converted(
                        ::core::option::Option::None,
                        ::core::option::Option::None,
                    ),
                my::facade::versions::Version::new(
                        "v1",
                        <v1::Database as my::facade::__private::CustomResourceExt>::crd,
                        my::facade::__private::schema_by_names::<v1::Database>,
                    )
                    .with_rules(
                        my::facade::__private::TypeOfField::<v1::DatabaseSpec>::NEW
                            .validation(),
                    )
                    .converted(
                        ::core::option::Option::Some(
                            <v1::DatabaseSpec as my::facade::versions::Versioned>::conversion,
                        ),
                        ::core::option::Option::None,
                    ),
            ]),
            "v1",
        )
    }
}
