//! What a plane is made of: programs of Kubernetes, or the sandbox.

use std::{fmt, sync::OnceLock};

/// The environment variable that chooses: `sandbox` (the default), `controlplane`, `cluster`, or `both`: the sandbox, the
/// control plane, and the [course](crate::case_on_cluster) of the cluster, one after the other. `course` is that course alone.
pub const PLANE: &str = "OPGEN_PLANE";

/// What plays the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An API server in this process.
    Sandbox,
    /// etcd, kube-apiserver and kube-controller-manager, with a kubelet that only pretends.
    ControlPlane,
    /// The control plane with all its controllers, kube-scheduler, and kwok in place of the kubelets.
    Cluster,
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
            Ok("cluster" | "course") => Self::Cluster,
            Ok(other) => {
                panic!("{PLANE} is `{other}`; it may be `sandbox`, `controlplane`, `cluster`, `course` or `both`")
            }
        })
    }

    /// Whether the environment asks for one after the other.
    pub(crate) fn both() -> bool {
        std::env::var(PLANE).is_ok_and(|value| value == "both")
    }

    /// Whether the environment asks for those cases alone that only a cluster can run.
    pub(crate) fn course_alone() -> bool {
        std::env::var(PLANE).is_ok_and(|value| value == "course")
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sandbox => "sandbox",
            Self::ControlPlane => "controlplane",
            Self::Cluster => "cluster",
        })
    }
}
