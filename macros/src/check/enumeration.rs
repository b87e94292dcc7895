//! Checks an enum that is the spec of a custom resource: each variant must become an object with a structural schema.

use crate::{attrs::managed::ManagedVariantInput, diag::Diags, model::managed::Managed};
use syn::{Fields, Ident};

/// Checks an enum that is a spec. serde writes each variant as an object with one property, the name of the variant. Reports other
/// representations (`#[serde(tag)]`, `untagged`), an enum without variants, unit variants, and tuple variants without exactly one type.
pub(super) fn check(model: &Managed, variants: &[ManagedVariantInput], diags: &mut Diags) {
    if let Some(tagging) = &model.hints.tagging {
        let problem = "an enum with this tagging has no structural schema";
        diags.error(tagging, problem, "remove it, so that each variant is a separate property");
    }
    if variants.is_empty() {
        diags.error(
            &model.spec,
            format!("`{}` has no variants, so it has no values", model.spec),
            "add one, or make it a struct",
        );
    }
    for ManagedVariantInput { variant, hints } in variants {
        if let Some(tagging) = &hints.tagging {
            diags.error(tagging, "a variant with this tagging has no structural schema", "remove it");
        }
        match &variant.fields {
            Fields::Unit => report_unit_variant(&variant.ident, diags),
            Fields::Unnamed(fields) if fields.unnamed.len() != 1 => {
                let problem = format!("`{}` is a tuple, but a schema supports only lists of one type", variant.ident);
                diags.error(&variant.ident, problem, "give its fields names, or put them into one struct");
            }
            _ => (),
        }
    }
}

/// Reports a variant without fields, which serde writes as a string.
fn report_unit_variant(variant: &Ident, diags: &mut Diags) {
    let fix = format!("write `{variant} {{}}`, or make the spec a struct with the enum as a field");
    diags.error(variant, format!("`{variant}` would be a string, but the other variants are objects"), fix);
}
