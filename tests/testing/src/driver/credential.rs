//! Generates credentials of clusters for the driver conformance suite, and variations that change one part of them.

use opgen::cd::ClusterCredentials;

use super::input::{DriverInput, SECRET};

/// A change of credentials: the part, the credentials that have it, and another value of it.
pub(super) struct CredentialChange {
    pub(super) input: DriverInput,
    pub(super) from: ClusterCredentials,
    pub(super) to: ClusterCredentials,
}

/// Texts in base64, as certificates and keys are. The first characters are those of the secret text.
const ENCODED: [&str; 3] = ["b3BnZW4taGlkZGVuLW9uZQ==", "b3BnZW4taGlkZGVuLXR3bw==", "b3BnZW4taGlkZGVuLXRocmVl"];

/// The beginning of each text in base64 that begins with the secret text.
pub(super) const ENCODED_SECRET: &str = "b3BnZW4taGlkZGVu";

/// Returns the URLs of different servers. Some differ only in the port, the path or the end of a long name, so that a driver which derives
/// a name from a part of the URL gives two servers the same one.
pub(super) fn servers() -> Vec<String> {
    let long = "long-label.".repeat(10);
    let mut servers: Vec<String> = [
        "https://blue.example.com:6443",
        "https://red.example.com:6443",
        "https://blue.example.com:6444",
        "https://blue.example.com",
        "https://blue-example.com:6443",
        "https://blue.example.com/6443",
        "https://proxy.example.com/k8s/clusters/c-1",
        "https://proxy.example.com/k8s/clusters/c-2",
        "https://192.0.2.1:6443",
        "https://[2001:db8::1]:6443",
        "https://[2001:db8::2]:6443",
    ]
    .map(str::to_owned)
    .into();
    servers.extend(["one", "two"].map(|end| format!("https://{long}example.com/{end}")));
    servers
}

/// Returns credentials with a token.
pub(super) fn with_token(server: &str) -> ClusterCredentials {
    let mut credentials = ClusterCredentials::default();
    credentials.server = server.to_owned();
    credentials.token = Some(format!("{SECRET}-token-one"));
    credentials
}

/// Returns changes for the parts of the credentials of a server: each with credentials that have the part, and a copy in which only this
/// part differs. Credentials have one of: a token, a client certificate, or a user with a password, as in a kubeconfig.
pub(super) fn changes(server: &str) -> Vec<CredentialChange> {
    let encoded = |at: usize| ENCODED.get(at).map(|text| (*text).to_owned());
    let (token, mut certificate, mut user) = (with_token(server), with_token(server), with_token(server));
    certificate.token = None;
    certificate.client_certificate_data = encoded(0);
    certificate.client_key_data = encoded(1);
    user.token = None;
    user.username = Some("opgen-user".to_owned());
    user.password = Some(format!("{SECRET}-password-one"));
    let mut authority = token.clone();
    authority.certificate_authority_data = encoded(0);
    let mut with_server_name = token.clone();
    with_server_name.tls_server_name = Some("one.example.com".to_owned());
    vec![
        change(DriverInput::Token, &token, |to| to.token = Some(format!("{SECRET}-token-two"))),
        change(DriverInput::ClientCertificate, &certificate, |to| to.client_certificate_data = encoded(2)),
        change(DriverInput::ClientCertificate, &certificate, |to| to.client_key_data = encoded(2)),
        change(DriverInput::Password, &user, |to| to.username = Some("opgen-other-user".to_owned())),
        change(DriverInput::Password, &user, |to| to.password = Some(format!("{SECRET}-password-two"))),
        change(DriverInput::CertificateAuthority, &token, |to| to.certificate_authority_data = encoded(0)),
        change(DriverInput::CertificateAuthority, &authority, |to| to.certificate_authority_data = encoded(2)),
        change(DriverInput::TlsServerName, &token, |to| to.tls_server_name = Some("one.example.com".to_owned())),
        change(DriverInput::TlsServerName, &with_server_name, |to| {
            to.tls_server_name = Some("two.example.com".to_owned());
        }),
        change(DriverInput::InsecureSkipTlsVerify, &token, |to| to.insecure_skip_tls_verify = true),
    ]
}

/// Returns the change from credentials to a copy that `set` modifies. `set` must modify only the part `input`.
fn change(
    input: DriverInput,
    from: &ClusterCredentials,
    set: impl FnOnce(&mut ClusterCredentials),
) -> CredentialChange {
    let mut to = from.clone();
    set(&mut to);
    CredentialChange { input, from: from.clone(), to }
}
