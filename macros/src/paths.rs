//! Builds the paths by which generated code names the opgen crate.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Path, PathSegment, Token};

/// The paths of opgen in the user's crate.
#[derive(Clone)]
pub(crate) struct Paths {
    /// The crate: `::opgen`, or the value of `crate = "..."`.
    pub(crate) krate: Path,
    /// The module for generated code only.
    pub(crate) private: Path,
}

impl Paths {
    /// Builds the paths below `krate`, or below `::opgen` if it is `None`.
    pub(crate) fn new(krate: Option<Path>) -> Self {
        let krate = krate.unwrap_or_else(default_crate);
        let mut private = krate.clone();
        private.segments.push(segment("__private"));
        Self { krate, private }
    }

    /// Returns the tokens of the path [`Paths::private`], each with the span `span`. The compiler reports an error in a call at this span
    /// if all tokens of the call have it.
    pub(crate) fn private_at(&self, span: Span) -> TokenStream {
        let respan = |mut token: TokenTree| {
            token.set_span(span);
            token
        };
        self.private.to_token_stream().into_iter().map(respan).collect()
    }
}

/// Returns the path `::opgen`.
fn default_crate() -> Path {
    let colons = Token![::](Span::call_site());
    Path { leading_colon: Some(colons), segments: std::iter::once(segment("opgen")).collect() }
}

/// Returns a path segment that resolves at the call site of the macro.
fn segment(name: &str) -> PathSegment {
    Ident::new(name, Span::call_site()).into()
}

/// Returns a span for generated code that the compiler reports at `span`.
pub(crate) fn located(span: Span) -> Span {
    Span::call_site().located_at(span)
}
