mod database {
    fn split(endpoint: String) -> Result<(String, u16), String> {
        endpoint.split_once(':').ok_or("no port")
    }
    mod names {}
    /// The version `v1alpha1`.
    #[allow(dead_code)]
    pub mod v1alpha1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated)]
        #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
        #[serde(rename_all = "camelCase")]
        #[kube(version = "v1alpha1", storage = false, served = true)]
        pub struct DatabaseSpec {
            pub endpoint: String,
            pub network: Option<Box<Network>>,
        }
        pub struct Address {
            pub old_text: String,
        }
        #[serde(rename_all = "camelCase")]
        pub struct Network {
            pub ports: Ports,
            pub host_name: Option<String>,
        }
        #[serde(rename_all = "camelCase")]
        pub struct Ports {
            pub metrics_port: u16,
        }
        #[automatically_derived]
        impl ::opgen::versions::VersionedKind for Database {
            const VERSION: &'static ::core::primitive::str = "v1alpha1";
            fn versions() -> ::opgen::versions::Versions {
                super::versions_of_Database()
            }
        }
    }
    /// The version `v1beta1`.
    #[allow(dead_code)]
    pub mod v1beta1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated)]
        #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
        #[serde(rename_all = "camelCase")]
        #[kube(version = "v1beta1", storage = false, served = true)]
        pub struct DatabaseSpec {
            pub host: String,
            pub port: u16,
            pub metrics: Option<u16>,
            pub network: Option<Box<Network>>,
        }
        pub struct Address {
            pub old_text: String,
        }
        #[serde(rename_all = "camelCase")]
        pub struct Network {
            pub ports: Ports,
            pub host_name: Option<String>,
        }
        #[serde(rename_all = "camelCase")]
        pub struct Ports {}
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                        ::core::convert::Into::into([
                            ::opgen::versions::FieldChange::moved(
                                &[&["network", "ports", "metricsPort"]],
                                &[&["metrics"]],
                                ::core::option::Option::None,
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
                                            join(
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
                    .with_field(
                        "network",
                        &[],
                        ::core::option::Option::Some(
                            <Option<
                                Box<Network>,
                            > as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Address {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
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
                            <Ports as ::opgen::versions::Versioned>::conversion,
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
                        ::opgen::versions::FieldChange::removed(
                            &[&["metricsPort"]],
                            ::core::option::Option::Some(|| {
                                let value: u16 = 80;
                                ::opgen::__private::versions::write(value)
                                    .unwrap_or_default()
                            }),
                        ),
                    ]),
                )
            }
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
        #[serde(rename_all = "camelCase")]
        #[kube(version = "v1", storage = true, served = true)]
        #[managed(versions)]
        pub struct DatabaseSpec {
            pub full_address: Address,
            pub metrics: Option<u16>,
            pub host_name: Option<String>,
        }
        pub struct Address {
            pub text: String,
        }
        #[serde(rename_all = "camelCase")]
        pub struct Network {
            pub ports: Ports,
            pub host_name: Option<String>,
        }
        #[serde(rename_all = "camelCase")]
        pub struct Ports {}
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["network", "hostName"]],
                            &[&["hostName"]],
                            ::core::option::Option::None,
                        ),
                        ::opgen::versions::FieldChange::removed(
                            &[&["network"]],
                            ::core::option::Option::None,
                        ),
                        ::opgen::versions::FieldChange::replaced(
                            &[&["host"], &["port"]],
                            &[&["fullAddress"]],
                            |values| {
                                let target_0 = ::opgen::__private::versions::Converted(
                                        names::merge(
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
                                        ::opgen::__private::versions::write::<Address>(target_0)?,
                                    ]),
                                )
                            },
                            |values| {
                                let (target_0, target_1) = ::opgen::__private::versions::Converted(
                                        <Name as Part>::split(
                                            ::opgen::__private::versions::read::<
                                                Address,
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
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Address {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["old_text"]],
                            &[&["text"]],
                            ::core::option::Option::None,
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
                            <Ports as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Ports {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
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
                        "v1alpha1",
                        <v1alpha1::Database as ::opgen::__private::CustomResourceExt>::crd,
                        ::opgen::__private::schema_by_names::<v1alpha1::Database>,
                    )
                    .with_rules(
                        ::opgen::__private::TypeOfField::<v1alpha1::DatabaseSpec>::NEW
                            .validation(),
                    )
                    .converted(
                        ::core::option::Option::None,
                        ::core::option::Option::None,
                    ),
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
                        ::core::option::Option::Some(
                            <v1beta1::DatabaseSpec as ::opgen::versions::Versioned>::conversion,
                        ),
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
