//! `NatsCluster`: a cluster of three NATS servers, each of which can be stopped and started again.

use std::{sync::Arc, time::Duration};

use super::server::NatsServer;
use crate::{Port, binaries::planes_folder, folder::Folder, wait};

/// Three servers with routes between each other. Any two of them are a majority.
#[derive(Debug)]
pub struct NatsCluster {
    servers: Vec<NatsServer>,
    /// The ports of the routes stay reserved while a server is stopped.
    _routes: Vec<Port>,
}

impl NatsCluster {
    /// Starts three servers with connections (routes) between all of them, and waits until they agree on a leader.
    ///
    /// # Panics
    /// If there is no nats-server, or if the servers are not ready in time.
    pub async fn start() -> Self {
        let folder = Arc::new(Folder::new(&planes_folder()));
        let routes: Vec<_> = (0..3).map(|_| Port::reserve()).collect();
        let urls: Vec<_> = routes.iter().map(|port| format!("nats://{}", port.address())).collect();
        let servers = routes.iter().enumerate().map(|(index, port)| {
            // Servers tell clients the addresses of all servers, which would lead clients around a proxy.
            let more = format!(
                "cluster {{ name: test, no_advertise: true, listen: \"{}\", routes: {urls:?} }}",
                port.address()
            );
            let mut server = NatsServer::prepare(&format!("n{index}"), Arc::clone(&folder), &more);
            server.start_again();
            server
        });
        let cluster = Self { servers: servers.collect(), _routes: routes };
        cluster.until_healthy().await;
        cluster
    }

    /// Returns the URLs of all servers.
    pub fn urls(&self) -> Vec<String> {
        self.servers.iter().map(NatsServer::url).collect()
    }

    /// Returns the server of a name.
    ///
    /// # Panics
    /// If there is none.
    pub fn server(&mut self, name: &str) -> &mut NatsServer {
        self.servers.iter_mut().find(|server| server.name() == name).unwrap_or_else(|| panic!("no server {name}"))
    }

    /// Waits until each server is ready, and knows three servers and a leader of JetStream.
    pub async fn until_healthy(&self) {
        for server in &self.servers {
            server.until_healthy().await;
            wait::until(format!("{} knows the leader", server.name()), Duration::from_secs(60), async || {
                let page = server.monitoring("/jsz").await?;
                let json: serde_json::Value = serde_json::from_str(&page).map_err(|error| error.to_string())?;
                let meta = &json["meta_cluster"];
                let is_led = meta["leader"].as_str().is_some_and(|leader| !leader.is_empty());
                if is_led && meta["cluster_size"] == 3 { Ok(()) } else { Err(meta.to_string()) }
            })
            .await;
        }
    }
}
