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

    /// Reports that the input lacks something, for example an attribute. The error has the span of the whole macro call, since there are no
    /// tokens to point at.
    pub(crate) fn missing(&mut self, problem: impl AsRef<str>, fix: impl AsRef<str>) {
        self.errors.push(syn::Error::new(Span::call_site(), with_fix(problem.as_ref(), fix.as_ref())));
    }

    /// Reports an error at `tokens` that `other` also causes, for example a duplicate. The compiler shows `label` at `other` as a second
    /// error.
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

    /// Reports an unknown word where one of the words `known` is expected. The fix suggests the most similar known
    /// word, or else lists all of them.
    pub(crate) fn unknown(&mut self, noun: &str, word: impl ToTokens, known: &[&str]) {
        let name = word.to_token_stream().to_string();
        // The message of darling is the problem, `. `, and a similar word or all words. It has no second part if there are ten or more.
        let message = darling::Error::unknown_field_with_alts(&name, known).to_string();
        let fix = match message.split_once(". ") {
            Some((_, fix)) => instruction(fix),
            None => format!("use one of `{}`", known.join("`, `")),
        };
        self.error(word, format!("unknown {noun} `{name}`"), fix);
    }

    /// Reports each error of darling in the style of the other messages. The fix is the suggestion in the error, or `fix` if the error has
    /// none.
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

    /// Reports a syntax error of syn, with `fix`, the expected syntax. An error that [`syntax_error`] created already has a fix after a
    /// semicolon, and is reported unchanged.
    pub(crate) fn syntax(&mut self, error: &syn::Error, fix: &str) {
        for error in error {
            let problem = error.to_string();
            let text = if problem.contains("; ") { problem } else { with_fix(&problem, fix) };
            self.errors.push(syn::Error::new(error.span(), text));
        }
    }

    /// Reports a warning. Its text names the fix, and the key `allow(code)` that silences the warning.
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

/// Rewrites a suggestion of darling ("Available values: ...") as an instruction in the style of the other messages ("use one of ...").
fn instruction(suggestion: &str) -> String {
    lower_case(suggestion).replace("available values:", "use one of").replace("expected one of", "use one of")
}

/// Returns the sentence with its first letter in lower case.
fn lower_case(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
