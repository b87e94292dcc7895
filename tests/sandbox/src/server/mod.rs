//! The sandbox on a socket: HTTPS, with a kubeconfig that leads there.

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

mod certificate;
mod connection;
mod kubeconfig;
mod request;

/// How a sandbox is served.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Where it listens; a free port of the loopback by default.
    pub address: SocketAddr,
    /// The folder that gets a file `kubeconfig`; without one it is only text.
    pub folder: Option<PathBuf>,
    /// The bearer token of the administrator; one by chance if it is not given.
    pub token: Option<String>,
    /// The server's certificate and its key, both as PEM; made anew if they are not given.
    pub certificate: Option<(String, String)>,
}

impl ServeOptions {
    /// Where it listens. Default: a free port of the loopback.
    #[must_use]
    pub fn address(self, address: SocketAddr) -> Self {
        Self { address, ..self }
    }

    /// The folder that gets a file `kubeconfig`. Default: none, and the kubeconfig is only text.
    #[must_use]
    pub fn folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// The bearer token of the administrator. Default: one by chance.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    /// The server's certificate and its key, both as PEM. Default: made anew.
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

/// A sandbox that listens, for as long as this is kept.
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

/// What a connection works with.
#[derive(Debug)]
struct Front {
    sandbox: Sandbox,
    /// The token of the kubeconfig and whose it is.
    administrator: (String, User),
}

impl Sandbox {
    /// Listens with HTTPS and answers until the [`Serving`] is dropped. It can be asked at once. Every namespace has its
    /// certificate in the ConfigMap `kube-root-ca.crt`, beside those of whatever listened before; without any it is empty.
    ///
    /// # Errors
    /// If the address is taken, the kubeconfig can't be written, or there is no certificate to be had.
    pub async fn serve(&self, options: ServeOptions) -> io::Result<Serving> {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let made = match &options.certificate {
            Some((certificate, key)) => certificate::given(certificate, key)?,
            None => certificate::make(address.ip())?,
        };
        let certificate::Certificates { authority, tls } = made;
        let token = options.token.map_or_else(random_token, Ok)?;
        let kubeconfig = kubeconfig::text(address, &authority, &token);
        let path = options.folder.map(|folder| folder.join("kubeconfig"));
        if let Some(path) = &path {
            kubeconfig::write(path, &kubeconfig)?;
        }
        accounts::certify(&self.server, &authority);
        let front = Front { sandbox: self.clone(), administrator: (token.clone(), User::admin("kubernetes-admin")) };
        let (stop, stopped) = watch::channel(false);
        let accepting = connection::accept(listener, TlsAcceptor::from(tls), Arc::new(front), stopped);
        let task = tokio::spawn(accepting);
        Ok(Serving { address, certificate: authority, token, kubeconfig, path, stop, task })
    }
}

impl Serving {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `https://127.0.0.1:PORT`
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The certificate of the authority that signed the server's, as PEM; the server's own, if that was given.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// The administrator's bearer token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The text of a kubeconfig with all rights.
    #[must_use]
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// The kubeconfig's file, if a folder was named.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Takes no more connections, ends the watches, and waits for the requests that are being answered.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // A task that was cancelled has ended, too.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
