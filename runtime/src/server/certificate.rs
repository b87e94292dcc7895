//! `Certificate`: the certificate of a server, from files that it reloads, or self-signed.

use parking_lot::Mutex;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, SanType};
use rustls::{
    ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject as _},
};
use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// How long a read certificate is used before the files are read again, as in controller-runtime.
const RELOAD_INTERVAL: Duration = Duration::from_secs(10);

/// The files of a certificate in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CertificateFiles {
    pub(crate) chain: PathBuf,
    pub(crate) key: PathBuf,
}

/// A certificate with its key, ready for connections.
#[derive(Debug)]
pub(crate) struct Certificate {
    /// The name of the server that has the certificate, for messages.
    server: &'static str,
    files: Option<CertificateFiles>,
    loaded: Mutex<LoadedCertificate>,
}

/// The settings of TLS, with the files from which they were read.
#[derive(Debug)]
struct LoadedCertificate {
    config: Arc<ServerConfig>,
    /// The content of the files, or of the last ones that could not be used.
    pem: (Vec<u8>, Vec<u8>),
    checked_at: Instant,
}

impl Certificate {
    /// Creates a self-signed certificate for these DNS names and the loopback addresses, with a new key. `server` is its common name, and
    /// names the server in messages.
    ///
    /// # Errors
    /// Fails if a name is not a DNS name, or if the random number generator of the system fails.
    pub(crate) fn self_signed(server: &'static str, names: Vec<String>) -> io::Result<Self> {
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        let addresses = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        params.subject_alt_names.extend(addresses.map(SanType::IpAddress));
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.distinguished_name.push(DnType::CommonName, server);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = server_config(vec![certificate.der().clone()], key)?;
        let no_files = (Vec::new(), Vec::new());
        Ok(Self { server, files: None, loaded: Mutex::new(LoadedCertificate::new(config, no_files)) })
    }

    /// Loads a certificate from the files of its chain and its key.
    ///
    /// # Errors
    /// Fails if a file can't be read, or if the key doesn't belong to the certificate.
    pub(crate) fn load(server: &'static str, files: CertificateFiles) -> io::Result<Self> {
        let pem = files.read()?;
        let loaded = Mutex::new(LoadedCertificate::new(tls_config(&pem.0, &pem.1)?, pem));
        Ok(Self { server, files: Some(files), loaded })
    }

    /// Returns the TLS settings with the current certificate. At most once per [`RELOAD_INTERVAL`], reads the files and, if they have
    /// changed, uses the new certificate; keeps the old certificate if the new one can't be used.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        let mut loaded = self.loaded.lock();
        if let Some(files) = &self.files
            && loaded.checked_at.elapsed() >= RELOAD_INTERVAL
        {
            loaded.checked_at = Instant::now();
            loaded.reload(self.server, files);
        }
        loaded.config.clone()
    }
}

impl CertificateFiles {
    /// Returns the contents of the files of the chain and the key. An error names the file that can't be read.
    fn read(&self) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let read = |path: &PathBuf| {
            fs::read(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
        };
        Ok((read(&self.chain)?, read(&self.key)?))
    }
}

impl LoadedCertificate {
    fn new(config: Arc<ServerConfig>, pem: (Vec<u8>, Vec<u8>)) -> Self {
        Self { config, pem, checked_at: Instant::now() }
    }

    /// Reads the files again, and replaces the certificate if their content has changed. If the files can't be read or used, logs a warning
    /// and keeps the old certificate.
    fn reload(&mut self, server: &'static str, files: &CertificateFiles) {
        let pem = match files.read() {
            Ok(pem) if pem == self.pem => return,
            Ok(pem) => pem,
            Err(error) => {
                return tracing::warn!(server, %error, "failed to read the certificate of a server; using the old one");
            }
        };
        match tls_config(&pem.0, &pem.1) {
            Ok(config) => {
                self.config = config;
                tracing::info!(server, "the certificate of a server was renewed");
            }
            Err(error) => {
                tracing::warn!(server, %error, "failed to use the new certificate of a server; using the old one");
            }
        }
        // The content is stored even if it can't be used, so that it is not parsed and reported again.
        self.pem = pem;
    }
}

/// Returns the TLS settings of a server for a certificate chain and its key, in PEM.
///
/// # Errors
/// Fails if the chain or the key can't be parsed, or if the key doesn't belong to the certificate.
pub(crate) fn tls_config(chain: &[u8], key: &[u8]) -> io::Result<Arc<ServerConfig>> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let key = PrivateKeyDer::from_pem_slice(key).map_err(io::Error::other)?;
    server_config(chain.map_err(io::Error::other)?, key)
}

/// Returns the TLS settings of a server: HTTP/1.1 only, without client certificates. Fails if the key doesn't belong to the certificate.
fn server_config(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> io::Result<Arc<ServerConfig>> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(io::Error::other)?;
    // The clients (metrics scrapers and API servers) need no HTTP/2, whose streams have been used for denial-of-service attacks.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Writes a new self-signed certificate and its key to the files.
    fn write(files: &CertificateFiles) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
        fs::write(&files.chain, certificate.pem()).unwrap();
        fs::write(&files.key, key.serialize_pem()).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn changed_files_are_loaded_and_a_broken_file_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let files = CertificateFiles { chain: folder.path().join("tls.crt"), key: folder.path().join("tls.key") };
        assert!(
            Certificate::load("metrics", files.clone()).unwrap_err().to_string().contains("tls.crt"),
            "the error names the file"
        );
        write(&files);
        let certificate = Certificate::load("metrics", files.clone()).unwrap();
        let initial = certificate.current();
        write(&files);
        assert!(Arc::ptr_eq(&initial, &certificate.current()), "it is too early to read the files");
        tokio::time::advance(RELOAD_INTERVAL).await;
        let renewed = certificate.current();
        assert!(!Arc::ptr_eq(&initial, &renewed));
        fs::write(&files.key, "torn").unwrap();
        tokio::time::advance(RELOAD_INTERVAL).await;
        assert!(Arc::ptr_eq(&renewed, &certificate.current()));
        write(&files);
        tokio::time::advance(RELOAD_INTERVAL).await;
        assert!(!Arc::ptr_eq(&renewed, &certificate.current()));
    }
}
