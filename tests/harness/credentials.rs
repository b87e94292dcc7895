//! Generates the keys, tokens and kubeconfigs of the API server of a test, and creates clients for its users.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use k8s_openapi::ByteString;
use kube::{Client, Config, config::AuthInfo};
use opgen_sandbox::{Sandbox, User};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};

/// The users of the token file, all in `system:masters`. Each part of the plane has its own name in the audit log.
pub(crate) const ADMIN: &str = "admin";
pub(crate) const CONTROLLERS: &str = "system:kube-controller-manager";
pub(crate) const KUBELET: &str = "system:kubelet";
pub(crate) const SCHEDULER: &str = "system:kube-scheduler";
pub(crate) const AUDITOR: &str = "audit-marker";

/// The certificate authority, keys and token file of a plane, as files in a folder.
#[derive(Debug)]
pub(crate) struct Authority {
    folder: PathBuf,
    server: String,
    certificate: Vec<u8>,
}

impl Authority {
    /// Writes the files that an API server on `port` of the loopback address needs: the certificates of an authority and of the server, the
    /// key of ServiceAccount tokens, and a file with a static token for each administrator, such as `ADMIN`.
    pub(crate) fn new(folder: &Path, port: u16) -> Self {
        let pair = || KeyPair::generate().expect("a key pair");
        let mut params = CertificateParams::new(Vec::new()).expect("parameters of the authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, pair()).expect("the authority's certificate");

        let names = ["127.0.0.1", "localhost", "kubernetes.default.svc"].map(String::from).to_vec();
        let (server, accounts) = (pair(), pair());
        let params = CertificateParams::new(names).expect("parameters of the server");
        let certificate = params.signed_by(&server, &authority).expect("the server's certificate");

        let files = Self {
            folder: folder.to_owned(),
            server: format!("https://127.0.0.1:{port}"),
            certificate: authority.der().to_vec(),
        };
        files.write("ca.crt", &authority.pem());
        files.write("apiserver.crt", &certificate.pem());
        files.write("apiserver.key", &server.serialize_pem());
        files.write("accounts.key", &accounts.serialize_pem());
        files.write("accounts.pub", &accounts.public_key_pem());
        // Token, name and uid of the user, and the group.
        let line = |user| format!("{},{user},{user},system:masters\n", files.token(user));
        files.write("tokens.csv", &[ADMIN, CONTROLLERS, KUBELET, SCHEDULER, AUDITOR].map(line).concat());
        files
    }

    /// Returns the access of a user of the token file.
    pub(crate) fn user(&self, user: &str) -> Access {
        self.access(user, &self.token(user), "default")
    }

    /// Writes a kubeconfig with a user's token, and returns the access of that user by HTTPS.
    pub(crate) fn access(&self, user: &str, token: &str, namespace: &str) -> Access {
        // JSON is valid YAML, and both kubectl and kube accept it.
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "plane", "cluster": {"server": self.server, "certificate-authority": self.path("ca.crt")}}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "plane", "context": {"cluster": "plane", "user": user, "namespace": namespace}}],
            "current-context": "plane",
        });
        let file = format!("{}.kubeconfig", user.replace(':', "-"));
        self.write(&file, &kubeconfig.to_string());
        let https = Https {
            server: self.server.clone(),
            authority: self.certificate.clone(),
            token: token.to_owned(),
            namespace: namespace.to_owned(),
            kubeconfig: self.path(&file),
        };
        Access { user: user.to_owned(), connection: Connection::Https(Box::new(https)) }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Returns the token of a user. It is not secret, since the server lives only for a test.
    pub(crate) fn token(&self, user: &str) -> String {
        format!("token-of-{}", user.replace(':', "-"))
    }

    /// Returns the content of a file.
    pub(crate) fn read(&self, file: &str) -> String {
        let path = self.path(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} can't be read: {error}", path.display()))
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{} can't be written: {error}", path.display()));
    }
}

/// The access of a user to the API server.
#[derive(Clone)]
pub struct Access {
    user: String,
    connection: Connection,
}

#[derive(Clone)]
enum Connection {
    Https(Box<Https>),
    Inner(Sandbox, User),
}

#[derive(Clone)]
struct Https {
    server: String,
    authority: Vec<u8>,
    token: String,
    namespace: String,
    kubeconfig: PathBuf,
}

impl Access {
    /// Returns the access to a sandbox inside the process, without a port.
    pub(crate) fn inner(sandbox: Sandbox, user: User) -> Self {
        Self { user: user.name.clone(), connection: Connection::Inner(sandbox, user) }
    }

    /// Returns a new client. It belongs to the current tokio runtime.
    pub fn client(&self) -> Client {
        match &self.connection {
            Connection::Inner(sandbox, user) => sandbox.client_of(user.clone()),
            Connection::Https(https) => Client::try_from(https.config()).expect("a client for the control plane"),
        }
    }

    /// Returns the configuration of a client without the retries of `kube`.
    ///
    /// # Panics
    /// If the plane has no port, as for [`Access::kubeconfig`].
    pub fn config(&self) -> Config {
        self.https().config()
    }

    /// Returns the path of the kubeconfig file.
    ///
    /// # Panics
    /// If the plane has no port: the case needs a plane that is [served](crate::Options::served).
    pub fn kubeconfig(&self) -> &Path {
        &self.https().kubeconfig
    }

    /// Returns the text of the kubeconfig, for a Secret: it contains the certificate of the authority, in place of the path of its file.
    ///
    /// # Panics
    /// If the plane has no port, as for [`Access::kubeconfig`].
    pub fn embedded_kubeconfig(&self) -> String {
        let read =
            |path: &Path| fs::read(path).unwrap_or_else(|error| panic!("{} can't be read: {error}", path.display()));
        let mut kubeconfig: Value = serde_json::from_slice(&read(self.kubeconfig())).expect("a kubeconfig as JSON");
        let cluster = &mut kubeconfig["clusters"][0]["cluster"];
        let authority = read(Path::new(cluster["certificate-authority"].as_str().expect("the path of a certificate")));
        *cluster = json!({"server": cluster["server"], "certificate-authority-data": ByteString(authority)});
        kubeconfig.to_string()
    }

    /// Returns the address of the API server.
    ///
    /// # Panics
    /// If the plane has no port, as for [`Access::kubeconfig`].
    pub fn server(&self) -> SocketAddr {
        let address = self.https().server.strip_prefix("https://").and_then(|address| address.parse().ok());
        address.expect("the address of the server")
    }

    /// Writes a kubeconfig that reaches the API server at another address, for example that of a [`Proxy`](crate::Proxy), and
    /// returns its path.
    ///
    /// # Panics
    /// If the plane has no port, as for [`Access::kubeconfig`].
    pub fn kubeconfig_at(&self, address: SocketAddr) -> PathBuf {
        let own = self.kubeconfig();
        let text = fs::read_to_string(own).unwrap_or_else(|error| panic!("{} can't be read: {error}", own.display()));
        let text = text.replace(&self.https().server, &format!("https://{address}"));
        let path = own.with_extension(format!("{}.kubeconfig", address.port()));
        fs::write(&path, text).unwrap_or_else(|error| panic!("{} can't be written: {error}", path.display()));
        path
    }

    /// Returns the bearer token.
    ///
    /// # Panics
    /// If the plane has no port, as for [`Access::kubeconfig`].
    pub fn token(&self) -> &str {
        &self.https().token
    }

    /// Returns the name of the user, as in the audit log.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns the connection by HTTPS.
    ///
    /// # Panics
    /// For a sandbox without a port.
    fn https(&self) -> &Https {
        match &self.connection {
            Connection::Https(https) => https,
            Connection::Inner(..) => {
                panic!("a sandbox without a port has no kubeconfig: `case_served`, or `Options::served`")
            }
        }
    }
}

impl Https {
    /// Returns the configuration of a client with the token. The client repeats no request, so that a test sees each response.
    fn config(&self) -> Config {
        let mut config = Config::new(self.server.parse().expect("the server's URL"));
        config.root_cert = Some(vec![self.authority.clone()]);
        config.default_namespace.clone_from(&self.namespace);
        config.default_retry = false;
        config.auth_info = AuthInfo { token: Some(self.token.clone().into()), ..AuthInfo::default() };
        config
    }
}

/// Omits the token.
impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("user", &self.user).finish_non_exhaustive()
    }
}
