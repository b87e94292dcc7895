//! Keys, tokens and kubeconfigs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use kube::{Client, Config, config::AuthInfo};
use opgen_sandbox::{Sandbox, User};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;

/// Users of the token file; all are `system:masters`. Each part of the plane has its own name in the audit log.
pub(crate) const ADMIN: &str = "admin";
pub(crate) const CONTROLLERS: &str = "system:kube-controller-manager";
pub(crate) const KUBELET: &str = "system:kubelet";
pub(crate) const SCHEDULER: &str = "system:kube-scheduler";
pub(crate) const AUDITOR: &str = "audit-marker";

/// The plane's certificate authority, keys and token file, as files in a folder.
#[derive(Debug)]
pub(crate) struct Authority {
    folder: PathBuf,
    server: String,
    certificate: Vec<u8>,
}

impl Authority {
    /// Makes everything new, for an API server on the loopback `port`.
    pub(crate) fn new(folder: &Path, port: u16) -> Self {
        let pair = || KeyPair::generate().expect("a key pair");
        let mut params = CertificateParams::new(Vec::new()).expect("parameters of the authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, pair()).expect("the authority's certificate");

        let names = ["127.0.0.1", "localhost", "kubernetes.default.svc"].map(String::from).to_vec();
        let (server, accounts) = (pair(), pair());
        let params = CertificateParams::new(names).expect("parameters of the server");
        let certificate = params.signed_by(&server, &authority).expect("the server's certificate");

        let written = Self {
            folder: folder.to_owned(),
            server: format!("https://127.0.0.1:{port}"),
            certificate: authority.der().to_vec(),
        };
        written.write("ca.crt", &authority.pem());
        written.write("apiserver.crt", &certificate.pem());
        written.write("apiserver.key", &server.serialize_pem());
        written.write("accounts.key", &accounts.serialize_pem());
        written.write("accounts.pub", &accounts.public_key_pem());
        let line = |user| format!("{},{user},{user},system:masters\n", written.token(user));
        written.write("tokens.csv", &[ADMIN, CONTROLLERS, KUBELET, SCHEDULER, AUDITOR].map(line).concat());
        written
    }

    /// The access of a user of the token file.
    pub(crate) fn user(&self, user: &str) -> Access {
        self.access(user, &self.token(user), "default")
    }

    /// The access of a user with a token of its own; writes the kubeconfig.
    pub(crate) fn access(&self, user: &str, token: &str, namespace: &str) -> Access {
        // JSON is YAML, and both kubectl and kube read it.
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
        Access { user: user.to_owned(), way: Way::Https(Box::new(https)) }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Not a secret: whoever reads our folder may be `system:masters` of a server that lives for a test.
    pub(crate) fn token(&self, user: &str) -> String {
        format!("token-of-{}", user.replace(':', "-"))
    }

    /// The text of a file.
    pub(crate) fn read(&self, file: &str) -> String {
        let path = self.path(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} can't be read: {error}", path.display()))
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{} can't be written: {error}", path.display()));
    }
}

/// How a user reaches the API server.
#[derive(Clone)]
pub struct Access {
    user: String,
    way: Way,
}

#[derive(Clone)]
enum Way {
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
    /// To a sandbox in the process, without a port.
    pub(crate) fn inner(sandbox: Sandbox, user: User) -> Self {
        Self { user: user.name.clone(), way: Way::Inner(sandbox, user) }
    }

    /// A new client. It belongs to the tokio runtime in which it is made.
    pub fn client(&self) -> Client {
        match &self.way {
            Way::Inner(sandbox, user) => sandbox.client_of(user.clone()),
            Way::Https(https) => Client::try_from(https.config()).expect("a client for the control plane"),
        }
    }

    /// The configuration of a client, with `kube`'s own retries off.
    ///
    /// # Panics
    /// If there is no port to reach, as for [`Access::kubeconfig`].
    pub fn config(&self) -> Config {
        self.https().config()
    }

    /// The path of a kubeconfig file.
    ///
    /// # Panics
    /// If there is no port to reach: the case must be on a plane that is [served](crate::Options::served).
    pub fn kubeconfig(&self) -> &Path {
        &self.https().kubeconfig
    }

    /// The name of the user, as the audit log has it.
    pub fn user(&self) -> &str {
        &self.user
    }

    fn https(&self) -> &Https {
        match &self.way {
            Way::Https(https) => https,
            Way::Inner(..) => panic!("a sandbox without a port has no kubeconfig: `case_served`, or `Options::served`"),
        }
    }
}

impl Https {
    /// With kube's own retries off: a test wants to see each answer.
    fn config(&self) -> Config {
        let mut config = Config::new(self.server.parse().expect("the server's URL"));
        config.root_cert = Some(vec![self.authority.clone()]);
        config.default_namespace.clone_from(&self.namespace);
        config.default_retry = false;
        config.auth_info = AuthInfo { token: Some(self.token.clone().into()), ..AuthInfo::default() };
        config
    }
}

/// Without the token.
impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("user", &self.user).finish_non_exhaustive()
    }
}
