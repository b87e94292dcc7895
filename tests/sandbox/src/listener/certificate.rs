//! Creates the server certificate and the certificate authority that signs it.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::{
    ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject as _},
};

/// The DNS names of the API server in a cluster and on the machine.
const DNS_NAMES: [&str; 4] = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];

/// The TLS configuration of the server and the certificate that clients trust.
pub(super) struct Certificates {
    /// The certificate of the certificate authority, as PEM.
    pub(super) authority: String,
    pub(super) tls: Arc<ServerConfig>,
}

/// Creates a certificate authority and a server certificate that it signs, both with new keys. The certificate is valid
/// for `DNS_NAMES`, the loopback addresses and `address`.
pub(super) fn create(address: IpAddr) -> io::Result<Certificates> {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    authority.distinguished_name.push(DnType::CommonName, "sandbox-ca");
    let issuer = CertifiedIssuer::self_signed(authority, KeyPair::generate().map_err(io::Error::other)?)
        .map_err(io::Error::other)?;

    let mut server = CertificateParams::new(DNS_NAMES.map(str::to_owned)).map_err(io::Error::other)?;
    let mut addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    if !addresses.contains(&address) && !address.is_unspecified() {
        addresses.push(address);
    }
    server.subject_alt_names.extend(addresses.into_iter().map(SanType::IpAddress));
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.distinguished_name.push(DnType::CommonName, "sandbox");
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let certificate = server.signed_by(&key, &issuer).map_err(io::Error::other)?;

    let chain = vec![certificate.der().clone(), issuer.der().clone()];
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Ok(Certificates { authority: issuer.pem(), tls: Arc::new(server_config(chain, key)?) })
}

/// Loads a server certificate and its key, both as PEM. Clients then trust this certificate itself, because its authority
/// is unknown. Returns an error if one of the PEM texts is invalid.
pub(super) fn load(certificate: &str, key: &str) -> io::Result<Certificates> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate.as_bytes()).collect();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(io::Error::other)?;
    let tls = server_config(chain.map_err(io::Error::other)?, key)?;
    Ok(Certificates { authority: certificate.to_owned(), tls: Arc::new(tls) })
}

/// Returns the TLS configuration of the server: no client certificates, HTTP/2 and HTTP/1.1. Returns an error if the
/// key does not fit the certificate.
fn server_config(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> io::Result<ServerConfig> {
    let mut tls = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(io::Error::other)?;
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}
