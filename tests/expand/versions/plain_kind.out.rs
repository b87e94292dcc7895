pub mod database {
    use kube::CustomResource;
    use opgen::Managed;
    /// The version `v1beta1`.
    #[allow(dead_code)]
    pub mod v1beta1 {
        #[allow(unused_imports)]
        use super::*;
        /// The desired state of a database.
        #[derive(
            CustomResource,
            ::opgen::validation::Validated,
            Serialize,
            Deserialize,
            JsonSchema,
            Clone
        )]
        #[kube(
            group = "demo.example.com",
            kind = "Database",
            namespaced,
            status = "opgen::Status"
        )]
        #[serde(rename_all = "camelCase")]
        #[kube(version = "v1beta1", storage = false, served = true)]
        pub struct DatabaseSpec {
            /// The number of replicas.
            pub desired_size: u32,
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
        /// The desired state of a database.
        #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone)]
        #[kube(
            group = "demo.example.com",
            kind = "Database",
            namespaced,
            status = "opgen::Status"
        )]
        #[serde(rename_all = "camelCase")]
        #[kube(version = "v1", storage = true, served = true)]
        #[managed(versions)]
        pub struct DatabaseSpec {
            /// The number of replicas.
            pub replica_count: u32,
            #[serde(skip_serializing_if = "::core::option::Option::is_none")]
            pub image: Option<String>,
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::moved(
                            &[&["desiredSize"]],
                            &[&["replicaCount"]],
                            ::core::option::Option::None,
                        ),
                        ::opgen::versions::FieldChange::added(
                            &[&["image"]],
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
