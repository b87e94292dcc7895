//! Defines `Form`: whether the API server of a test is the sandbox in the test process, a real control plane, or a whole cluster.

use std::{fmt, sync::OnceLock};

/// The environment variable that selects the form: `sandbox` (the default), `controlplane` or `cluster`. `course` runs only the
/// [cluster course](crate::case_on_cluster), and `both` runs the sandbox, the control plane and the cluster course one after the
/// other.
pub const PLANE: &str = "OPGEN_PLANE";

/// The form of a plane: its API server and the other parts of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An API server in this process.
    Sandbox,
    /// etcd, kube-apiserver and kube-controller-manager, with a simulated kubelet.
    ControlPlane,
    /// The control plane with all its controllers, kube-scheduler, and kwok in place of the kubelets.
    Cluster,
}

impl Form {
    /// Returns the kind of API server that `OPGEN_PLANE` selects: sandbox, control plane or cluster. Without the variable it is the
    /// sandbox, as for `both`, since the program then runs itself with each of the other values.
    ///
    /// # Panics
    /// If the value is unknown.
    pub fn from_environment() -> Self {
        static FORM: OnceLock<Form> = OnceLock::new();
        *FORM.get_or_init(|| match std::env::var(PLANE).as_deref() {
            Err(_) | Ok("" | "sandbox" | "both") => Self::Sandbox,
            Ok("controlplane") => Self::ControlPlane,
            Ok("cluster" | "course") => Self::Cluster,
            Ok(other) => {
                panic!("{PLANE} is `{other}`; it may be `sandbox`, `controlplane`, `cluster`, `course` or `both`")
            }
        })
    }

    /// Returns whether the environment variable selects all forms, one after the other.
    pub(crate) fn is_both_selected() -> bool {
        std::env::var(PLANE).is_ok_and(|value| value == "both")
    }

    /// Returns whether the environment variable selects only the cases that need a cluster.
    pub(crate) fn is_course_only() -> bool {
        std::env::var(PLANE).is_ok_and(|value| value == "course")
    }
}

impl fmt::Display for Form {
    /// Displays the form by the prefix of the names of its test cases.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sandbox => "sandbox",
            Self::ControlPlane => "controlplane",
            Self::Cluster => "cluster",
        })
    }
}
