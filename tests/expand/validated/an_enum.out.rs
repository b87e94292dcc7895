#[automatically_derived]
impl ::opgen::validation::Validated for Source {
    fn validation() -> ::opgen::validation::Validation {
        #[allow(unused_imports)]
        use ::opgen::__private::WithoutRules as _;
        const RULES: &[::opgen::validation::ValidationRule] = &[];
        ::opgen::validation::Validation::of_type(RULES)
            .with_field(
                "gitRepository",
                &[],
                ::opgen::__private::TypeOfField::<Git>::NEW.validation(),
            )
            .with_field(
                "oci",
                &[],
                ::opgen::__private::TypeOfField::<Box<Image>>::NEW.validation(),
            )
    }
}
