#[automatically_derived]
impl ::opgen::Managed for WebApp {
    type Spec = WebAppSpec;
    type Status = Status;
    fn status(&self) -> ::core::option::Option<&Self::Status> {
        ::core::option::Option::as_ref(&self.status)
    }
    type Subject = Self;
    const FINALIZER: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::None;
    const DEFINITION: ::core::option::Option<
        fn() -> ::opgen::__private::CustomResourceDefinition,
    > = ::core::option::Option::Some(
        <WebApp as ::opgen::__private::CustomResourceExt>::crd,
    );
    const SCHEMA: ::core::option::Option<fn() -> ::opgen::__private::Value> = ::core::option::Option::Some(
        ::opgen::__private::schema_by_names::<WebApp>,
    );
    fn kind() -> ::opgen::Kind {
        ::opgen::__private::kind_of::<WebApp>()
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
const _: () = {
    #[deprecated(
        note = "`ratio` is `f32`, but floats lose precision in other languages; use an integer of a smaller unit, or a quantity, or keep it with `#[managed(allow(float))]`"
    )]
    #[allow(non_upper_case_globals)]
    const float: () = ();
    float
};
