mod database {
    /// The version `v1beta1`.
    #[allow(dead_code)]
    pub mod v1beta1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated)]
        #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
        #[kube(version = "v1beta1", storage = false, served = true)]
        pub struct DatabaseSpec {
            pub endpoint: String,
            pub backup: Backup,
        }
        pub struct Backup {
            pub old_name: String,
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Database {
            const VERSION: &'static ::core::primitive::str = "v1beta1";
            fn versions() -> ::opgen::versions::Versions {
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
        #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
        #[kube(version = "v1", storage = true, served = true)]
        #[managed(versions)]
        pub struct DatabaseSpec {
            pub host: String,
            pub port: u16,
            pub backup: String,
        }
        pub struct Backup {
            pub name: String,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::replaced(
                            &[&["backup"]],
                            &[&["backup"]],
                            |values| {
                                let target_0 = ::opgen::__private::versions::Converted(
                                        (move |backup: super::v1beta1::Backup| {
                                            backup.old_name
                                        })(
                                            ::opgen::__private::versions::read::<
                                                super::v1beta1::Backup,
                                            >(values.get(0usize))?,
                                        ),
                                    )
                                    .into_result()?;
                                ::core::result::Result::Ok(
                                    ::core::convert::Into::into([
                                        ::opgen::__private::versions::write::<String>(target_0)?,
                                    ]),
                                )
                            },
                            |values| {
                                let target_0 = ::opgen::__private::versions::Converted(
                                        (|
                                            name: String,
                                        | -> Result<v1beta1::Backup, super::super::Error> {
                                            super::super::backup(name)
                                        })(
                                            ::opgen::__private::versions::read::<
                                                String,
                                            >(values.get(0usize))?,
                                        ),
                                    )
                                    .into_result()?;
                                ::core::result::Result::Ok(
                                    ::core::convert::Into::into([
                                        ::opgen::__private::versions::write::<
                                            super::v1beta1::Backup,
                                        >(target_0)?,
                                    ]),
                                )
                            },
                        ),
                        ::opgen::versions::FieldChange::replaced(
                            &[&["endpoint"]],
                            &[&["host"], &["port"]],
                            |values| {
                                let (target_0, target_1) = ::opgen::__private::versions::Converted(
                                        split(
                                            ::opgen::__private::versions::read::<
                                                String,
                                            >(values.get(0usize))?,
                                        ),
                                    )
                                    .into_result()?;
                                ::core::result::Result::Ok(
                                    ::core::convert::Into::into([
                                        ::opgen::__private::versions::write::<String>(target_0)?,
                                        ::opgen::__private::versions::write::<u16>(target_1)?,
                                    ]),
                                )
                            },
                            |values| {
                                let target_0 = ::opgen::__private::versions::Converted(
                                        (|host: String, mut port: u16| join(
                                            host,
                                            port,
                                        ))(
                                            ::opgen::__private::versions::read::<
                                                String,
                                            >(values.get(0usize))?,
                                            ::opgen::__private::versions::read::<
                                                u16,
                                            >(values.get(1usize))?,
                                        ),
                                    )
                                    .into_result()?;
                                ::core::result::Result::Ok(
                                    ::core::convert::Into::into([
                                        ::opgen::__private::versions::write::<String>(target_0)?,
                                    ]),
                                )
                            },
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Backup {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["old_name"]],
                            &[&["name"]],
                            ::core::option::Option::None,
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Database {
            const VERSION: &'static ::core::primitive::str = "v1";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_Database()
            }
        }
    }
    #[allow(non_snake_case)]
    fn versions_of_Database() -> ::opgen::versions::Versions {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        ::opgen::versions::Versions::new(
            ::core::convert::Into::into([
                ::opgen::versions::Version::new(
                        "v1beta1",
                        <v1beta1::Database as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1beta1::Database>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1beta1::DatabaseSpec>::NEW
                            .validation(),
                    )
                    .converted(
                        ::core::option::Option::None,
                        ::core::option::Option::None,
                    ),
                ::opgen::versions::Version::new(
                        "v1",
                        <v1::Database as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1::Database>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1::DatabaseSpec>::NEW
                            .validation(),
                    )
                    .converted(
                        ::core::option::Option::Some(
                            <v1::DatabaseSpec as ::opgen::versions::Versioned>::conversion,
                        ),
                        ::core::option::Option::None,
                    ),
            ]),
            "v1",
        )
    }
}
