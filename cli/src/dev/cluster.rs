//! Provides the API server for `opgen dev`: a sandbox, or the cluster of the user's kubeconfig.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use opgen_sandbox::{Sandbox, Serving};
use serde_json::json;
use tempfile::TempDir;

use super::{
    client::Client, document::Document, install, process_group::ProcessGroup, recording::Recording, relay::Relay,
    service_account,
};
use crate::{
    error::{Result, ResultExt as _},
    sandbox_server,
    ui::Ui,
};

/// The namespace in a sandbox for namespaced objects whose manifest has no namespace.
const NAMESPACE: &str = "default";

/// A sandbox that ends with this process, or the cluster of the user's kubeconfig.
#[derive(Debug)]
pub(super) struct DevCluster {
    /// `None` for a cluster before `connect`.
    client: Option<Client>,
    serving: Option<Serving>,
    /// The objects that were applied and remain in the cluster.
    applied: BTreeSet<String>,
    folder: TempDir,
}

impl DevCluster {
    /// Starts a sandbox on a port (0 is any free port), with a folder of its own in the target folder. `recording` records its
    /// requests and watch events.
    pub(super) async fn sandbox(port: u16, target: &Path, recording: Option<Recording>) -> Result<Self> {
        let folder = create_folder(target)?;
        let mut builder = Sandbox::builder().workloads(true);
        if let Some(recording) = recording {
            let event_recording = recording.clone();
            builder = builder.audit(move |record| recording.record_call(record));
            builder = builder.events(move |watch, event| event_recording.record_event(watch, event));
        }
        let sandbox = builder.start();
        let serving = sandbox_server::serve(&sandbox, port, folder.path().to_owned()).await?;
        Ok(Self { client: Some(Client::Sandbox(sandbox)), serving: Some(serving), applied: BTreeSet::new(), folder })
    }

    /// Uses the cluster of the environment's kubeconfig. `connect` connects to it.
    pub(super) fn cluster(target: &Path) -> Result<Self> {
        Ok(Self { client: None, serving: None, applied: BTreeSet::new(), folder: create_folder(target)? })
    }

    /// Returns the folder for temporary files.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the administrator's kubeconfig of the sandbox; `None` if the kubeconfig of the environment applies.
    pub(super) fn kubeconfig(&self) -> Option<&Path> {
        self.serving.as_ref().and_then(Serving::path)
    }

    /// Prints the path of the kubeconfig.
    pub(super) fn print_kubeconfig(&self, ui: Ui) {
        if let (Some(serving), Some(kubeconfig)) = (&self.serving, self.kubeconfig()) {
            sandbox_server::print_kubeconfig(kubeconfig, &serving.url(), ui);
        }
    }

    /// Connects to the cluster through the operator's binary, unless connected, and prints the URL.
    pub(super) async fn connect(&mut self, program: &Path, process_group: &ProcessGroup, ui: Ui) -> Result<()> {
        if self.client.is_none() {
            let relay = Relay::start(program, process_group).await?;
            ui.status("Using", &format!("{}, with your rights", relay.target.url));
            ui.json(&json!({"url": relay.target.url}));
            self.client = Some(Client::Cluster(Box::new(relay)));
        }
        Ok(())
    }

    /// Applies what the operator needs before it runs, and returns the kubeconfig for it. In a sandbox, applies all `manifests` and writes
    /// a kubeconfig with a token of the operator's ServiceAccount. In a cluster, applies only the CRDs and returns `None`: the operator
    /// runs with the user's kubeconfig and rights.
    pub(super) async fn prepare(&mut self, manifests: &[Document]) -> Result<Option<PathBuf>> {
        let Some(serving) = &self.serving else {
            let kinds = manifests.iter().filter(|document| document.kind() == "CustomResourceDefinition");
            let kinds: Vec<_> = kinds.cloned().collect();
            return self.apply(&kinds).await.map(|()| None);
        };
        // A sandbox always has a client.
        let Some(client) = &self.client else { return Ok(None) };
        install::apply(client, manifests, NAMESPACE).await?;
        service_account::write_kubeconfig(client, manifests, serving.kubeconfig(), self.folder.path()).await.map(Some)
    }

    /// Applies objects. Does nothing before `connect`. Objects in a cluster outlive `opgen dev`, so their titles are stored for `stop`.
    pub(super) async fn apply(&mut self, documents: &[Document]) -> Result<()> {
        match &self.client {
            None => Ok(()),
            Some(client @ Client::Sandbox(_)) => install::apply(client, documents, NAMESPACE).await,
            Some(client @ Client::Cluster(relay)) => {
                self.applied.extend(documents.iter().map(Document::title));
                install::apply(client, documents, &relay.target.namespace).await
            }
        }
    }

    /// Stops the sandbox, or lists the objects that remain in the cluster.
    pub(super) async fn stop(&mut self, ui: Ui) {
        if let Some(serving) = self.serving.take() {
            serving.stop().await;
        }
        if let Some(Client::Cluster(relay)) = &self.client
            && !self.applied.is_empty()
        {
            let titles: Vec<_> = self.applied.iter().map(String::as_str).collect();
            ui.status("Left", &format!("in {}: {}", relay.target.url, titles.join(", ")));
        }
    }
}

/// Creates a temporary folder in the target folder of the project.
fn create_folder(target: &Path) -> Result<TempDir> {
    let parent = target.join("opgen");
    let created = fs_err::create_dir_all(&parent);
    let folder = created.and_then(|()| tempfile::Builder::new().prefix("dev-").tempdir_in(&parent));
    folder.or_failed(|| "failed to create a folder for the kubeconfig".to_owned())
}
