//! TLS: an authority of its own, certificates of clients, and files that are replaced.

use std::path::PathBuf;

use opgen::{
    bucket::{Bucket as _, BucketDefinition, BucketError, Expected},
    nats::{NatsConnection, NatsError, NatsOptions},
};
use opgen_tests::{NatsServer, NatsServerOptions, wait};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use tempfile::TempDir;

use crate::case::{BUCKET, connect, open, options};

/// The name of the servers, by which clients connect.
const HOST: &str = "127.0.0.1";

/// A certificate authority.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority"))
    }

    /// Returns a certificate and its key, in PEM.
    fn issue(&self, name: &str, usage: ExtendedKeyUsagePurpose) -> [String; 2] {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().expect("a key");
        [params.signed_by(&key, &self.0).expect("a certificate").pem(), key.serialize_pem()]
    }
}

/// The files of a server and of its clients.
struct TlsFiles(TempDir);

impl TlsFiles {
    /// Writes the certificate of an authority, and those that it has issued for the server of a name and for a client.
    fn new(authority: &Authority, server: &str) -> Self {
        let files = Self(tempfile::tempdir().expect("a folder"));
        files.replace(authority, server);
        files
    }

    /// Replaces all files.
    fn replace(&self, authority: &Authority, server: &str) {
        let [server, server_key] = authority.issue(server, ExtendedKeyUsagePurpose::ServerAuth);
        let [client, client_key] = authority.issue("operator", ExtendedKeyUsagePurpose::ClientAuth);
        for (name, text) in [
            ("ca.pem", authority.0.pem()),
            ("server.pem", server),
            ("server.key", server_key),
            ("client.pem", client),
            ("client.key", client_key),
        ] {
            std::fs::write(self.path(name), text).expect("a file");
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Starts a server with these files, and with more settings of its TLS.
    async fn serve(&self, settings: &str) -> NatsServer {
        let configuration = format!(
            "tls {{\ncert_file: {:?}\nkey_file: {:?}\nca_file: {:?}\ntimeout: 10\n{settings}\n}}",
            self.path("server.pem"),
            self.path("server.key"),
            self.path("ca.pem")
        );
        NatsServer::start(&NatsServerOptions { configuration }).await
    }

    /// Returns options that trust the authority of these files.
    fn trusting(&self, server: &NatsServer) -> NatsOptions {
        options([format!("tls://{}", server.address())]).certificate_authority(self.path("ca.pem"))
    }

    /// As [`trusting`](Self::trusting), with the certificate of the client.
    fn with_client(&self, server: &NatsServer) -> NatsOptions {
        self.trusting(server).client_certificate(self.path("client.pem"), self.path("client.key"))
    }
}

/// Returns why there is no connection.
async fn refusal(options: NatsOptions) -> String {
    match NatsConnection::connect(options).await {
        Err(NatsError::Unreachable { message, .. }) => message,
        other => panic!("{other:?} in place of an error"),
    }
}

/// Writes and reads an entry.
async fn works(options: NatsOptions) {
    let bucket = open(&connect(options).await, &BucketDefinition::new(BUCKET)).await;
    let revision = bucket.put("a", b"1".to_vec(), Expected::Absent).await.expect("a write");
    let entry = bucket.get("a").await.expect("a read").expect("an entry");
    assert_eq!((entry.revision, entry.value), (revision, b"1".to_vec()));
}

pub(crate) async fn own_authority() {
    let (authority, other) = (Authority::new("own"), Authority::new("other"));
    let files = TlsFiles::new(&authority, HOST);
    let server = files.serve("").await;
    works(files.trusting(&server)).await;
    let strangers = TlsFiles::new(&other, HOST);
    let refused = refusal(strangers.trusting(&server)).await;
    assert!(refused.contains("UnknownIssuer"), "{refused}");
    // A certificate of the right authority, for another name.
    let misnamed = TlsFiles::new(&authority, "nats.example.com");
    let server = misnamed.serve("").await;
    let refused = refusal(misnamed.trusting(&server)).await;
    assert!(refused.to_lowercase().replace(' ', "").contains("notvalidforname"), "{refused}");
    // A file without a certificate is named, and not the server.
    std::fs::write(files.path("ca.pem"), "nothing").expect("a file");
    let unusable = NatsConnection::connect(files.trusting(&server)).await.map(drop);
    let Err(NatsError::File { path, .. }) = &unusable else { panic!("{unusable:?}") };
    assert_eq!(*path, files.path("ca.pem"));
}

pub(crate) async fn handshake_first() {
    let files = TlsFiles::new(&Authority::new("own"), HOST);
    let server = files.serve("handshake_first: true").await;
    works(files.trusting(&server).tls_first(true)).await;
}

pub(crate) async fn client_certificate() {
    let files = TlsFiles::new(&Authority::new("own"), HOST);
    let server = files.serve("verify: true").await;
    works(files.with_client(&server)).await;
    // The server ends the connection after it has said why, and the end may come first.
    wait::until("the reason is named", wait::PATIENCE, async || {
        let refused = refusal(files.trusting(&server)).await;
        if refused.contains("CertificateRequired") { Ok(()) } else { Err(refused) }
    })
    .await;
    let strangers = TlsFiles::new(&Authority::new("other"), HOST);
    let stranger =
        files.trusting(&server).client_certificate(strangers.path("client.pem"), strangers.path("client.key"));
    wait::until("the reason is named", wait::PATIENCE, async || {
        let refused = refusal(stranger.clone()).await;
        if refused.contains("fatal alert") { Ok(()) } else { Err(refused) }
    })
    .await;
}

/// The connection of a running operator: all files are replaced by those of another authority, and the server starts again with them.
pub(crate) async fn replaced_certificates() {
    let files = TlsFiles::new(&Authority::new("own"), HOST);
    let mut server = files.serve("verify: true").await;
    let bucket = open(&connect(files.with_client(&server)).await, &BucketDefinition::new(BUCKET)).await;
    bucket.put("a", b"before".to_vec(), Expected::Absent).await.expect("a write");
    let earlier = TlsFiles(tempfile::tempdir().expect("a folder"));
    std::fs::copy(files.path("ca.pem"), earlier.path("ca.pem")).expect("a copy");
    files.replace(&Authority::new("later"), HOST);
    server.start_again();
    server.until_healthy().await;
    wait::until("the next connection uses the new files", wait::PATIENCE, async || {
        match bucket.put("b", b"after".to_vec(), Expected::Absent).await {
            // The write before this one had no answer, but happened.
            Ok(_) | Err(BucketError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    })
    .await;
    assert_eq!(bucket.get("a").await.expect("a read").expect("an entry").value, b"before");
    let refused = refusal(earlier.trusting(&server)).await;
    assert!(refused.contains("UnknownIssuer"), "{refused}");
}
