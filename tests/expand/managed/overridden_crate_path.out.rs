#[automatically_derived]
impl my::facade::Managed for WebApp {
    type Spec = WebAppSpec;
    type Status = my::facade::Status;
    fn status(&self) -> ::core::option::Option<&Self::Status> {
        ::core::option::Option::as_ref(&self.status)
    }
    type Subject = Self;
    const FINALIZER: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::None;
    const DEFINITION: ::core::option::Option<
        fn() -> my::facade::__private::CustomResourceDefinition,
    > = ::core::option::Option::Some(
        <WebApp as my::facade::__private::CustomResourceExt>::crd,
    );
    const SCHEMA: ::core::option::Option<fn() -> my::facade::__private::Value> = ::core::option::Option::Some(
        my::facade::__private::schema_by_names::<WebApp>,
    );
    const VALIDATION: ::core::option::Option<my::facade::validation::ValidationOf> = ::core::option::Option::Some(
        <WebAppSpec as my::facade::validation::Validated>::validation,
    );
    fn kind() -> my::facade::Kind {
        my::facade::__private::kind_of::<WebApp>()
    }
    fn metadata(&self) -> &my::facade::__private::ObjectMeta {
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
impl my::facade::validation::Validated for WebAppSpec {
    fn validation() -> my::facade::validation::Validation {
        #[allow(unused_imports)]
        use my::facade::__private::WithoutRules as _;
        const RULES: &[my::facade::validation::ValidationRule] = &[];
        my::facade::validation::Validation::of_type(RULES)
            .with_field(
                "image",
                &[],
                my::facade::__private::TypeOfField::<String>::NEW.validation(),
            )
    }
}
