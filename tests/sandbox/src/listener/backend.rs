//! `Backend`: the sandbox that a listener serves, with the token of its administrator.

use crate::{Sandbox, User};

/// The shared state of all connections.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) sandbox: Sandbox,
    /// The token of the kubeconfig and its user.
    pub(super) administrator: (String, User),
}
