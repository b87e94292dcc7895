//! The cluster that the operator is tried in.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use opgen_sandbox::{Sandbox, Serving};
use serde_json::json;
use tempfile::TempDir;

use super::{account, api::Api, document::Document, install, lifeline::Lifeline, recording::Recording, relay::Relay};
use crate::{
    error::{Explain as _, Result},
    serving,
    ui::Ui,
};

/// The namespace of what names none, in a sandbox.
const NAMESPACE: &str = "default";

/// A sandbox that goes with this process, or the cluster of the user's kubeconfig.
#[derive(Debug)]
pub(super) struct Place {
    /// `None` for a cluster that is yet to be connected to.
    api: Option<Api>,
    serving: Option<Serving>,
    /// What was applied and stays.
    left: BTreeSet<String>,
    folder: TempDir,
}

impl Place {
    /// A sandbox on a port (0 is any that is free), with a folder of its own in the target folder. What is asked there is
    /// recorded if that is wanted.
    pub(super) async fn sandbox(port: u16, target: &Path, recording: Option<Recording>) -> Result<Self> {
        let folder = folder(target)?;
        let mut builder = Sandbox::builder().workloads(true);
        if let Some(recording) = recording {
            let too = recording.clone();
            builder = builder.audit(move |record| recording.hear(record));
            builder = builder.events(move |watch, event| too.overhear(watch, event));
        }
        let sandbox = builder.start();
        let serving = serving::serve(&sandbox, port, folder.path().to_owned()).await?;
        Ok(Self { api: Some(Api::Sandbox(sandbox)), serving: Some(serving), left: BTreeSet::new(), folder })
    }

    /// The cluster that the environment says.
    pub(super) fn cluster(target: &Path) -> Result<Self> {
        Ok(Self { api: None, serving: None, left: BTreeSet::new(), folder: folder(target)? })
    }

    /// Where things are put that go at the end.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// With all rights; `None` is the one of the environment.
    pub(super) fn kubeconfig(&self) -> Option<&Path> {
        self.serving.as_ref().and_then(Serving::path)
    }

    /// Says how others get there.
    pub(super) fn announce(&self, ui: Ui) {
        if let (Some(serving), Some(kubeconfig)) = (&self.serving, self.kubeconfig()) {
            serving::announce(kubeconfig, &serving.url(), ui);
        }
    }

    /// Reaches the cluster by what was built, if that is yet to be done, and says which one it is.
    pub(super) async fn connect(&mut self, program: &Path, lifeline: &Lifeline, ui: Ui) -> Result<()> {
        if self.api.is_none() {
            let relay = Relay::start(program, lifeline).await?;
            ui.status("Using", &format!("{}, with your rights", relay.target.url));
            ui.json(&json!({"url": relay.target.url}));
            self.api = Some(Api::Cluster(Box::new(relay)));
        }
        Ok(())
    }

    /// Makes ready for an operator, and gives the kubeconfig it is to have. In a sandbox that is its ServiceAccount's; in a
    /// cluster it has the user's rights, and needs no more than its kinds.
    pub(super) async fn prepare(&mut self, manifests: &[Document]) -> Result<Option<PathBuf>> {
        let Some(serving) = &self.serving else {
            let kinds = manifests.iter().filter(|document| document.kind() == "CustomResourceDefinition");
            let kinds: Vec<_> = kinds.cloned().collect();
            return self.apply(&kinds).await.map(|()| None);
        };
        let Some(api) = &self.api else { return Ok(None) };
        install::apply(api, manifests, NAMESPACE).await?;
        account::kubeconfig(api, manifests, serving.kubeconfig(), self.folder.path()).await.map(Some)
    }

    pub(super) async fn apply(&mut self, documents: &[Document]) -> Result<()> {
        match &self.api {
            None => Ok(()),
            Some(api @ Api::Sandbox(_)) => install::apply(api, documents, NAMESPACE).await,
            Some(api @ Api::Cluster(relay)) => {
                self.left.extend(documents.iter().map(Document::title));
                install::apply(api, documents, &relay.target.namespace).await
            }
        }
    }

    /// Ends what goes with this process, and says what doesn't.
    pub(super) async fn stop(&mut self, ui: Ui) {
        if let Some(serving) = self.serving.take() {
            serving.stop().await;
        }
        if let Some(Api::Cluster(relay)) = &self.api
            && !self.left.is_empty()
        {
            let left: Vec<_> = self.left.iter().map(String::as_str).collect();
            ui.status("Left", &format!("in {}: {}", relay.target.url, left.join(", ")));
        }
    }
}

fn folder(target: &Path) -> Result<TempDir> {
    let above = target.join("opgen");
    let made = fs_err::create_dir_all(&above);
    let folder = made.and_then(|()| tempfile::Builder::new().prefix("dev-").tempdir_in(&above));
    folder.or_failed(|| "there is no place for the kubeconfig".to_owned())
}
