//! Serves the sandbox on a socket: HTTPS, with a kubeconfig.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};

use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_rustls::TlsAcceptor;

use crate::{Sandbox, User, controller::accounts};
use backend::Backend;

mod backend;
mod certificate;
mod connection;
mod kubeconfig;
mod request;

/// Options of [`Sandbox::serve`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The address to listen on; a free port of the loopback by default.
    pub address: SocketAddr,
    /// The directory for the file `kubeconfig`; `None` writes no file.
    pub folder: Option<PathBuf>,
    /// The bearer token of the administrator; random if `None`.
    pub token: Option<String>,
    /// The certificate of the server and its key, both as PEM; created if `None`.
    pub certificate: Option<(String, String)>,
}

impl ServeOptions {
    /// Sets the address to listen on. Default: a free port of the loopback.
    #[must_use]
    pub fn address(self, address: SocketAddr) -> Self {
        Self { address, ..self }
    }

    /// Sets the directory for the file `kubeconfig`. Default: no file.
    #[must_use]
    pub fn folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// Sets the bearer token of the administrator. Default: random.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    /// Sets the certificate of the server and its key, both as PEM. Default: created.
    #[must_use]
    pub fn certificate(self, certificate: String, key: String) -> Self {
        Self { certificate: Some((certificate, key)), ..self }
    }
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self { address: (Ipv4Addr::LOCALHOST, 0).into(), folder: None, token: None, certificate: None }
    }
}

/// A listening sandbox; dropping this ends it.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    certificate: String,
    token: String,
    kubeconfig: String,
    path: Option<PathBuf>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Sandbox {
    /// Listens with HTTPS until the [`Serving`] is dropped. Accepts connections as soon as it returns. Adds the
    /// certificate authority of this listener to the ConfigMap `kube-root-ca.crt` of every namespace.
    ///
    /// # Errors
    /// If the address is in use, the kubeconfig cannot be written, or no certificate can be created.
    pub async fn serve(&self, options: ServeOptions) -> io::Result<Serving> {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let certificates = match &options.certificate {
            Some((certificate, key)) => certificate::load(certificate, key)?,
            None => certificate::create(address.ip())?,
        };
        let certificate::Certificates { authority, tls } = certificates;
        let token = options.token.map_or_else(random_token, Ok)?;
        let kubeconfig = kubeconfig::format(address, &authority, &token);
        let path = options.folder.map(|folder| folder.join("kubeconfig"));
        if let Some(path) = &path {
            kubeconfig::write(path, &kubeconfig)?;
        }
        accounts::publish_authority(&self.server, &authority);
        let backend =
            Backend { sandbox: self.clone(), administrator: (token.clone(), User::admin("kubernetes-admin")) };
        let (stop, stopped) = watch::channel(false);
        let accepting = connection::accept(listener, TlsAcceptor::from(tls), Arc::new(backend), stopped);
        let task = tokio::spawn(accepting);
        Ok(Serving { address, certificate: authority, token, kubeconfig, path, stop, task })
    }
}

impl Serving {
    /// Returns the address on which the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the server: `https://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Returns the certificate of the certificate authority, as PEM; the server certificate itself if it was set in the
    /// options.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Returns the bearer token of the administrator.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns the text of a kubeconfig with all rights.
    #[must_use]
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// Returns the path of the kubeconfig, if the options name a directory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Stops accepting connections, ends the watches, and waits for open requests.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // An error means that the task was cancelled or has panicked, so it has ended, too.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

/// Returns a token of 16 random bytes in hexadecimal digits. Returns an error if the system provides no randomness.
fn random_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
