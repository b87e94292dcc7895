#[automatically_derived]
impl ::opgen::Managed for Application {
    type Spec = WebAppSpec;
    type Status = crate::api::WebAppStatus;
    fn status(&self) -> ::core::option::Option<&Self::Status> {
        ::core::option::Option::as_ref(&self.status)
    }
    type Subject = Self;
    const FINALIZER: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::Some(
        "demo.example.com/webapp",
    );
    const DEFINITION: ::core::option::Option<
        fn() -> ::opgen::__private::CustomResourceDefinition,
    > = ::core::option::Option::Some(
        <Application as ::opgen::__private::CustomResourceExt>::crd,
    );
    const SCHEMA: ::core::option::Option<fn() -> ::opgen::__private::Value> = ::core::option::Option::Some(
        ::opgen::__private::schema_by_names::<Application>,
    );
    fn kind() -> ::opgen::Kind {
        ::opgen::__private::kind_of::<Application>()
    }
    fn metadata(&self) -> &::opgen::__private::ObjectMeta {
        &self.metadata
    }
    fn spec(&self) -> &Self::Spec {
        &self.spec
    }
    fn paused(&self) -> ::core::primitive::bool {
        ::core::option::Option::unwrap_or_default(self.spec.halted)
    }
    fn subject(&self) -> &Self {
        self
    }
}
