//! The sandbox that a listener serves, with the token of its administrator.

use crate::{Sandbox, User};

/// What a connection works with.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) sandbox: Sandbox,
    /// The token of the kubeconfig and whose it is.
    pub(super) administrator: (String, User),
}
