//! What is expanded beside the errors, so that one mistake is one message.

use crate::{
    check::Checked,
    model::{managed::Managed, operator::Operator, provisioner::Provisioner},
};

/// The whole implementation, without the parts that may be wrong; nothing where there can be no such kind.
pub(crate) fn managed(mut model: Box<Managed>) -> Option<Checked<Managed>> {
    model.root()?;
    model.finalizer = None;
    Some(Checked::mended(*model))
}

/// A node without children; its own permissions stay, else every use of them would be reported again.
pub(crate) fn provisioner(model: Box<Provisioner>) -> Checked<Provisioner> {
    Checked::mended(model.without_children())
}

/// The function and a `main`, without kinds.
pub(crate) fn operator(model: Operator) -> Checked<Operator> {
    Checked::mended(model.without_kinds())
}
