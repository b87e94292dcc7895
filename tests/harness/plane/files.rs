//! `PlaneFiles`: the port, data folder, credentials and audit log of an API server under test that listens on a TCP port.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{
    Access, Entries,
    audit::Log,
    binaries::planes_folder,
    credentials::{AUDITOR, Authority},
    folder::Folder,
    port::Port,
    server, wait,
};

/// The files of an API server that listens on a port.
#[derive(Debug)]
pub(super) struct PlaneFiles {
    auditor: Access,
    pub(super) authority: Authority,
    log: Log,
    pub(super) port: Port,
    markers: AtomicU32,
    pub(super) folder: Folder,
}

impl PlaneFiles {
    /// Creates the folder, reserves the port, and writes the certificates and tokens for a server on that port.
    pub(super) fn new() -> Self {
        let folder = Folder::new(&planes_folder());
        let port = Port::reserve();
        let authority = Authority::new(folder.path(), port.number);
        let log = Log::new(&server::audit_log(folder.path()));
        Self { auditor: authority.user(AUDITOR), authority, log, port, markers: AtomicU32::new(0), folder }
    }

    /// Returns the audit log entries of all requests that were answered before this call. It sends a request of the marker user for a
    /// unique name, and repeats it until the log file has it: the server has then written the entries of all earlier requests.
    pub(super) async fn audit(&self) -> Entries {
        let marker = format!("marker-{}", self.markers.fetch_add(1, Ordering::Relaxed));
        let namespaces = kube::Api::<k8s_openapi::api::core::v1::Namespace>::all(self.auditor.client());
        wait::until("the audit log has everything", wait::PATIENCE, async || {
            namespaces.get_opt(&marker).await.map_err(|error| error.to_string())?;
            self.log.has_marker(&marker).then_some(()).ok_or_else(|| format!("no {marker} in the log"))
        })
        .await;
        self.log.entries()
    }
}
