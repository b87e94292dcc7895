//! Reduces the parsed input of a macro with errors to what can still be expanded. The macro emits that code beside its errors, so that one
//! mistake causes one message, and none about a missing implementation.

use crate::{
    check::Checked,
    model::{managed::Managed, operator::Operator, provisioner::Provisioner},
};

/// Reduces a managed kind with errors: its `Managed` implementation is expanded without the finalizer and the bucket, whose values may be
/// invalid. Returns `None` if kube generates no struct to implement it for.
pub(crate) fn managed(mut model: Box<Managed>) -> Option<Checked<Managed>> {
    model.root()?;
    model.finalizer = None;
    model.bucket = None;
    Some(Checked::fallback(*model))
}

/// Returns a node without children. It keeps its access rights, so that its calls cause no further errors.
pub(crate) fn provisioner(model: Box<Provisioner>) -> Checked<Provisioner> {
    Checked::fallback(model.without_children())
}

/// Returns the function `operator` and `main`, without kinds.
pub(crate) fn operator(model: Operator) -> Checked<Operator> {
    Checked::fallback(model.without_kinds())
}
