//! The way of each macro through the four stages.

use crate::{attrs, check, diag::Diags, expand, fallback, model};
use proc_macro2::TokenStream;

/// What a macro leaves: code, and what it has to say about the input.
pub(crate) struct Outcome {
    pub(crate) code: TokenStream,
    pub(crate) diags: Diags,
}

impl Outcome {
    pub(crate) fn into_tokens(self) -> TokenStream {
        let mut tokens = self.code;
        tokens.extend(self.diags.compile_errors());
        tokens
    }
}

pub(crate) fn managed(item: TokenStream) -> Outcome {
    let mut diags = Diags::default();
    let model = attrs::managed::read(item, &mut diags).map(model::managed::resolve);
    let checked = model.and_then(|model| check::managed::check(model, &mut diags).map_or_else(fallback::managed, Some));
    let mut code = checked.map(|checked| expand::managed::expand(&checked)).unwrap_or_default();
    code.extend(expand::warning::expand(diags.warnings()));
    Outcome { code, diags }
}

pub(crate) fn provisioner(item: TokenStream) -> Outcome {
    let mut diags = Diags::default();
    let model =
        attrs::provisioner::read(item, &mut diags).and_then(|read| model::provisioner::resolve(read, &mut diags));
    let checked = model.map(|model| check::provisioner::check(model, &mut diags).unwrap_or_else(fallback::provisioner));
    let code = checked.map(|checked| expand::provisioner::expand(&checked)).unwrap_or_default();
    Outcome { code, diags }
}

pub(crate) fn operator(input: TokenStream) -> Outcome {
    let mut diags = Diags::default();
    let read = attrs::operator::read(input, &mut diags);
    let model = model::operator::resolve(read, &mut diags);
    let checked = check::operator::check(model, &mut diags).unwrap_or_else(|model| fallback::operator(*model));
    Outcome { code: expand::operator::expand(&checked), diags }
}
