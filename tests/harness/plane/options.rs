//! `Options`: the kind of cluster that a test asks for, and the flags of its servers.

use super::form::Form;

/// What a plane is to be like.
#[derive(Clone, Debug)]
pub struct Options {
    /// What plays the cluster; by default what the environment chooses.
    pub form: Form,
    /// Whether the sandbox is on a port, in real time: for programs, kubectl and probes. Without, it is in the runtime of
    /// its case, on a clock that waits for nothing. The control plane always is on a port.
    pub served: bool,
    /// Whether Pods become ready; with `false` they stay pending for ever, and in the sandbox there are none.
    pub kubelet: bool,
    /// More flags for kube-apiserver, for example `--watch-cache=false`. The sandbox knows those that have a counterpart.
    pub apiserver_flags: Vec<String>,
    /// Which controllers run, as kube-controller-manager's flag has them; without, on the control plane all that need no
    /// machine, in a cluster all.
    pub controllers: Option<String>,
    /// More flags for kube-controller-manager, for example `--node-monitor-grace-period=20s`. The sandbox knows none.
    pub controller_manager_flags: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            form: Form::chosen(),
            served: false,
            kubelet: true,
            apiserver_flags: Vec::new(),
            controllers: None,
            controller_manager_flags: Vec::new(),
        }
    }
}

impl Options {
    /// The usual one, on a port.
    pub fn served() -> Self {
        Self { served: true, ..Self::default() }
    }

    /// Whether it is in the runtime of its case.
    pub(crate) fn is_inner(&self) -> bool {
        self.form == Form::Sandbox && !self.served
    }
}
