//! What goes wrong with a control plane: it is away, and it forgets.

use std::time::Duration;

use super::{Plane, Server};
use crate::wait;

const NO_PORT: &str = "a sandbox without a port has no outage: `case_on` with `Options::served`";

/// How long the start of a server may take on a machine that does much else.
const START: Duration = Duration::from_secs(120);

impl Plane {
    /// Stops the API server at once, as an outage does. Its port and the data stay.
    pub fn stop_apiserver(&self) {
        match &self.server {
            Server::Programs(programs) => programs.stop_apiserver(),
            Server::House(house) => house.cut(),
            Server::Inner(_) => panic!("{NO_PORT}"),
        }
    }

    /// Starts the API server again and waits until it is ready.
    pub async fn start_apiserver(&self) {
        match &self.server {
            Server::Programs(programs) => {
                let premises = self.premises();
                programs.start_apiserver(&premises.folder, &premises.authority, &self.options);
            }
            Server::House(house) => house.serve(),
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

    /// Drops the history up to now. The watch cache of kube-apiserver hides it until [`Self::expire_watches`].
    pub async fn compact(&self) {
        match &self.server {
            Server::Programs(programs) => programs.compact().await,
            Server::House(house) => house.compact(),
            Server::Inner(inner) => inner.sandbox.compact(),
        }
    }

    /// Makes every resourceVersion up to now too old to watch from (410): an outage with a compaction in it.
    pub async fn expire_watches(&self) {
        self.stop_apiserver();
        self.compact().await;
        self.start_apiserver().await;
    }
}
