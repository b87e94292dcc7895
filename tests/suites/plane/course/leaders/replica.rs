//! A replica of the operator: a process in a Pod, with an account, a network and a clock of its own.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::Instant,
};

use k8s_openapi::jiff::Timestamp;
use opgen_tests::{
    Access, Cut, Plane, Port, Process, Proxy,
    wait::{self, PATIENCE},
};
use rustix::process::Signal;

use super::{super::clock, replicas::Operator};
use crate::operator::program::readiness;

/// The times of the election, short and in the proportions of the defaults.
const ELECTION: [&str; 4] = [
    "--leader-elect",
    "--leader-elect-lease-duration=3s",
    "--leader-elect-renew-deadline=2s",
    "--leader-elect-retry-period=400ms",
];

/// The exit code of an operator that lost the lead.
const LEAD_LOST: i32 = 3;

pub(in super::super) struct Replica {
    name: String,
    operator: Operator,
    pub(super) access: Access,
    pub(super) proxy: Proxy,
    pub(in super::super) process: Process,
    program: PathBuf,
    kubeconfig: PathBuf,
    clock: PathBuf,
    log: PathBuf,
    port: Port,
    /// The number of the Pod. A new Pod has another uid.
    pod: u32,
    pub(super) started: Timestamp,
    /// The time until which the process is stopped.
    pub(super) paused_until: Option<Instant>,
    /// The time until which its network loses data.
    pub(super) cut_until: Option<Instant>,
    /// The time at which a process that was asked to end is killed.
    pub(super) kill_at: Option<Instant>,
    /// The number of processes that ended since they lost the lead.
    pub(super) losses: usize,
}

impl Replica {
    /// Starts a replica of this program in a first Pod. Its account exists.
    pub(super) async fn start(plane: &Plane, name: &str, operator: Operator, program: &Path) -> Self {
        let access = plane.service_account(&operator.namespace(), name).await;
        let proxy = Proxy::start(access.server()).await.unwrap();
        let kubeconfig = access.kubeconfig_at(proxy.address());
        let [clock, log] = ["clock", "log"].map(|extension| plane.folder().join(format!("{name}.{extension}")));
        std::fs::write(&clock, "+0").unwrap();
        let port = Port::reserve();
        let pod =
            Pod { name, operator, number: 0, program, kubeconfig: &kubeconfig, clock: &clock, log: &log, port: &port };
        let process = pod.spawn(&ELECTION);
        Self {
            name: name.to_owned(),
            operator,
            process,
            program: program.to_owned(),
            access,
            proxy,
            kubeconfig,
            clock,
            log,
            port,
            pod: 0,
            started: Timestamp::now(),
            paused_until: None,
            cut_until: None,
            kill_at: None,
            losses: 0,
        }
    }

    /// Whether an identity in the Lease is that of a process of this replica.
    pub(super) fn is_holder(&self, identity: &str) -> bool {
        identity.starts_with(&format!("{}-", self.name))
    }

    /// Returns the address of its probes.
    pub(in super::super) fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Starts another process: in a new Pod, or as the restarted container of the same one.
    pub(in super::super) fn restart(&mut self, in_new_pod: bool) {
        self.restart_with(in_new_pod, &ELECTION);
    }

    /// Starts another process without leader election.
    pub(super) fn restart_unelected(&mut self) {
        self.restart_with(true, &["--leader-elect=false"]);
    }

    fn restart_with(&mut self, in_new_pod: bool, arguments: &[&str]) {
        self.pod += u32::from(in_new_pod);
        (self.paused_until, self.kill_at, self.started) = (None, None, Timestamp::now());
        let Self { name, operator, pod, program, kubeconfig, clock, log, port, .. } = &*self;
        let pod = Pod { name, operator: *operator, number: *pod, program, kubeconfig, clock, log, port };
        self.process = pod.spawn(arguments);
    }

    /// Stops the process (SIGSTOP) until a time.
    pub(super) fn pause(&mut self, until: Instant) {
        self.process.pause();
        self.paused_until = Some(until);
    }

    /// Continues the process.
    pub(super) fn resume(&mut self) {
        if self.paused_until.take().is_some() {
            self.process.signal(Signal::CONT);
        }
    }

    /// Loses data of the replica until a time.
    pub(super) fn cut(&mut self, cut: Cut, until: Instant) {
        self.proxy.cut(cut);
        self.cut_until = Some(until);
    }

    /// Ends the loss of data.
    pub(super) fn heal(&mut self) {
        self.cut_until = None;
        self.proxy.cut(Cut::Nothing);
    }

    /// Shifts the wall clock of the running process, and of those after it.
    pub(super) fn shift_clock(&self, offset: &str) {
        std::fs::write(&self.clock, offset).unwrap();
    }

    /// Does what is due: ends a pause or a cut, kills a process that did not end, and restarts one that has ended.
    pub(super) fn tend(&mut self) {
        let now = Instant::now();
        let is_due = |time: Option<Instant>| time.is_some_and(|time| time <= now);
        if is_due(self.paused_until) {
            self.resume();
        }
        if is_due(self.cut_until) {
            self.heal();
        }
        if is_due(self.kill_at) {
            self.process.kill();
        }
        if let Some(status) = self.process.exited() {
            let is_replaced = self.kill_at.is_some();
            if status.code() == Some(LEAD_LOST) {
                self.losses += 1;
            } else if !is_replaced {
                println!("{} ended: {status}; {}", self.name, self.process.log_tail(5));
            }
            self.restart(is_replaced);
        }
    }

    /// Waits until the replica is ready: its watches are open.
    pub(in super::super) async fn ready(&mut self) {
        wait::until(format!("{} is ready", self.name), PATIENCE, async || {
            assert!(self.process.exited().is_none(), "{}", self.process.log_tail(20));
            match readiness(self.port.address()).await? {
                (200, _) => Ok(()),
                (code, text) => Err(format!("{code}: {text}")),
            }
        })
        .await;
    }

    /// Asks the process to end, and waits until it has.
    pub(in super::super) async fn stop(&mut self) -> ExitStatus {
        self.process.terminate();
        self.process.wait_exit(PATIENCE).await
    }
}

/// The place of a process.
struct Pod<'a> {
    name: &'a str,
    operator: Operator,
    number: u32,
    program: &'a Path,
    kubeconfig: &'a PathBuf,
    clock: &'a PathBuf,
    log: &'a PathBuf,
    port: &'a Port,
}

impl Pod<'_> {
    fn spawn(&self, arguments: &[&str]) -> Process {
        let mut command = Command::new(self.program);
        command.args(["run", "--probe-address", &self.port.address().to_string()]).args(arguments);
        command.args(self.operator.arguments);
        for inherited in ["WATCH_NAMESPACE", "PROBE_ADDRESS", "METRICS_BIND_ADDRESS", "RUST_LOG", "LOG_FORMAT"] {
            command.env_remove(inherited);
        }
        command.envs(clock::shifted_by(self.clock)).env("KUBECONFIG", self.kubeconfig);
        let pod = format!("{}-{}", self.name, self.number);
        command
            .env("POD_NAMESPACE", self.operator.namespace())
            .env("POD_UID", format!("uid-of-{pod}"))
            .env("POD_NAME", pod);
        Process::spawn(self.name, command, self.log)
    }
}
