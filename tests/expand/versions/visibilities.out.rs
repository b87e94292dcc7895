pub(super) mod database {
    /// All versions share it.
    pub(super) struct Shared {
        private: super::Class,
        pub(super) of_parent: u32,
    }
    use super::defaults;
    fn mode() -> v1::Mode {
        v1::Mode::Full(3)
    }
    impl v1::DatabaseSpec {
        fn total(&self) -> u32 {
            self.private + self.also_private
        }
    }
    /// The version `v1beta1`.
    #[allow(dead_code)]
    pub mod v1beta1 {
        #[allow(unused_imports)]
        use super::*;
        #[derive(CustomResource, ::opgen::validation::Validated, Serialize)]
        #[kube(
            group = "demo.example.com",
            kind = "Database",
            status = "super::super::status::Status"
        )]
        #[kube(version = "v1beta1", storage = false, served = true)]
        pub(super) struct DatabaseSpec {
            pub(super) private: u32,
            pub(super) also_private: u32,
            pub(in super::super) of_parent: u32,
            pub(in super::super::super) of_grandparent: u32,
            pub(in super::super) of_parent_by_self: u32,
            pub(crate) of_crate: u32,
            pub(in crate::api) of_api: u32,
            pub public: u32,
            pub(super) size: super::super::OldSize,
        }
        pub(in super::super) enum Mode {
            Full(u32),
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
        #[derive(CustomResource, Managed, Serialize)]
        #[kube(
            group = "demo.example.com",
            kind = "Database",
            status = "super::super::status::Status"
        )]
        #[kube(version = "v1", storage = true, served = true)]
        #[managed(versions)]
        pub(super) struct DatabaseSpec {
            pub(super) private: u32,
            pub(super) also_private: u32,
            pub(in super::super) of_parent: u32,
            pub(in super::super::super) of_grandparent: u32,
            pub(in super::super) of_parent_by_self: u32,
            pub(crate) of_crate: u32,
            pub(in crate::api) of_api: u32,
            pub public: u32,
            pub(super) class: super::super::Class,
            #[serde(default = "super::super::mode", with = "text")]
            pub(super) mode: Mode,
            pub(super) size: super::super::super::Size,
            #[schemars(
                with = "Option<super::super::Text>",
                schema_with = super::super::text
            )]
            pub(super) texts: Vec<String>,
        }
        pub(in super::super) enum Mode {
            Full(u32),
            Half { percent: u32 },
        }
        #[automatically_derived]
        impl ::opgen::versions::Versioned for DatabaseSpec {
            fn conversion() -> ::opgen::versions::Conversion {
                #[allow(unused_imports)]
                use ::opgen::__private::versions::Infallible as _;
                ::opgen::versions::Conversion::of_struct(
                    ::core::convert::Into::into([
                        ::opgen::versions::FieldChange::added(
                            &[&["class"]],
                            ::core::option::Option::Some(|| {
                                let value: super::super::Class = super::super::DEFAULT;
                                ::opgen::__private::versions::write(value)
                                    .unwrap_or_default()
                            }),
                        ),
                        ::opgen::versions::FieldChange::added(
                            &[&["mode"]],
                            ::core::option::Option::Some(|| {
                                let value: Mode = mode();
                                ::opgen::__private::versions::write(value)
                                    .unwrap_or_default()
                            }),
                        ),
                        ::opgen::versions::FieldChange::replaced(
                            &[&["size"]],
                            &[&["size"]],
                            |values| {
                                let target_0 = ::opgen::__private::versions::Converted(
                                        super::super::up(
                                            ::opgen::__private::versions::read::<
                                                super::super::OldSize,
                                            >(values.get(0usize))?,
                                        ),
                                    )
                                    .into_result()?;
                                ::core::result::Result::Ok(
                                    ::core::convert::Into::into([
                                        ::opgen::__private::versions::write::<
                                            super::super::super::Size,
                                        >(target_0)?,
                                    ]),
                                )
                            },
                            |values| {
                                let target_0 = ::opgen::__private::versions::Converted(
                                        down(
                                            ::opgen::__private::versions::read::<
                                                super::super::super::Size,
                                            >(values.get(0usize))?,
                                        ),
                                    )
                                    .into_result()?;
                                ::core::result::Result::Ok(
                                    ::core::convert::Into::into([
                                        ::opgen::__private::versions::write::<
                                            super::super::OldSize,
                                        >(target_0)?,
                                    ]),
                                )
                            },
                        ),
                        ::opgen::versions::FieldChange::added(
                            &[&["texts"]],
                            ::core::option::Option::Some(|| {
                                let value: Vec<String> = vec![
                                    super::super::text(), text(), crate ::text()
                                ];
                                ::opgen::__private::versions::write(value)
                                    .unwrap_or_default()
                            }),
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
                        ::opgen::versions::VariantChange::Added(
                            "Half",
                            || {
                                ::opgen::__private::versions::write(
                                        super::v1beta1::Mode::Full(super::super::FULL),
                                    )
                                    .unwrap_or_default()
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
