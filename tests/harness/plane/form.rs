//! What a plane is made of: programs of Kubernetes, or the sandbox.

use std::{fmt, sync::OnceLock};

/// The environment variable that chooses: `sandbox` (the default), `controlplane`, or `both`, one after the other.
pub const PLANE: &str = "OPGEN_PLANE";

/// What plays the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An API server in this process.
    Sandbox,
    /// etcd, kube-apiserver and kube-controller-manager.
    ControlPlane,
}

impl Form {
    /// The one that the environment asks for; the sandbox, if it asks for nothing.
    ///
    /// # Panics
    /// If it asks for something that doesn't exist.
    pub fn chosen() -> Self {
        static CHOSEN: OnceLock<Form> = OnceLock::new();
        *CHOSEN.get_or_init(|| match std::env::var(PLANE).as_deref() {
            Err(_) | Ok("" | "sandbox" | "both") => Self::Sandbox,
            Ok("controlplane") => Self::ControlPlane,
            Ok(other) => panic!("{PLANE} is `{other}`; it may be `sandbox`, `controlplane` or `both`"),
        })
    }

    /// Whether the environment asks for one after the other.
    pub(crate) fn both() -> bool {
        std::env::var(PLANE).is_ok_and(|value| value == "both")
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sandbox => "sandbox",
            Self::ControlPlane => "controlplane",
        })
    }
}
