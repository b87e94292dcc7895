//! This program in the role of an operator that exports its spans: the log and the spans of a process exist once in it.

use std::{
    net::SocketAddr,
    process::{Command, ExitCode},
};

use opgen::Operator;
use opgen_tests::{Access, Plane, Port, Process, wait};

use crate::operator::{
    kinds::{Comet, CometTree, Sky, SkyTree},
    program::readiness,
};

/// The environment variable that asks for this role, with the operator.
const REQUEST: &str = "OPGEN_PLANE_OPERATOR";

/// An operator that this program can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The example `webapp`.
    WebApp,
    /// Two controllers: a Sky consists of a Comet, which consists of a ConfigMap.
    Skies,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::WebApp => "webapp",
            Self::Skies => "skies",
        }
    }

    pub(super) fn operator(self) -> Operator {
        match self {
            Self::WebApp => webapp_controller::operator(),
            Self::Skies => Operator::new(self.name()).controls::<Sky, SkyTree>().controls::<Comet, CometTree>(),
        }
    }
}

/// The role that this process is asked to have.
pub(crate) fn requested() -> Option<Role> {
    let role = std::env::var(REQUEST).ok()?;
    [Role::WebApp, Role::Skies].into_iter().find(|known| known.name() == role)
}

/// The role itself, with the command line of an operator.
pub(crate) fn run(role: Role) -> ExitCode {
    opgen::__private::main(role.operator())
}

/// An operator that runs.
pub(super) struct Traced {
    pub(super) process: Process,
    probes: SocketAddr,
    _reserved: Port,
}

impl Traced {
    /// Starts an operator that exports its spans to an address, and waits until it is ready. `delay` is the time after which a
    /// batch of spans is exported at the latest, in milliseconds.
    pub(super) async fn start(
        role: Role,
        plane: &Plane,
        access: &Access,
        (collector, delay): (SocketAddr, u32),
        arguments: &[&str],
    ) -> Self {
        let port = Port::reserve();
        let probes = port.address();
        let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
        command.args(["run", "--probe-address", &probes.to_string(), "--log=info,opgen=debug"]).args(arguments);
        for (variable, _) in std::env::vars_os() {
            let name = variable.to_string_lossy();
            if name.starts_with("OTEL_") || ["WATCH_NAMESPACE", "LOG_FORMAT", "POD_NAMESPACE"].contains(&&*name) {
                command.env_remove(&variable);
            }
        }
        command.env(REQUEST, role.name()).env("KUBECONFIG", access.kubeconfig());
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{collector}"));
        command.env("OTEL_BSP_SCHEDULE_DELAY", delay.to_string());
        let process = Process::spawn(role.name(), command, &plane.folder().join(format!("{}.log", role.name())));
        let mut started = Self { process, probes, _reserved: port };
        started.is_ready().await;
        started
    }

    async fn is_ready(&mut self) {
        wait::until("the operator is ready", wait::PATIENCE, async || {
            if let Some(status) = self.process.exited() {
                panic!("it ended: {status}; {}", self.process.log_tail(20));
            }
            match readiness(self.probes).await? {
                (200, _) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    }

    /// Asks it to end, and waits until it has ended well.
    pub(super) async fn stop(&mut self) {
        self.process.terminate();
        let status = self.process.wait_exit(wait::PATIENCE).await;
        assert!(status.success(), "{status}; {}", self.process.log_tail(20));
    }
}
