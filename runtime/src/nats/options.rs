//! `NatsOptions`: the servers, the credentials and the TLS settings of a connection to NATS.

use super::{
    authentication::Authentication, connection_event::ConnectionEvents, error::NatsError,
    single_connection::SingleConnection,
};
use crate::crypto_provider;
use async_nats::ConnectOptions;
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer,
    pem::{Error as PemError, PemObject as _},
};
use secrecy::SecretString;
use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

/// The subject prefix of JetStream without a domain.
const API_PREFIX: &str = "$JS.API";

/// The options of a [`NatsConnection`](super::NatsConnection).
///
/// Files with credentials and certificates are read again for each connection, so credentials can be rotated in place.
#[derive(Clone)]
pub struct NatsOptions {
    servers: Vec<String>,
    authentication: Authentication,
    ca: Option<PathBuf>,
    client_certificate: Option<(PathBuf, PathBuf)>,
    tls_first: bool,
    api_prefix: String,
    inbox_prefix: String,
    name: String,
    request_timeout: Duration,
}

impl NatsOptions {
    /// Returns options for the servers at these URLs, for example `nats://nats.messaging:4222` or `tls://nats.example.com`. They must
    /// belong to one cluster. Without credentials the client connects as the anonymous user.
    pub fn new<S: Into<String>>(servers: impl IntoIterator<Item = S>) -> Self {
        Self {
            servers: servers.into_iter().map(Into::into).collect(),
            authentication: Authentication::Anonymous,
            ca: None,
            client_certificate: None,
            tls_first: false,
            api_prefix: API_PREFIX.into(),
            inbox_prefix: "_INBOX".into(),
            name: "opgen".into(),
            request_timeout: Duration::from_secs(5),
        }
    }

    /// Authenticates with a credentials file (`.creds`: a user JWT and its seed), as `nsc generate creds` writes it.
    #[must_use]
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.authentication = Authentication::CredentialsFile(path.into());
        self
    }

    /// Authenticates with the NKey whose seed (`SU…`) is in a file.
    #[must_use]
    pub fn nkey_seed_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.authentication = Authentication::SeedFile(path.into());
        self
    }

    /// Authenticates with a token.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.authentication = Authentication::Token(SecretString::from(token.into()));
        self
    }

    /// Authenticates with a user and a password.
    #[must_use]
    pub fn user_and_password(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        let password = SecretString::from(password.into());
        self.authentication = Authentication::Password { user: user.into(), password };
        self
    }

    /// Trusts only the certificate authorities in this PEM file. The default is those of the system.
    #[must_use]
    pub fn certificate_authority(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca = Some(path.into());
        self
    }

    /// Presents a client certificate; both files are PEM.
    #[must_use]
    pub fn client_certificate(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.client_certificate = Some((certificate.into(), key.into()));
        self
    }

    /// Begins TLS before the server's first message, for servers with `handshake_first`. The default is `false`.
    #[must_use]
    pub fn tls_first(mut self, first: bool) -> Self {
        self.tls_first = first;
        self
    }

    /// Uses the JetStream of a domain, for example that of a leaf node. Replaces the [API prefix](Self::api_prefix).
    #[must_use]
    pub fn domain(mut self, domain: impl AsRef<str>) -> Self {
        self.api_prefix = format!("$JS.{}.API", domain.as_ref());
        self
    }

    /// Sends the calls of JetStream's API to subjects with this prefix, for accounts that import the API of another account. The
    /// default is `$JS.API`.
    #[must_use]
    pub fn api_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.api_prefix = prefix.into().trim_end_matches('.').to_owned();
        self
    }

    /// Takes answers on subjects with this prefix, so that other users of the account can't read them. The default is `_INBOX`.
    #[must_use]
    pub fn inbox_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.inbox_prefix = prefix.into().trim_end_matches('.').to_owned();
        self
    }

    /// Sets the name of the connection, as the server's monitoring shows it. The default is `opgen`.
    #[must_use]
    pub fn connection_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the time for which a call waits for its answer. The default is 5 seconds.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    pub(super) fn servers(&self) -> &[String] {
        &self.servers
    }

    /// Returns the URLs of the servers for messages, without the user and the password that a URL may have.
    pub(super) fn shown_servers(&self) -> String {
        let shown = |server: &String| match server.rsplit_once('@') {
            Some((before, host)) => match before.split_once("://") {
                Some((scheme, _)) => format!("{scheme}://{host}"),
                None => host.to_owned(),
            },
            None => server.clone(),
        };
        self.servers.iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn prefix_of_api(&self) -> &str {
        &self.api_prefix
    }

    pub(super) fn prefix_of_inboxes(&self) -> &str {
        &self.inbox_prefix
    }

    /// Returns the prefix of the subjects of writes: none, unless the API has another prefix than usual.
    pub(super) fn prefix_of_writes(&self) -> String {
        if self.api_prefix == API_PREFIX { String::new() } else { format!("{}.", self.api_prefix) }
    }

    pub(super) fn timeout(&self) -> Duration {
        self.request_timeout
    }

    /// Returns the options for a client of one connection.
    ///
    /// # Errors
    /// Fails if no server is named, if a URL has credentials, if a prefix is no part of a subject, and if a file can't be read or has
    /// other contents.
    pub(super) fn for_client(
        &self,
        events: ConnectionEvents,
        connection: SingleConnection,
    ) -> Result<ConnectOptions, NatsError> {
        if self.servers.is_empty() {
            return Err(NatsError::NoServer);
        }
        if self.servers.iter().any(|server| server.contains('@')) {
            return Err(NatsError::CredentialsInUrl);
        }
        // With an invalid prefix the client would connect, but no call would get an answer.
        if let Some(prefix) = [&self.api_prefix, &self.inbox_prefix].into_iter().find(|prefix| !is_prefix(prefix)) {
            return Err(NatsError::InvalidPrefix { prefix: prefix.clone() });
        }
        crypto_provider::ensure_default();
        let mut options = self
            .authentication
            .options()?
            .name(&self.name)
            .custom_inbox_prefix(&self.inbox_prefix)
            .request_timeout(Some(self.request_timeout))
            .connection_timeout(self.request_timeout)
            // JetStream's flow control limits the bytes that are underway. The client must not drop messages before, even if they are many
            // small ones, so its queue has room for a million messages.
            .subscription_capacity(1 << 20)
            .ping_interval(Duration::from_secs(15))
            .max_reconnects(None)
            .reconnect_delay_callback(move |attempts| connection.delay(attempts))
            .event_callback(move |event| {
                events.handle(event);
                std::future::ready(())
            });
        if let Some(ca) = &self.ca {
            options =
                options.add_root_certificates(checked_certificate("certificate authority", ca)?).require_tls(true);
        }
        if let Some((certificate, key)) = &self.client_certificate {
            let (certificate, key) = (checked_certificate("client certificate", certificate)?, checked_key(key)?);
            options = options.add_client_certificate(certificate, key).require_tls(true);
        }
        Ok(if self.tls_first { options.tls_first() } else { options })
    }
}

/// Returns whether a text can be the prefix of subjects: tokens with dots between them, without spaces and wildcards.
fn is_prefix(prefix: &str) -> bool {
    let is_part = |character: char| !character.is_whitespace() && !character.is_control() && !"*>".contains(character);
    prefix.split('.').all(|token| !token.is_empty() && token.chars().all(is_part))
}

/// Returns the path after a check that the file has a certificate in PEM.
fn checked_certificate(file_type: &'static str, path: &Path) -> Result<PathBuf, NatsError> {
    checked_pem((file_type, "certificate"), path, |text| CertificateDer::from_pem_slice(text).map(drop))
}

/// Returns the path after a check that the file has a private key in PEM.
fn checked_key(path: &Path) -> Result<PathBuf, NatsError> {
    checked_pem(("client key", "private key"), path, |text| PrivateKeyDer::from_pem_slice(text).map(drop))
}

/// Returns the path after a check that `find` finds the `item` in the file, since the NATS client reports a wrong file without naming it.
fn checked_pem(
    (file_type, item): (&'static str, &str),
    path: &Path,
    find: impl FnOnce(&[u8]) -> Result<(), PemError>,
) -> Result<PathBuf, NatsError> {
    let text = std::fs::read(path).map_err(|error| NatsError::file(file_type, path, error))?;
    match find(&text) {
        Ok(()) => Ok(path.to_owned()),
        Err(PemError::NoItemsFound) => Err(NatsError::file(file_type, path, format!("it has no {item} in PEM"))),
        Err(error) => Err(NatsError::file(file_type, path, error)),
    }
}

impl fmt::Debug for NatsOptions {
    /// Shows the options without secrets, and without the user and the password that a URL may have.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions")
            .field("servers", &self.shown_servers())
            .field("authentication", &self.authentication)
            .field("ca", &self.ca)
            .field("client_certificate", &self.client_certificate)
            .field("tls_first", &self.tls_first)
            .field("api_prefix", &self.api_prefix)
            .field("inbox_prefix", &self.inbox_prefix)
            .field("name", &self.name)
            .field("request_timeout", &self.request_timeout)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_in_no_message() {
        let options =
            NatsOptions::new(["nats://user:secret@a:4222", "b"]).token("secret").user_and_password("u", "secret");
        assert!(!format!("{options:?}").contains("secret"), "{options:?}");
        assert_eq!(options.shown_servers(), "nats://a:4222, b");
    }

    #[test]
    fn a_domain_changes_the_subjects_of_calls_and_writes() {
        let options = NatsOptions::new(["a"]);
        assert_eq!((options.prefix_of_api(), options.prefix_of_writes().as_str()), ("$JS.API", ""));
        let options = options.domain("leaf");
        assert_eq!((options.prefix_of_api(), options.prefix_of_writes().as_str()), ("$JS.leaf.API", "$JS.leaf.API."));
    }

    #[test]
    fn prefixes_that_no_subject_can_have_are_an_error() {
        let new = || NatsOptions::new(["a"]);
        for (options, prefix) in [
            (new().domain(""), "$JS..API"),
            (new().domain("two words"), "$JS.two words.API"),
            (new().api_prefix(""), ""),
            (new().inbox_prefix("_INBOX.*"), "_INBOX.*"),
            (new().inbox_prefix("."), ""),
        ] {
            let refused = options.for_client(ConnectionEvents::new(), SingleConnection::default()).map(drop);
            assert_eq!(refused, Err(NatsError::InvalidPrefix { prefix: prefix.to_owned() }));
        }
        let options = new().domain("leaf-1").inbox_prefix("_INBOX_operator.");
        assert_eq!(options.for_client(ConnectionEvents::new(), SingleConnection::default()).map(drop), Ok(()));
    }

    #[test]
    fn a_missing_file_is_named() {
        let options = NatsOptions::new(["a"]).certificate_authority("/missing/ca.pem");
        let client = options.for_client(ConnectionEvents::new(), SingleConnection::default());
        let error = client.unwrap_err().to_string();
        assert!(error.starts_with("the NATS certificate authority /missing/ca.pem can't be used: "), "{error}");
    }

    #[test]
    fn a_file_without_a_certificate_or_a_key_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let key = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
        let (key, certificate) = (path("key.pem", key), path("cert.pem", &key.replace("PRIVATE KEY", "CERTIFICATE")));
        let error = |options: NatsOptions| {
            let client = options.for_client(ConnectionEvents::new(), SingleConnection::default());
            client.map(drop).map_err(|error| error.to_string())
        };
        let options = || NatsOptions::new(["a"]);
        assert_eq!(error(options().certificate_authority(&certificate).client_certificate(&certificate, &key)), Ok(()));
        let authority = error(options().certificate_authority(&key)).unwrap_err();
        assert!(authority.ends_with("key.pem can't be used: it has no certificate in PEM"), "{authority}");
        let key = error(options().client_certificate(&certificate, &certificate)).unwrap_err();
        assert!(key.starts_with("the NATS client key ") && key.ends_with("it has no private key in PEM"), "{key}");
    }
}
