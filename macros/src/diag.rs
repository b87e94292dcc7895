//! Collects errors and warnings of all stages, each with a span and a fix.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The errors and warnings of one expansion.
#[derive(Default)]
pub(crate) struct Diags {
    errors: Vec<syn::Error>,
    warnings: Vec<Warning>,
}

/// A warning about valid input that violates the API conventions. `allow(code)` silences it.
pub(crate) struct Warning {
    pub(crate) code: &'static str,
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl Diags {
    /// Reports an error at `tokens`: what is wrong, and the fix.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, problem: impl AsRef<str>, fix: impl AsRef<str>) {
        self.errors.push(syn::Error::new_spanned(tokens, with_fix(problem.as_ref(), fix.as_ref())));
    }

    /// Reports something missing, at the span of the macro.
    pub(crate) fn missing(&mut self, problem: impl AsRef<str>, fix: impl AsRef<str>) {
        self.errors.push(syn::Error::new(Span::call_site(), with_fix(problem.as_ref(), fix.as_ref())));
    }

    /// Reports two keys or names that exclude each other, with `label` at the other one.
    pub(crate) fn conflict(
        &mut self,
        tokens: impl ToTokens,
        problem: impl AsRef<str>,
        fix: impl AsRef<str>,
        other: impl ToTokens,
        label: &str,
    ) {
        let mut error = syn::Error::new_spanned(tokens, with_fix(problem.as_ref(), fix.as_ref()));
        error.combine(syn::Error::new_spanned(other, label));
        self.errors.push(error);
    }

    /// Reports an unknown word, and suggests the nearest known one.
    pub(crate) fn unknown(&mut self, noun: &str, word: impl ToTokens, known: &[&str]) {
        let name = word.to_token_stream().to_string();
        let message = darling::Error::unknown_field_with_alts(&name, known).to_string();
        let fix = match message.split_once(". ") {
            Some((_, fix)) => instruction(fix),
            None => format!("use one of `{}`", known.join("`, `")),
        };
        self.error(word, format!("unknown {noun} `{name}`"), fix);
    }

    /// Reports errors of darling, with `fix` for those without a suggestion.
    pub(crate) fn darling(&mut self, error: darling::Error, fix: &str) {
        for error in error.flatten() {
            let span = error.span();
            let message = error.to_string();
            let fix = if message.starts_with("Duplicate") { "keep one" } else { fix };
            let (problem, fix) = message.split_once(". ").unwrap_or((&message, fix));
            let problem = lower_case(problem).replace("unknown field: ", "unknown key ");
            self.errors.push(syn::Error::new(span, with_fix(&problem, &instruction(fix))));
        }
    }

    /// Reports a syntax error of syn, with the expected syntax as the fix. An error of [`syntax_error`] has a fix of its own.
    pub(crate) fn syntax(&mut self, error: &syn::Error, fix: &str) {
        for error in error {
            let problem = error.to_string();
            let text = if problem.contains("; ") { problem } else { with_fix(&problem, fix) };
            self.errors.push(syn::Error::new(error.span(), text));
        }
    }

    /// Reports a warning; the fix mentions how to allow it.
    pub(crate) fn warn(&mut self, code: &'static str, span: Span, problem: impl AsRef<str>, fix: impl AsRef<str>) {
        let fix = format!("{}, or keep it with `#[managed(allow({code}))]`", fix.as_ref());
        self.warnings.push(Warning { code, span, text: with_fix(problem.as_ref(), &fix) });
    }

    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    pub(crate) fn error_count(&self) -> usize {
        self.errors.len()
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

/// Returns a syntax error with a fix.
pub(crate) fn syntax_error(span: Span, problem: &str, fix: &str) -> syn::Error {
    syn::Error::new(span, with_fix(problem, fix))
}

/// Returns the text of a message: what is wrong, and the fix.
fn with_fix(problem: &str, fix: &str) -> String {
    format!("{problem}; {fix}")
}

/// Turns a suggestion of darling into an instruction.
fn instruction(suggestion: &str) -> String {
    lower_case(suggestion).replace("available values:", "use one of").replace("expected one of", "use one of")
}

fn lower_case(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
