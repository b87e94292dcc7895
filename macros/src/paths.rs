//! The one place that knows where an expansion finds opgen.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Path, PathSegment, Token};

/// The paths of opgen as the user's crate sees them.
#[derive(Clone)]
pub(crate) struct Paths {
    /// The crate itself: `::opgen`, or what `crate = "..."` says.
    pub(crate) krate: Path,
    /// What only expansions name.
    pub(crate) private: Path,
}

impl Paths {
    pub(crate) fn new(krate: Option<Path>) -> Self {
        let krate = krate.unwrap_or_else(opgen);
        let mut private = krate.clone();
        private.segments.push(segment("__private"));
        Self { krate, private }
    }

    /// [`Paths::private`] at another place. A call of it is reported there if all of its tokens are.
    pub(crate) fn private_at(&self, place: Span) -> TokenStream {
        let moved = |mut token: TokenTree| {
            token.set_span(place);
            token
        };
        self.private.to_token_stream().into_iter().map(moved).collect()
    }
}

fn opgen() -> Path {
    let colons = Token![::](Span::call_site());
    Path { leading_colon: Some(colons), segments: std::iter::once(segment("opgen")).collect() }
}

fn segment(name: &str) -> PathSegment {
    Ident::new(name, Span::call_site()).into()
}

/// Generated code that is to be found where `place` is.
pub(crate) fn located(place: Span) -> Span {
    Span::call_site().located_at(place)
}
