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

/// Checks the module. With an error in the history, the types are the same in all versions, so that the paths of other
/// modules still exist. Returns `None` after any other error.
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
