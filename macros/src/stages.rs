//! Runs the four stages of each macro: attrs, model, check and expand.

use crate::{attrs, check, diag::Diags, expand, fallback, model};
use proc_macro2::TokenStream;

/// The result of a macro: generated code and diagnostics.
pub(crate) struct Expansion {
    pub(crate) code: TokenStream,
    pub(crate) diags: Diags,
}

impl Expansion {
    /// Returns the generated code, followed by one `compile_error!` for each error.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let mut tokens = self.code;
        tokens.extend(self.diags.compile_errors());
        tokens
    }
}

/// Runs the stages of `#[derive(Managed)]`: expands `Managed`, reduced after an error, then `Validated` for a spec that can have rules, and
/// the warnings.
pub(crate) fn managed(item: TokenStream) -> Expansion {
    let mut diags = Diags::default();
    let model = attrs::managed::read(item.clone(), &mut diags).map(model::managed::resolve);
    let krate = model.as_ref().map(|model| model.paths.krate.clone());
    let can_have_rules = model.as_ref().is_some_and(|model| model.can_have_rules());
    let checked = model.and_then(|model| check::managed::check(model, &mut diags).map_or_else(fallback::managed, Some));
    let mut code = checked.map(|checked| expand::managed::expand(&checked)).unwrap_or_default();
    if can_have_rules {
        code.extend(expand_validated(item, krate, &mut diags));
    }
    code.extend(expand::warning::expand(diags.warnings()));
    Expansion { code, diags }
}

/// Runs the stages of `#[derive(Validated)]`.
pub(crate) fn validated(item: TokenStream) -> Expansion {
    let mut diags = Diags::default();
    let code = expand_validated(item, None, &mut diags);
    Expansion { code, diags }
}

/// Runs the stages that implement `Validated` for a type, from its `#[valid(...)]` rules. `krate` is the path of opgen in
/// `#[managed(crate = ...)]`, if the caller expands `Managed`.
fn expand_validated(item: TokenStream, krate: Option<syn::Path>, diags: &mut Diags) -> TokenStream {
    let model = attrs::validated::read(item, diags).map(|input| model::validated::resolve(input, krate));
    let checked = model.and_then(|model| check::validated::check(model, diags));
    checked.map(|checked| expand::validated::expand(&checked)).unwrap_or_default()
}

/// Runs the stages of `#[versions(...)]`. After an error in the history of a type it expands all types without their histories; after any
/// other error it expands nothing.
pub(crate) fn versions(args: TokenStream, item: TokenStream) -> Expansion {
    let mut diags = Diags::default();
    let model = attrs::versions::read(args, item, &mut diags).map(model::versions::resolve);
    let checked = model.and_then(|model| check::versions::check(model, &mut diags));
    let code = checked.map(|checked| expand::versions::expand(&checked)).unwrap_or_default();
    Expansion { code, diags }
}

/// Runs the stages of `#[derive(Provisioner)]`. After an error it expands the node without its children, to prevent follow-up errors.
pub(crate) fn provisioner(item: TokenStream) -> Expansion {
    let mut diags = Diags::default();
    let model =
        attrs::provisioner::read(item, &mut diags).and_then(|input| model::provisioner::resolve(input, &mut diags));
    let checked = model.map(|model| check::provisioner::check(model, &mut diags).unwrap_or_else(fallback::provisioner));
    let code = checked.map(|checked| expand::provisioner::expand(&checked)).unwrap_or_default();
    Expansion { code, diags }
}

/// Runs the stages of `operator!`. After an error it expands a `main` without kinds, to prevent follow-up errors.
pub(crate) fn operator(input: TokenStream) -> Expansion {
    let mut diags = Diags::default();
    let input = attrs::operator::read(input, &mut diags);
    let model = model::operator::resolve(input, &mut diags);
    let checked = check::operator::check(model, &mut diags).unwrap_or_else(|model| fallback::operator(*model));
    Expansion { code: expand::operator::expand(&checked), diags }
}
