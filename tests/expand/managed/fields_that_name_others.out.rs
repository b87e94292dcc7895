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
    const VALIDATION: ::core::option::Option<::opgen::validation::ValidationOf> = ::core::option::Option::Some(
        <WebAppSpec as ::opgen::validation::Validated>::validation,
    );
    const REFERENCES: &'static [::opgen::reference::ReferenceField<Self>] = &[
        ::opgen::reference::ReferenceField {
            field: "spec.homeNetwork",
            kind: ::opgen::__private::kind_of::<Network>,
            bucket: ::opgen::__private::bucket_of!(Network),
            names: |object: &WebApp| <String as ::opgen::reference::Names>::names(
                &object.spec.home_network,
            ),
            granted: false,
        },
        ::opgen::reference::ReferenceField {
            field: "spec.keys",
            kind: ::opgen::__private::kind_of::<k8s_openapi::api::core::v1::Secret>,
            bucket: ::opgen::__private::bucket_of!(k8s_openapi::api::core::v1::Secret),
            names: |object: &WebApp| <Option<
                Vec<String>,
            > as ::opgen::reference::Names>::names(&object.spec.keys),
            granted: false,
        },
        ::opgen::reference::ReferenceField {
            field: "spec.others",
            kind: ::opgen::__private::kind_of::<Network>,
            bucket: ::opgen::__private::bucket_of!(Network),
            names: |object: &WebApp| <LabelSelector as ::opgen::reference::Names>::names(
                &object.spec.others,
            ),
            granted: false,
        },
        ::opgen::reference::ReferenceField {
            field: "spec.shared",
            kind: ::opgen::__private::kind_of::<Network>,
            bucket: ::opgen::__private::bucket_of!(Network),
            names: |object: &WebApp| <Option<
                NamespacedName,
            > as ::opgen::reference::Names>::names(&object.spec.shared),
            granted: true,
        },
    ];
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
#[automatically_derived]
impl ::opgen::validation::Validated for WebAppSpec {
    fn validation() -> ::opgen::validation::Validation {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        const RULES: &[::opgen::validation::ValidationRule] = &[];
        ::opgen::validation::Validation::of_type(RULES)
            .with_field(
                "homeNetwork",
                &[],
                ::opgen::__private::TypeOfField::<String>::NEW.validation(),
            )
            .with_field(
                "keys",
                &[],
                ::opgen::__private::TypeOfField::<Option<Vec<String>>>::NEW.validation(),
            )
            .with_field(
                "others",
                &[],
                ::opgen::__private::TypeOfField::<LabelSelector>::NEW.validation(),
            )
            .with_field(
                "shared",
                &[],
                ::opgen::__private::TypeOfField::<Option<NamespacedName>>::NEW
                    .validation(),
            )
    }
}
const _: () = {
    #[deprecated(
        note = "`keys` has no list type, so one applier replaces the items of another; add `#[schemars(extend(\"x-kubernetes-list-type\" = \"atomic\"))]` (or `set`, or `map` with its keys), or keep it with `#[managed(allow(list))]`"
    )]
    #[allow(non_upper_case_globals)]
    const list: () = ();
    list
};
