mod database {
    #[derive(Serialize, Deserialize)]
    pub struct Limits {
        #[serde(skip_serializing_if = "::core::option::Option::is_none")]
        pub cpu: Option<String>,
        #[serde(default)]
        #[serde(skip_serializing_if = "::core::option::Option::is_none")]
        pub memory: Option<String>,
        #[serde(default = "three")]
        pub replicas: Option<i32>,
        #[serde(skip_serializing_if = "is_empty")]
        pub zone: Option<String>,
        #[serde(with = "text")]
        pub disk: Option<i32>,
        #[serde(flatten)]
        pub others: Option<Others>,
        pub names: Vec<Option<String>>,
    }
    #[derive(Serialize, Default)]
    #[serde(default)]
    pub struct Labels {
        #[serde(skip_serializing_if = "::core::option::Option::is_none")]
        pub team: Option<String>,
    }
    /// An absent field could have another default than `None`.
    #[derive(Serialize)]
    #[serde(default)]
    pub struct Others {
        pub tier: Option<String>,
    }
    #[derive(serde::Serialize)]
    pub enum Source {
        Empty,
        Snapshot(Option<String>),
        Copy {
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            region: Option<String>,
        },
    }
    /// It is not in JSON.
    pub struct Cache {
        pub size: Option<i32>,
    }
    /// The version `v1alpha1`.
    #[allow(dead_code)]
    pub mod v1alpha1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated, Serialize, Deserialize)]
        #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
        #[kube(version = "v1alpha1", storage = false, served = true)]
        pub struct DatabaseSpec {
            /// An absent field is left out.
            pub host: String,
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
        #[derive(CustomResource, ::opgen::validation::Validated, Serialize, Deserialize)]
        #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
        #[kube(version = "v1beta1", storage = false, served = true)]
        pub struct DatabaseSpec {
            /// A field without a value for older objects has the default of its type, in each version that has it.
            #[serde(default)]
            pub protected: bool,
            #[serde(default)]
            pub mode: String,
            /// An absent field is left out.
            pub host: String,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::added(
                            &[&["protected"]],
                            ::core::option::Option::None,
                        ),
                        ::opgen::versions::FieldChange::added(
                            &[&["mode"]],
                            ::core::option::Option::None,
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
        #[derive(CustomResource, Managed, Serialize, Deserialize)]
        #[kube(group = "demo.example.com", kind = "Database", status = "Status")]
        #[kube(version = "v1", storage = true, served = true)]
        #[managed(versions)]
        pub struct DatabaseSpec {
            /// A field without a value for older objects has the default of its type, in each version that has it.
            #[serde(default)]
            pub protected: bool,
            #[serde(default = "three")]
            pub replicas: i32,
            /// An absent field is left out.
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            pub host: Option<String>,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::removed(
                            &[&["mode"]],
                            ::core::option::Option::None,
                        ),
                        ::opgen::versions::FieldChange::added(
                            &[&["replicas"]],
                            ::core::option::Option::None,
                        ),
                        ::opgen::versions::FieldChange::replaced(
                            &[&["host"]],
                            &[&["host"]],
                            |values| {
                                let target_0 = ::opgen::__private::versions::Converted(
                                        Some(
                                            ::opgen::__private::versions::read::<
                                                String,
                                            >(values.get(0usize))?,
                                        ),
                                    )
                                    .into_result()?;
                                ::core::result::Result::Ok(
                                    ::core::convert::Into::into([
                                        ::opgen::__private::versions::write::<
                                            Option<String>,
                                        >(target_0)?,
                                    ]),
                                )
                            },
                            |values| {
                                let target_0 = ::opgen::__private::versions::Converted(
                                        text(
                                            ::opgen::__private::versions::read::<
                                                Option<String>,
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
