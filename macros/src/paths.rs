//! The one place that knows where an expansion finds opgen.

use proc_macro2::{Ident, Span};
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
}

fn opgen() -> Path {
    let colons = Token![::](Span::call_site());
    Path { leading_colon: Some(colons), segments: std::iter::once(segment("opgen")).collect() }
}

fn segment(name: &str) -> PathSegment {
    Ident::new(name, Span::call_site()).into()
}
