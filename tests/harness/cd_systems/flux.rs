//! Runs the source, Helm and kustomize controllers of Flux against the API server of a test.

use std::{fs, process::Command};

use super::{apply_definitions, find};
use crate::{Plane, Port, Process};

const NAMESPACE: &str = "flux-system";
const CONTROLLERS: [&str; 3] = ["source-controller", "helm-controller", "kustomize-controller"];

/// The running controllers of Flux. Dropping it stops them.
#[derive(Debug)]
pub struct Flux {
    controllers: Vec<Process>,
    _ports: Vec<Port>,
}

impl Flux {
    /// Creates the namespace and the definitions of Flux in a cluster, and starts its controllers as processes of this machine.
    ///
    /// # Panics
    /// If a controller can't be built or started.
    pub async fn start(plane: &Plane) -> Self {
        let programs = tokio::task::spawn_blocking(find).await.expect("the search for Flux");
        let programs = programs.unwrap_or_else(|missing| panic!("{missing}"));
        plane.apply(&format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {NAMESPACE}}}\n")).await;
        let folder = plane.folder().join("flux");
        fs::create_dir_all(folder.join("artifacts")).expect("a folder for Flux");
        let (mut controllers, mut ports) = (Vec::new(), Vec::new());
        let mut reserve_address = || {
            let port = Port::reserve();
            let address = format!("127.0.0.1:{}", port.number);
            ports.push(port);
            address
        };
        let storage = reserve_address();
        for name in CONTROLLERS {
            apply_definitions(plane, &programs.join(format!("{name}-crds"))).await;
            let mut command = Command::new(programs.join(name));
            command.env("RUNTIME_NAMESPACE", NAMESPACE).env("KUBECONFIG", plane.kubeconfig());
            command.arg(format!("--metrics-addr={}", reserve_address()));
            command.arg(format!("--health-addr={}", reserve_address()));
            command.args(["--events-addr=", "--enable-leader-election=false"]);
            if name == "source-controller" {
                command.arg(format!("--storage-path={}", folder.join("artifacts").display()));
                command.arg(format!("--storage-addr={storage}")).arg(format!("--storage-adv-addr={storage}"));
            }
            controllers.push(Process::spawn(name, command, &folder.join(format!("{name}.log"))));
        }
        Self { controllers, _ports: ports }
    }

    /// Panics with the end of the log if a controller has ended.
    pub fn check(&mut self) {
        for process in &mut self.controllers {
            if let Some(status) = process.exited() {
                panic!("a controller of Flux ended: {status}; {}", process.log_tail(20));
            }
        }
    }
}
