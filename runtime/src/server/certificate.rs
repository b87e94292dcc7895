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
    /// Creates a certificate for these DNS names and the loopback addresses, with a new key.
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

    /// Loads a certificate from files.
    ///
    /// # Errors
    /// Fails if a file can't be read, or the two don't belong together.
    pub(crate) fn load(server: &'static str, files: CertificateFiles) -> io::Result<Self> {
        let pem = files.read()?;
        let loaded = Mutex::new(LoadedCertificate::new(tls_config(&pem.0, &pem.1)?, pem));
        Ok(Self { server, files: Some(files), loaded })
    }

    /// Returns the current certificate. If the files have changed, it is the new one; if that can't be used, the old one stays.
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
    /// Reads the chain and the key. Errors name the file.
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

    /// Reads the files again. If they can't be read or used, logs that and keeps the old certificate.
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
        // The content is remembered even if it can't be used, so that it is not parsed and reported again.
        self.pem = pem;
    }
}

/// Returns the settings of TLS for a chain and its key, in PEM.
///
/// # Errors
/// Fails if one of them can't be parsed, or the two don't belong together.
pub(crate) fn tls_config(chain: &[u8], key: &[u8]) -> io::Result<Arc<ServerConfig>> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let key = PrivateKeyDer::from_pem_slice(key).map_err(io::Error::other)?;
    server_config(chain.map_err(io::Error::other)?, key)
}

/// Returns the settings of TLS: HTTP/1.1 only, without client certificates. Fails if the key doesn't fit the chain.
fn server_config(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> io::Result<Arc<ServerConfig>> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(io::Error::other)?;
    // Scrapers and API servers need no HTTP/2, which has had attacks on its streams.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Writes a new certificate with its key to the files.
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
        let first = certificate.current();
        write(&files);
        assert!(Arc::ptr_eq(&first, &certificate.current()), "it is too early to read the files");
        tokio::time::advance(RELOAD_INTERVAL).await;
        let second = certificate.current();
        assert!(!Arc::ptr_eq(&first, &second));
        fs::write(&files.key, "torn").unwrap();
        tokio::time::advance(RELOAD_INTERVAL).await;
        assert!(Arc::ptr_eq(&second, &certificate.current()));
        write(&files);
        tokio::time::advance(RELOAD_INTERVAL).await;
        assert!(!Arc::ptr_eq(&second, &certificate.current()));
    }
}
