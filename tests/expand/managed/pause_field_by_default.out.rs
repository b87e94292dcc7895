#[automatically_derived]
impl ::opgen::Managed for Network {
    type Spec = NetworkSpec;
    type Status = Status;
    fn status(&self) -> ::core::option::Option<&Self::Status> {
        ::core::option::Option::as_ref(&self.status)
    }
    type Subject = Self;
    const FINALIZER: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::None;
    const DEFINITION: ::core::option::Option<
        fn() -> ::opgen::__private::CustomResourceDefinition,
    > = ::core::option::Option::Some(
        <Network as ::opgen::__private::CustomResourceExt>::crd,
    );
    const SCHEMA: ::core::option::Option<fn() -> ::opgen::__private::Value> = ::core::option::Option::Some(
        ::opgen::__private::schema_by_names::<Network>,
    );
    const VALIDATION: ::core::option::Option<::opgen::validation::ValidationOf> = ::core::option::Option::Some(
        <NetworkSpec as ::opgen::validation::Validated>::validation,
    );
    fn kind() -> ::opgen::Kind {
        ::opgen::__private::kind_of::<Network>()
    }
    fn metadata(&self) -> &::opgen::__private::ObjectMeta {
        &self.metadata
    }
    fn spec(&self) -> &Self::Spec {
        &self.spec
    }
    fn paused(&self) -> ::core::primitive::bool {
        self.spec.pause
    }
    fn subject(&self) -> &Self {
        self
    }
}
#[automatically_derived]
impl ::opgen::validation::Validated for NetworkSpec {
    fn validation() -> ::opgen::validation::Validation {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        const RULES: &[::opgen::validation::ValidationRule] = &[];
        ::opgen::validation::Validation::of_type(RULES)
            .with_field(
                "pause",
                &[],
                ::opgen::__private::TypeOfField::<bool>::NEW.validation(),
            )
    }
}
