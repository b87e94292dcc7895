//! Expands each warning of a macro to the use of a deprecated constant, for which the compiler prints the text at the span.

use crate::diag::Warning;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// Expands all warnings.
pub(crate) fn expand(warnings: &[Warning]) -> TokenStream {
    warnings.iter().map(expand_warning).collect()
}

/// Expands a warning to a deprecated constant and a use of it, so that the compiler prints the text of the warning as the note of the
/// deprecation. The constant is named after the code of the warning; for `bool`, the name of a type, it is `boolean`.
fn expand_warning(warning: &Warning) -> TokenStream {
    let (code, text) = (Ident::new(warning.code, warning.span), &warning.text);
    let code = if warning.code == "bool" { Ident::new("boolean", warning.span) } else { code };
    quote! {
        const _: () = {
            #[deprecated(note = #text)]
            #[allow(non_upper_case_globals)]
            const #code: () = ();
            #code
        };
    }
}
