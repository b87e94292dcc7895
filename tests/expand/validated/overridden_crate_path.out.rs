#[automatically_derived]
impl my::facade::validation::Validated for Pool {
    fn validation() -> my::facade::validation::Validation {
        #[allow(unused_imports)]
        use my::facade::__private::WithoutRules as _;
        const RULES: &[my::facade::validation::ValidationRule] = &[
            my::facade::validation::ValidationRule::new(
                my::facade::validation::RuleKind::Immutable("class"),
                ::core::option::Option::None,
            ),
        ];
        my::facade::validation::Validation::of_type(RULES)
            .with_field(
                "class",
                &[],
                my::facade::__private::TypeOfField::<String>::NEW.validation(),
            )
    }
}
