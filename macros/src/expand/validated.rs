//! Expands the implementation of `Validated`: the validation rules of a type, and calls that add the rules of its fields' types.

use crate::{
    check::Checked,
    model::validated::{Argument, Rule, Validated, ValidatedField},
};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Lit, ext::IdentExt};

/// Implements `Validated`, whose function `validation` returns the rules of the type, and adds the rules of the types of its fields.
pub(crate) fn expand(validated: &Checked<Validated>) -> TokenStream {
    let (krate, private, ident) = (&validated.paths.krate, &validated.paths.private, &validated.ident);
    let rules = validated.rules.iter().map(|rule| expand_rule(validated, rule));
    let nested = validated.fields.iter().filter(|field| !field.hints.skip).map(|field| expand_field(validated, field));
    quote! {
        #[automatically_derived]
        impl #krate::validation::Validated for #ident {
            fn validation() -> #krate::validation::Validation {
                #[allow(unused_imports)]
                use #private::WithoutRules as _;
                const RULES: &[#krate::validation::ValidationRule] = &[#(#rules),*];
                #krate::validation::Validation::of_type(RULES) #(#nested)*
            }
        }
    }
}

/// Returns the method call that adds the rules of a field's type to those of the struct. `TypeOfField` also compiles for a type that has no
/// rules and does not implement `Validated`.
fn expand_field(validated: &Validated, field: &ValidatedField) -> TokenStream {
    let (private, ty, name, keys) = (&validated.paths.private, &field.ty, &field.name, &field.hints.list_keys);
    let validation = quote! { #private::TypeOfField::<#ty>::NEW.validation() };
    if field.hints.flatten {
        quote! { .with_flattened(#validation) }
    } else {
        quote! { .with_field(#name, &[#(#keys),*], #validation) }
    }
}

/// Expands one `#[valid(...)]` rule to the expression of a `ValidationRule`, with the JSON names of the fields.
fn expand_rule(validated: &Validated, rule: &Rule) -> TokenStream {
    let krate = &validated.paths.krate;
    let name = |index: Option<usize>| index.and_then(|index| validated.fields.get(index)).map(|field| &field.name);
    let field = name(rule.field);
    let named: Vec<_> = rule.arguments.iter().filter_map(|argument| name(argument.field)).collect();
    let condition = || rule.arguments.first().map(|argument| expand_condition(validated, argument));
    let kind = match (rule.key.to_string().as_str(), rule.arguments.first()) {
        ("immutable", _) => quote! { Immutable(#field) },
        ("set_once", _) => quote! { SetOnce(#field) },
        ("required_if", _) => {
            let condition = condition();
            quote! { RequiredIf(#field, #condition) }
        }
        ("forbidden_if", _) => {
            let condition = condition();
            quote! { ForbiddenIf(#field, #condition) }
        }
        ("at_most", _) => quote! { AtMost(#field, #(#named)*) },
        ("less_than", _) => quote! { LessThan(#field, #(#named)*) },
        ("unique", None) => quote! { Unique(#field) },
        ("unique", Some(key)) => {
            let key = key.ident.unraw().to_string();
            quote! { UniqueBy(#field, #key) }
        }
        ("one_of", _) => quote! { OneOf(&[#(#named),*]) },
        ("at_most_one_of", _) => quote! { AtMostOneOf(&[#(#named),*]) },
        // The check reports unknown rules, so the only rule left is `at_least_one_of`.
        _ => quote! { AtLeastOneOf(&[#(#named),*]) },
    };
    let message = option_expression(rule.message.as_ref());
    quote! { #krate::validation::ValidationRule::new(#krate::validation::RuleKind::#kind, #message) }
}

/// Expands the argument of `required_if` or `forbidden_if` to a `FieldCondition`: a field that must be set, or have the given value.
fn expand_condition(validated: &Validated, argument: &Argument) -> TokenStream {
    let krate = &validated.paths.krate;
    let name = argument.field.and_then(|index| validated.fields.get(index)).map(|field| &field.name);
    let value = argument.value.as_ref().map(|value| {
        let variant = match value {
            Lit::Str(_) => quote! { Text },
            Lit::Int(_) => quote! { Integer },
            _ => quote! { Bool },
        };
        quote! { #krate::validation::FieldValue::#variant(#value) }
    });
    let value = option_expression(value.as_ref());
    quote! { #krate::validation::FieldCondition::new(#name, #value) }
}

/// Returns the expression `Some(value)`, or `None` without a value.
fn option_expression(value: Option<&impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    }
}
