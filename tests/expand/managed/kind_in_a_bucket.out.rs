#[automatically_derived]
impl ::opgen::Managed for Unit {
    type Spec = UnitSpec;
    type Status = Status;
    fn status(&self) -> ::core::option::Option<&Self::Status> {
        ::core::option::Option::as_ref(&self.status)
    }
    type Subject = Self;
    const FINALIZER: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::None;
    const DEFINITION: ::core::option::Option<
        fn() -> ::opgen::__private::CustomResourceDefinition,
    > = ::core::option::Option::Some(
        <Unit as ::opgen::__private::CustomResourceExt>::crd,
    );
    const SCHEMA: ::core::option::Option<fn() -> ::opgen::__private::Value> = ::core::option::Option::Some(
        ::opgen::__private::schema_by_names::<Unit>,
    );
    const VALIDATION: ::core::option::Option<::opgen::validation::ValidationOf> = ::core::option::Option::Some(
        <UnitSpec as ::opgen::validation::Validated>::validation,
    );
    const BUCKET: ::core::option::Option<::opgen::bucket::BucketDefinition> = ::core::option::Option::Some(
        ::opgen::bucket::BucketDefinition::new("units")
            .history(10u8)
            .replicas(3u8)
            .max_age(::core::time::Duration::from_millis(2592000000u64))
            .storage(::opgen::bucket::BucketStorage::Memory),
    );
    fn kind() -> ::opgen::Kind {
        ::opgen::__private::kind_of::<Unit>()
    }
    fn metadata(&self) -> &::opgen::__private::ObjectMeta {
        &self.metadata
    }
    fn spec(&self) -> &Self::Spec {
        &self.spec
    }
    fn paused(&self) -> ::core::primitive::bool {
        false
    }
    fn subject(&self) -> &Self {
        self
    }
}
#[automatically_derived]
impl ::opgen::validation::Validated for UnitSpec {
    fn validation() -> ::opgen::validation::Validation {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        const RULES: &[::opgen::validation::ValidationRule] = &[];
        ::opgen::validation::Validation::of_type(RULES)
            .with_field(
                "image",
                &[],
                ::opgen::__private::TypeOfField::<String>::NEW.validation(),
            )
    }
}
