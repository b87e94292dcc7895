#[allow(missing_docs)]
pub(crate) mod database {
    //! The versions of databases.
    #![allow(dead_code)]
    /// All versions share it.
    pub struct Limit {
        pub backups: u32,
    }
    pub struct Cache;
    use std::collections::BTreeMap;
    /// The version `v1alpha1`.
    #[allow(dead_code)]
    pub mod v1alpha1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(
            CustomResource,
            ::opgen::validation::Validated,
            Serialize,
            Deserialize,
            JsonSchema
        )]
        #[kube(group = "demo.example.com", kind = "Database", status = "DatabaseStatus")]
        #[serde(rename_all = "camelCase")]
        #[kube(
            version = "v1alpha1",
            storage = false,
            served = true,
            deprecated = "v1alpha1 is deprecated; use v1"
        )]
        pub struct DatabaseSpec {
            pub size: u32,
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            pub r#type: Option<String>,
            pub limit: OldLimit,
            #[schemars(
                extend(
                    "x-kubernetes-list-type" = "map",
                    "x-kubernetes-list-map-keys" = ["name"]
                )
            )]
            pub schedules: Vec<Backup>,
            pub by_zone: BTreeMap<String, Option<Backup>>,
            #[serde(flatten)]
            pub common: Common,
            #[serde(skip)]
            pub cache: Cache,
            pub paused: bool,
        }
        #[derive(Serialize, Deserialize, JsonSchema, Default)]
        pub struct DatabaseStatus {}
        pub struct Backup {
            pub name: String,
            pub old_days: i32,
        }
        pub struct OldLimit {
            pub backup: Backup,
        }
        #[serde(default)]
        pub struct Common {}
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
        #[derive(
            CustomResource,
            ::opgen::validation::Validated,
            Serialize,
            Deserialize,
            JsonSchema
        )]
        #[kube(group = "demo.example.com", kind = "Database", status = "DatabaseStatus")]
        #[serde(rename_all = "camelCase")]
        #[kube(
            version = "v1beta1",
            storage = true,
            served = true,
            deprecated = "use v1"
        )]
        pub struct DatabaseSpec {
            pub replicas: u32,
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            pub r#type: Option<String>,
            pub backup: Backup,
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            pub memory: Option<u8>,
            pub limit: OldLimit,
            #[schemars(
                extend(
                    "x-kubernetes-list-type" = "map",
                    "x-kubernetes-list-map-keys" = ["name"]
                )
            )]
            pub schedules: Vec<Backup>,
            pub by_zone: BTreeMap<String, Option<Backup>>,
            #[serde(flatten)]
            pub common: Common,
            #[serde(skip)]
            pub cache: Cache,
            pub paused: bool,
        }
        #[derive(Serialize, Deserialize, JsonSchema, Default)]
        pub struct DatabaseStatus {}
        pub struct Backup {
            pub name: String,
            pub old_days: i32,
        }
        pub struct OldLimit {
            pub backup: Backup,
        }
        #[serde(default)]
        pub struct Common {}
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                        ::core::convert::Into::into([
                            ::opgen::versions::FieldChange::moved(
                                &[&["size"]],
                                &[&["replicas"]],
                                ::core::option::Option::None,
                            ),
                            ::opgen::versions::FieldChange::added(
                                &[&["backup"]],
                                ::core::option::Option::Some(|| {
                                    let value: Backup = Backup { days: 3 };
                                    ::opgen::__private::versions::write(value)
                                        .unwrap_or_default()
                                }),
                            ),
                            ::opgen::versions::FieldChange::added(
                                &[&["memory"]],
                                ::core::option::Option::None,
                            ),
                        ]),
                    )
                    .with_field(
                        "limit",
                        &[],
                        ::core::option::Option::Some(
                            <OldLimit as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
                    .with_field(
                        "schedules",
                        &["name"],
                        ::core::option::Option::Some(
                            <Vec<Backup> as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
                    .with_field(
                        "byZone",
                        &[],
                        ::core::option::Option::Some(
                            <BTreeMap<
                                String,
                                Option<Backup>,
                            > as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
                    .with_flattened(
                        ::core::option::Option::Some(
                            <Common as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseStatus {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Backup {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for OldLimit {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
                    .with_field(
                        "backup",
                        &[],
                        ::core::option::Option::Some(
                            <Backup as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Common {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
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
        #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema)]
        #[kube(group = "demo.example.com", kind = "Database", status = "DatabaseStatus")]
        #[managed(pause = paused)]
        #[serde(rename_all = "camelCase")]
        #[kube(version = "v1", storage = false, served = true)]
        #[managed(versions)]
        pub struct DatabaseSpec {
            pub replica_count: u32,
            #[serde(rename = "class")]
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            pub database_class: Option<String>,
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            pub memory: Option<String>,
            pub limit: Limit,
            #[schemars(
                extend(
                    "x-kubernetes-list-type" = "map",
                    "x-kubernetes-list-map-keys" = ["name"]
                )
            )]
            pub backups: Vec<Backup>,
            pub by_zone: BTreeMap<String, Option<Backup>>,
            #[serde(flatten)]
            pub common: Common,
            #[serde(skip)]
            pub cache: Cache,
            pub paused: bool,
        }
        #[derive(Serialize, Deserialize, JsonSchema, Default)]
        pub struct DatabaseStatus {
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            pub ready: Option<bool>,
        }
        pub struct Backup {
            pub name: String,
            pub days: i32,
        }
        pub struct OldLimit {
            pub backup: Backup,
        }
        #[serde(default)]
        pub struct Common {
            pub port: u16,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                        ::core::convert::Into::into([
                            ::opgen::versions::FieldChange::moved(
                                &[&["replicas"]],
                                &[&["replicaCount"]],
                                ::core::option::Option::None,
                            ),
                            ::opgen::versions::FieldChange::moved(
                                &[&["type"]],
                                &[&["class"]],
                                ::core::option::Option::None,
                            ),
                            ::opgen::versions::FieldChange::removed(
                                &[&["backup"]],
                                ::core::option::Option::Some(|| {
                                    let value: super::v1beta1::Backup = super::v1beta1::Backup::of(
                                        vec![super::v1beta1::Backup::new()],
                                    );
                                    ::opgen::__private::versions::write(value)
                                        .unwrap_or_default()
                                }),
                            ),
                            ::opgen::versions::FieldChange::replaced(
                                &[&["memory"]],
                                &[&["memory"]],
                                |values| {
                                    let target_0 = ::opgen::__private::versions::Converted(
                                            text(
                                                ::opgen::__private::versions::read::<
                                                    Option<u8>,
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
                                            number(
                                                ::opgen::__private::versions::read::<
                                                    Option<String>,
                                                >(values.get(0usize))?,
                                            ),
                                        )
                                        .into_result()?;
                                    ::core::result::Result::Ok(
                                        ::core::convert::Into::into([
                                            ::opgen::__private::versions::write::<Option<u8>>(target_0)?,
                                        ]),
                                    )
                                },
                            ),
                            ::opgen::versions::FieldChange::replaced(
                                &[&["limit"]],
                                &[&["limit"]],
                                |values| {
                                    let target_0 = ::opgen::__private::versions::Converted(
                                            <Limit as ::core::convert::TryFrom<
                                                super::v1beta1::OldLimit,
                                            >>::try_from(
                                                ::opgen::__private::versions::read::<
                                                    super::v1beta1::OldLimit,
                                                >(values.get(0usize))?,
                                            ),
                                        )
                                        .into_result()?;
                                    ::core::result::Result::Ok(
                                        ::core::convert::Into::into([
                                            ::opgen::__private::versions::write::<Limit>(target_0)?,
                                        ]),
                                    )
                                },
                                |values| {
                                    let target_0 = ::opgen::__private::versions::Converted(
                                            <super::v1beta1::OldLimit as ::core::convert::TryFrom<
                                                Limit,
                                            >>::try_from(
                                                ::opgen::__private::versions::read::<
                                                    Limit,
                                                >(values.get(0usize))?,
                                            ),
                                        )
                                        .into_result()?;
                                    ::core::result::Result::Ok(
                                        ::core::convert::Into::into([
                                            ::opgen::__private::versions::write::<
                                                super::v1beta1::OldLimit,
                                            >(target_0)?,
                                        ]),
                                    )
                                },
                            ),
                            ::opgen::versions::FieldChange::moved(
                                    &[&["schedules"]],
                                    &[&["backups"]],
                                    ::core::option::Option::Some(
                                        <Vec<Backup> as ::opgen::versions::Versioned>::conversion,
                                    ),
                                )
                                .with_list_keys(&["name"]),
                        ]),
                    )
                    .with_field(
                        "byZone",
                        &[],
                        ::core::option::Option::Some(
                            <BTreeMap<
                                String,
                                Option<Backup>,
                            > as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
                    .with_flattened(
                        ::core::option::Option::Some(
                            <Common as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseStatus {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::added(
                            &[&["ready"]],
                            ::core::option::Option::None,
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
                            &[&["old_days"]],
                            &[&["days"]],
                            ::core::option::Option::None,
                        ),
                    ]),
                )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for OldLimit {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(::core::convert::Into::into([]))
                    .with_field(
                        "backup",
                        &[],
                        ::core::option::Option::Some(
                            <Backup as ::opgen::versions::Versioned>::conversion,
                        ),
                    )
            }
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for Common {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::added(
                            &[&["port"]],
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
                        ::core::option::Option::Some(
                            <v1beta1::DatabaseStatus as ::opgen::versions::Versioned>::conversion,
                        ),
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
                        ::core::option::Option::Some(
                            <v1::DatabaseStatus as ::opgen::versions::Versioned>::conversion,
                        ),
                    ),
            ]),
            "v1beta1",
        )
    }
}
