//! What goes wrong with a control plane: it is away, and it forgets.

use std::time::Duration;

use kube::{Client, Config};

use super::Plane;
use crate::{Process, server, wait};

/// How long the start of a server may take on a machine that does much else.
const START: Duration = Duration::from_secs(120);

impl Plane {
    /// Stops the API server at once, as an outage does. Its port and the data stay.
    pub fn stop_apiserver(&self) {
        self.servers().apiserver = None;
    }

    /// Starts the API server again and waits until it is ready.
    pub async fn start_apiserver(&self) {
        let path = self.folder.path();
        let flags = &self.options.apiserver_flags;
        let command = server::apiserver(&self.binaries, path, self.ports, &self.authority, flags);
        self.servers().apiserver = Some(Process::spawn("kube-apiserver", command, &path.join("kube-apiserver.log")));
        let client = self.client();
        wait::until("kube-apiserver is ready", START, async || {
            self.check_servers();
            let request = http::Request::get("/readyz").body(Vec::new()).expect("a request");
            client.request_text(request).await.map(drop).map_err(|error| error.to_string())
        })
        .await;
    }

    /// Drops the history of etcd up to now. The API server's watch cache hides it until [`Self::expire_watches`].
    pub async fn compact(&self) {
        let client = Client::try_from(Config::new(server::loopback(self.ports.etcd).parse().expect("etcd's URL")));
        let client = client.expect("a client for etcd");
        // A range over the smallest key: what counts is the header.
        let head: serde_json::Value = etcd_call(&client, "range", r#"{"key":"AA=="}"#).await;
        let revision = head["header"]["revision"].as_str().expect("etcd's revision").to_owned();
        let body = format!(r#"{{"revision":"{revision}","physical":true}}"#);
        let _: serde_json::Value = etcd_call(&client, "compaction", &body).await;
    }

    /// Makes every resourceVersion up to now too old to watch from (410): an outage with a compaction in it.
    pub async fn expire_watches(&self) {
        self.stop_apiserver();
        self.compact().await;
        self.start_apiserver().await;
    }
}

/// A call to etcd's JSON gateway.
async fn etcd_call(client: &Client, call: &str, body: &str) -> serde_json::Value {
    let request = http::Request::post(format!("/v3/kv/{call}")).body(body.as_bytes().to_vec()).expect("a request");
    client.request(request).await.unwrap_or_else(|error| panic!("etcd's {call} failed: {error}"))
}
