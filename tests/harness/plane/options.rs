//! Defines `Options`: the kind of API server that a test needs, and the flags of the servers.

use std::{net::SocketAddr, time::Duration};

use super::form::Form;

/// The default limit of the real time of a case on a paused clock: ten times the duration of the slowest one in a run of all cases.
const REAL_TIME_LIMIT: Duration = Duration::from_secs(300);

/// The options of a plane.
#[derive(Clone, Debug)]
pub struct Options {
    /// The form of the plane. Default: the one that the environment variable selects.
    pub form: Form,
    /// Whether the sandbox has a port and runs in real time, for programs, kubectl and probes. Otherwise it is inside the runtime
    /// of its case, with a paused clock. A control plane always has a port.
    pub served: bool,
    /// Whether Pods become ready. With `false` they stay pending forever, and a sandbox creates none.
    pub kubelet: bool,
    /// Additional flags of kube-apiserver, for example `--watch-cache=false`. The sandbox accepts only flags with a counterpart.
    pub apiserver_flags: Vec<String>,
    /// The value of the flag `--controllers` of kube-controller-manager. Default: all controllers in a cluster, and all that need
    /// no machines on a control plane.
    pub controllers: Option<String>,
    /// Additional flags of kube-controller-manager, for example `--node-monitor-grace-period=20s`. The sandbox has none.
    pub controller_manager_flags: Vec<String>,
    /// The Services of webhooks, by namespace and name, with the address that serves them. kube-apiserver finds it through the
    /// EndpointSlices of the case, and the sandbox by this list.
    pub webhook_services: Vec<(String, String, SocketAddr)>,
    /// The real time after which a case on a paused clock fails, since a hot loop keeps that clock from advancing to the deadlines of
    /// the case. Default: five minutes. A plane with a port runs in real time, and ignores it.
    pub real_time_limit: Duration,
}

impl Default for Options {
    /// Returns the options of the API server that `OPGEN_PLANE` selects. A sandbox has no port and runs on the paused clock of its test
    /// case.
    fn default() -> Self {
        Self {
            form: Form::from_environment(),
            served: false,
            kubelet: true,
            apiserver_flags: Vec::new(),
            controllers: None,
            controller_manager_flags: Vec::new(),
            webhook_services: Vec::new(),
            real_time_limit: REAL_TIME_LIMIT,
        }
    }
}

impl Options {
    /// Returns the default options with a port.
    pub fn served() -> Self {
        Self { served: true, ..Self::default() }
    }

    /// Returns the default options with a port, and with a Service whose webhooks are served at `address`, which must not be a loopback
    /// one.
    pub fn with_webhooks(namespace: &str, service: &str, address: SocketAddr) -> Self {
        let mut options = Self::served();
        options.webhook_services.push((namespace.to_owned(), service.to_owned(), address));
        if options.form != Form::Sandbox {
            // There is no kube-proxy that forwards the address of a Service: kube-apiserver has to connect to the endpoints.
            options.apiserver_flags.push("--enable-aggregator-routing=true".to_owned());
        }
        options
    }

    /// Whether the plane is a sandbox inside the runtime of its case.
    pub(crate) fn is_inner(&self) -> bool {
        self.form == Form::Sandbox && !self.served
    }
}
