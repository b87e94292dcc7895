//! What is wrong and how to put it right, collected through all stages.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The errors and warnings of one expansion.
#[derive(Default)]
pub(crate) struct Diags {
    errors: Vec<syn::Error>,
    warnings: Vec<Warning>,
}

/// Something legal that the API conventions advise against; it can be allowed by its code.
pub(crate) struct Warning {
    pub(crate) code: &'static str,
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl Diags {
    /// Points at `tokens`: what is wrong with them, and what to do.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, what: impl AsRef<str>, fix: impl AsRef<str>) {
        self.errors.push(syn::Error::new_spanned(tokens, text(what.as_ref(), fix.as_ref())));
    }

    /// For what is not there to be pointed at.
    pub(crate) fn missing(&mut self, what: impl AsRef<str>, fix: impl AsRef<str>) {
        self.errors.push(syn::Error::new(Span::call_site(), text(what.as_ref(), fix.as_ref())));
    }

    /// Two places that cannot both stand.
    pub(crate) fn conflict(
        &mut self,
        tokens: impl ToTokens,
        what: impl AsRef<str>,
        fix: impl AsRef<str>,
        other: impl ToTokens,
        label: &str,
    ) {
        let mut error = syn::Error::new_spanned(tokens, text(what.as_ref(), fix.as_ref()));
        error.combine(syn::Error::new_spanned(other, label));
        self.errors.push(error);
    }

    /// A word that is not known here, with the nearest one that is.
    pub(crate) fn unknown(&mut self, noun: &str, word: impl ToTokens, known: &[&str]) {
        let name = word.to_token_stream().to_string();
        let said = darling::Error::unknown_field_with_alts(&name, known).to_string();
        let fix = match said.split_once(". ") {
            Some((_, fix)) => advice(fix),
            None => format!("use one of `{}`", known.join("`, `")),
        };
        self.error(word, format!("unknown {noun} `{name}`"), fix);
    }

    /// What darling found, with `fix` where it has no advice of its own.
    pub(crate) fn darling(&mut self, error: darling::Error, fix: &str) {
        for one in error.flatten() {
            let span = one.span();
            let said = one.to_string();
            let fix = if said.starts_with("Duplicate") { "keep one" } else { fix };
            let (what, fix) = said.split_once(". ").unwrap_or((&said, fix));
            let what = lower_case(what).replace("unknown field: ", "unknown key ");
            self.errors.push(syn::Error::new(span, text(&what, &advice(fix))));
        }
    }

    /// A syntax error of the compiler's own grammar, with what was meant to be there.
    pub(crate) fn syntax(&mut self, error: &syn::Error, fix: &str) {
        for one in error {
            self.errors.push(syn::Error::new(one.span(), text(&one.to_string(), fix)));
        }
    }

    pub(crate) fn warn(&mut self, code: &'static str, span: Span, what: impl AsRef<str>, fix: impl AsRef<str>) {
        let fix = format!("{}, or keep it with `#[managed(allow({code}))]`", fix.as_ref());
        self.warnings.push(Warning { code, span, text: text(what.as_ref(), &fix) });
    }

    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    #[cfg(test)]
    pub(crate) fn errors(&self) -> &[syn::Error] {
        &self.errors
    }

    pub(crate) fn compile_errors(&self) -> TokenStream {
        self.errors.iter().map(syn::Error::to_compile_error).collect()
    }
}

fn text(what: &str, fix: &str) -> String {
    format!("{what}; {fix}")
}

/// darling's suggestion as an instruction.
fn advice(said: &str) -> String {
    lower_case(said).replace("available values:", "use one of").replace("expected one of", "use one of")
}

fn lower_case(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
