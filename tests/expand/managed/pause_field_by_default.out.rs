#[automatically_derived]
impl ::opgen::Managed for Network {
    type Spec = NetworkSpec;
    type Status = Status;
    fn status(&self) -> ::core::option::Option<&Self::Status> {
        ::core::option::Option::as_ref(&self.status)
    }
    const FINALIZER: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::None;
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
    fn crd() -> ::opgen::__private::CustomResourceDefinition {
        <Network as ::opgen::__private::CustomResourceExt>::crd()
    }
}
