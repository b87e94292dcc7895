//! Simulates failures of the API server of a test: outages, and compactions of the history that watches resume from.

use std::time::Duration;

use super::{Plane, Server};
use crate::wait;

const NO_PORT: &str = "a sandbox without a port has no outage: `case_on` with `Options::served`";

/// The maximum duration of the start of a server on a busy machine.
const START: Duration = Duration::from_secs(120);

impl Plane {
    /// Stops the API server at once, as in an outage. Its port stays reserved, and its data remains.
    pub fn stop_apiserver(&self) {
        match &self.server {
            Server::Programs(programs) => programs.stop_apiserver(),
            Server::Sandbox(sandbox) => sandbox.cut(),
            Server::Inner(_) => panic!("{NO_PORT}"),
        }
    }

    /// Starts the API server, for the first time or again after an outage, and waits until `/readyz` succeeds.
    pub async fn start_apiserver(&self) {
        match &self.server {
            Server::Programs(programs) => {
                let files = self.files();
                programs.start_apiserver(&files.folder, &files.authority, &self.options);
            }
            Server::Sandbox(sandbox) => sandbox.serve(),
            Server::Inner(_) => panic!("{NO_PORT}"),
        }
        let client = self.client();
        wait::until("the API server is ready", START, async || {
            self.check_servers();
            let request = http::Request::get("/readyz").body(Vec::new()).expect("a request");
            client.request_text(request).await.map(drop).map_err(|error| error.to_string())
        })
        .await;
    }

    /// Drops the history of the objects up to now, as a compaction of etcd does, so that a watch can't resume from an earlier
    /// resourceVersion. The watch cache of kube-apiserver hides the effect until a restart; see [`Self::expire_watches`].
    pub async fn compact(&self) {
        match &self.server {
            Server::Programs(programs) => programs.compact().await,
            Server::Sandbox(sandbox) => sandbox.compact(),
            Server::Inner(inner) => inner.sandbox.compact(),
        }
    }

    /// Makes every resourceVersion up to now too old for a watch (410), by an outage with a compaction.
    pub async fn expire_watches(&self) {
        self.stop_apiserver();
        self.compact().await;
        self.start_apiserver().await;
    }
}
