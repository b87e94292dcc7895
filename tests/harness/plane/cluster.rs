//! Adds a scheduler, nodes and a StorageClass to a control plane, which makes it a cluster.

use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use opgen_sandbox::pod_status::NODE;
use serde_json::json;

use super::{Plane, Programs, Server};
use crate::wait;

const NO_CLUSTER: &str = "only a cluster has it: `case_on_cluster`";

/// The default StorageClass. kwok provisions its volumes.
const STORAGE_CLASS: &str = "\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: standard
  annotations: {storageclass.kubernetes.io/is-default-class: 'true'}
provisioner: opgen.test/volumes
reclaimPolicy: Delete
volumeBindingMode: Immediate
";

impl Plane {
    /// Makes a control plane a cluster: starts kube-scheduler, creates the default StorageClass, and starts the first node, unless the
    /// options of the test ask for a cluster without kubelets.
    pub(super) async fn set_up_cluster(&self) {
        let (programs, files) = (self.programs(), self.files());
        programs.start_scheduler(&files.folder, &files.authority);
        self.apply(STORAGE_CLASS).await;
        if self.options.kubelet {
            self.start_node(NODE).await;
        }
    }

    /// Creates the Node `name` unless it exists, starts a kwok process that simulates its kubelet, and waits until the Node is ready and
    /// has no taints. So it starts a new node, or again one that was stopped.
    ///
    /// # Panics
    /// If the plane is not a cluster.
    pub async fn start_node(&self, name: &str) {
        let nodes = Api::<Node>::all(self.client());
        let capacity = json!({"cpu": "64", "memory": "256Gi", "pods": "10000"});
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
        });
        let node: Node = serde_json::from_value(node).expect("a node");
        match nodes.create(&PostParams::default(), &node).await {
            // The Node exists: it was stopped.
            Err(kube::Error::Api(refusal)) if refusal.code == 409 => {}
            result => drop(result.unwrap_or_else(|error| panic!("the node {name} can't be created: {error}"))),
        }
        let status = Patch::Merge(json!({"status": {"capacity": capacity, "allocatable": capacity}}));
        let patched = nodes.patch_status(name, &PatchParams::default(), &status).await;
        patched.unwrap_or_else(|error| panic!("the node {name} gets no status: {error}"));
        let files = self.files();
        self.programs().start_node(&files.folder, &files.authority, name, name == NODE);
        wait::until_object(&nodes, name, "is ready and takes Pods", |node| {
            let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
            let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
            conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
                && taints.is_empty()
        })
        .await;
    }

    /// Returns the port of this machine to which `kubectl port-forward` leads for each port of each Pod on the first node.
    ///
    /// # Panics
    /// If the plane is a sandbox.
    pub fn forwarded_port(&self) -> u16 {
        self.programs().forwarded_port()
    }

    /// Kills the process that simulates the kubelet of a node: its heartbeats and the status updates of its Pods stop.
    ///
    /// # Panics
    /// If the plane is not a cluster, or the node does not run.
    pub fn stop_node(&self, name: &str) {
        self.programs().stop_node(name);
    }

    /// Deletes the Node of a machine that was stopped, as an administrator would, and waits until it is gone.
    pub async fn delete_node(&self, name: &str) {
        let nodes = Api::<Node>::all(self.client());
        nodes.delete(name, &DeleteParams::default()).await.unwrap_or_else(|error| panic!("{name} stays: {error}"));
        wait::until_gone(&nodes, name).await;
    }

    /// Stops kube-controller-manager at once; [`Self::restart_controller_manager`] starts it again.
    ///
    /// # Panics
    /// If the plane is a sandbox.
    pub fn stop_controller_manager(&self) {
        self.programs().stop_controller_manager();
    }

    /// Returns the resident memory of the programs of this plane in KiB; 0 for a sandbox.
    pub fn resident_kib(&self) -> u64 {
        match &self.server {
            Server::Programs(programs) => programs.resident_kib(),
            Server::Sandbox(_) | Server::Inner(_) => 0,
        }
    }

    /// Returns the programs of a control plane or cluster.
    ///
    /// # Panics
    /// For a sandbox, which has none.
    fn programs(&self) -> &Programs {
        match &self.server {
            Server::Programs(programs) => programs,
            Server::Sandbox(_) | Server::Inner(_) => panic!("{NO_CLUSTER}"),
        }
    }
}
