//! What a cluster has beside the control plane: a scheduler, nodes, and a class of storage.

use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use opgen_sandbox::fate::NODE;
use serde_json::json;

use super::{Plane, Programs, Server};
use crate::wait;

const NO_CLUSTER: &str = "only a cluster has it: `case_on_cluster`";

/// The default class, as clusters have one. Its volumes are made by kwok.
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
    /// Gives the new cluster its scheduler, its class of storage and its first node.
    pub(super) async fn furnish(&self) {
        let (programs, premises) = (self.programs(), self.premises());
        programs.start_scheduler(&premises.folder, &premises.authority);
        self.apply(STORAGE_CLASS).await;
        if self.options.kubelet {
            self.start_node(NODE).await;
        }
    }

    /// Has a node run, a new one or one that was stopped, and waits until it is ready.
    ///
    /// # Panics
    /// If the plane is no cluster.
    pub async fn start_node(&self, name: &str) {
        let nodes = Api::<Node>::all(self.client());
        let room = json!({"cpu": "64", "memory": "256Gi", "pods": "10000"});
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
        });
        let node: Node = serde_json::from_value(node).expect("a node");
        match nodes.create(&PostParams::default(), &node).await {
            Err(kube::Error::Api(refusal)) if refusal.code == 409 => {}
            made => drop(made.unwrap_or_else(|error| panic!("the node {name} can't be made: {error}"))),
        }
        let status = Patch::Merge(json!({"status": {"capacity": room, "allocatable": room}}));
        let patched = nodes.patch_status(name, &PatchParams::default(), &status).await;
        patched.unwrap_or_else(|error| panic!("the node {name} gets no status: {error}"));
        let premises = self.premises();
        self.programs().start_node(&premises.folder, &premises.authority, name, name == NODE);
        wait::until_object(&nodes, name, "is ready and takes Pods", |node| {
            let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
            let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
            conditions.iter().any(|held| held.type_ == "Ready" && held.status == "True") && taints.is_empty()
        })
        .await;
    }

    /// Takes the machine of a node away at once: nobody says anything of it or of its Pods any more.
    ///
    /// # Panics
    /// If the plane is no cluster, or the node does not run.
    pub fn stop_node(&self, name: &str) {
        self.programs().stop_node(name);
    }

    /// Deletes a node whose machine is away, as an administrator would.
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

    /// The memory that the programs of this plane hold now, in KiB; of a sandbox nothing.
    pub fn resident_kib(&self) -> u64 {
        match &self.server {
            Server::Programs(programs) => programs.resident_kib(),
            Server::House(_) | Server::Inner(_) => 0,
        }
    }

    fn programs(&self) -> &Programs {
        match &self.server {
            Server::Programs(programs) => programs,
            Server::House(_) | Server::Inner(_) => panic!("{NO_CLUSTER}"),
        }
    }
}
