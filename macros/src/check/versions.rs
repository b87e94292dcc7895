//! Checks the module of `#[versions(...)]`: the versions, the kinds, and the history of each field and variant.

use super::Checked;
use crate::{diag::Diags, model::versions::VersionsModule};

mod change;
mod closure;
mod dated;
mod history;
mod kinds;
mod list;
mod moved;
mod values;

/// Checks a module with `#[versions(...)]`. After an error in the history of a type it returns a model whose types are the same in all
/// versions, so that paths such as `v1::WebApp` in the user's code still resolve. Returns `None` after an error in the list of versions or
/// in the kinds.
pub(crate) fn check(model: VersionsModule, diags: &mut Diags) -> Option<Checked<VersionsModule>> {
    let before = diags.error_count();
    list::check(&model, diags);
    kinds::check(&model, diags);
    if diags.error_count() > before {
        return None;
    }
    // A change with a syntax error is missing in the model. The check of the history would report the consequences as errors.
    if !diags.has_errors() {
        for versioned in &model.types {
            history::check(&model, versioned, diags);
        }
    }
    if !diags.has_errors() {
        moved::check(&model, diags);
    }
    Some(Checked(if diags.has_errors() { model.without_history() } else { model }))
}
