//! `Kubeconfig` names the Secret with the credentials for another cluster. `ClusterRecord` remembers a cluster in which a tree node has
//! objects.

use crate::{
    cache::Header,
    dns_name::is_dns_subdomain,
    error::{Error, Result},
};
use http::uri::Scheme;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{fmt, time::Duration};

/// The annotation of a record with the [`KubeconfigSecret`] as JSON.
const RECORD_ANNOTATION: &str = "opgen.dev/cluster";
/// The annotation of a record whose objects are left in the cluster if the owner is deleted.
const BACKGROUND_ANNOTATION: &str = "opgen.dev/background";
/// The annotation of a record with the seconds after which a teardown gives up the cluster.
const ABANDON_ANNOTATION: &str = "opgen.dev/abandon-after";

/// The Secret with the kubeconfig of another cluster, and the key in it: what the function of a field with `#[provisioner(remote)]`
/// returns. See the [module](crate::scope) for an example.
///
/// The current context of the kubeconfig is used. Its credentials are a token, a client certificate, or a user name with a password, as
/// data; it names neither files nor a proxy, and no programs except those that an [`ExecPlugin`](crate::scope::ExecPlugin) allows. While
/// the Secret or the key is missing, or the kubeconfig can't be used, the node yields with the reason `KubeconfigMissing` or
/// `InvalidKubeconfig`. Impossible names, and a URL without `https`, are errors with the reason `InvalidKubeconfig`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kubeconfig {
    secret: String,
    namespace: Option<String>,
    key: String,
    server: Option<String>,
    abandon_after: Option<Duration>,
}

impl Kubeconfig {
    /// The key `value` of a Secret, as Cluster API names it.
    pub fn secret(name: impl Into<String>) -> Self {
        Self { secret: name.into(), namespace: None, key: "value".to_owned(), server: None, abandon_after: None }
    }

    /// The Secret that Cluster API makes for a cluster: `<cluster>-kubeconfig` in the namespace of the cluster, with the key `value`.
    ///
    /// Source: the contract of Cluster API for control planes, "Kubeconfig management".
    pub fn cluster_api(cluster: &str) -> Self {
        Self::secret(format!("{cluster}-kubeconfig"))
    }

    /// The Secret that vcluster makes: `vc-<name>` in the namespace of the virtual cluster, with the key `config`. Its kubeconfig names
    /// `localhost`; set the URL of the Service with [`Kubeconfig::server`].
    ///
    /// Source: the documentation of vcluster, "Access and expose".
    pub fn vcluster(name: &str) -> Self {
        Self::secret(format!("vc-{name}")).key("config")
    }

    /// Sets the namespace of the Secret. Default: that of the owner; for a cluster-scoped owner, and in another cluster, `default`.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets the key of the kubeconfig in the Secret. Default: `value`, or that of the source.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets the URL of the API server, with `https`. The certificate of the server must be valid for its host. Default: the URL in the
    /// kubeconfig.
    #[must_use]
    pub fn server(mut self, url: impl Into<String>) -> Self {
        self.server = Some(url.into());
        self
    }

    /// Gives up the objects in the cluster if they are to be removed, and the cluster could not be reached for this time although its
    /// Secret exists. The objects remain there, and the owner gets the event `Abandoned`. The time has a precision of seconds, and begins
    /// again with a restart of the operator. Default: never.
    #[must_use]
    pub fn abandon_after(mut self, time: Duration) -> Self {
        self.abandon_after = Some(time);
        self
    }

    /// Returns the record of the cluster, which names the Secret of the kubeconfig. `namespace` is the namespace of the Secret if this
    /// kubeconfig names none.
    ///
    /// # Errors
    /// `InvalidKubeconfig` if the name or the namespace is not a DNS name, or if the URL is not one with `https`.
    pub(crate) fn record(self, namespace: Option<&str>) -> Result<ClusterRecord> {
        let Self { secret, namespace: set_namespace, key, server, abandon_after } = self;
        let namespace = set_namespace.or_else(|| namespace.map(str::to_owned)).unwrap_or_else(|| "default".to_owned());
        let invalid = |sentence: String| Err(Error::blocked("InvalidKubeconfig", sentence));
        for name in [&secret, &namespace] {
            if !is_dns_subdomain(name) {
                return invalid(format!(
                    "{name:?} can't be the name of the Secret with the kubeconfig, or its namespace"
                ));
            }
        }
        if let Some(url) = server.as_ref().filter(|url| !is_https(url)) {
            return invalid(format!("{url:?} is not the URL of an API server with https"));
        }
        let secret = KubeconfigSecret { namespace, name: secret, key, server };
        Ok(ClusterRecord { secret, abandon_after, background: false })
    }
}

/// Returns whether a text is a URL with `https` and a host. Over any other scheme, credentials would be sent in plain text.
pub(super) fn is_https(url: &str) -> bool {
    url.parse::<http::Uri>().is_ok_and(|url| url.scheme() == Some(&Scheme::HTTPS) && url.authority().is_some())
}

/// Returns whether an object is the record of a cluster.
pub(crate) fn is_record(header: &Header) -> bool {
    header.annotations.get(RECORD_ANNOTATION).is_some()
}

/// The content of the record of a cluster: the ConfigMap that remembers a cluster in which a node has objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterRecord {
    pub(crate) secret: KubeconfigSecret,
    /// The time after which a teardown gives up a cluster that can't be reached; `None` for never.
    pub(crate) abandon_after: Option<Duration>,
    /// Whether the objects are left in the cluster if the owner is deleted.
    pub(crate) background: bool,
}

impl ClusterRecord {
    /// Returns the annotations of the ConfigMap: the Secret with the kubeconfig, and how objects in the cluster are torn down.
    pub(crate) fn annotations(&self) -> Map<String, Value> {
        let mut annotations = Map::new();
        annotations.insert(RECORD_ANNOTATION.to_owned(), self.secret.to_text().into());
        if let Some(timeout) = self.abandon_after {
            annotations.insert(ABANDON_ANNOTATION.to_owned(), timeout.as_secs_f64().ceil().to_string().into());
        }
        if self.background {
            annotations.insert(BACKGROUND_ANNOTATION.to_owned(), "true".into());
        }
        annotations
    }

    /// Parses the annotations of a record; `None` if another client has removed or damaged the annotation that names the Secret.
    pub(crate) fn of(header: &Header) -> Option<Self> {
        let secret = KubeconfigSecret::parse(header.annotations.get(RECORD_ANNOTATION)?)?;
        let seconds = header.annotations.get(ABANDON_ANNOTATION).and_then(|seconds| seconds.parse().ok());
        let background = header.annotations.get(BACKGROUND_ANNOTATION).is_some();
        Some(Self { secret, abandon_after: seconds.map(Duration::from_secs), background })
    }
}

/// The Secret with the kubeconfig of a cluster, which identifies the cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct KubeconfigSecret {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
}

impl KubeconfigSecret {
    /// Returns whether two kubeconfigs are of the same cluster: they are in one Secret. The key and the URL may differ.
    pub(crate) fn is_of_same_cluster(&self, other: &Self) -> bool {
        (&self.namespace, &self.name) == (&other.namespace, &other.name)
    }

    /// Returns the text of the annotation.
    fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the text of the annotation; `None` if it is invalid.
    fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Displays the Secret.
impl fmt::Display for KubeconfigSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret {}/{}", self.namespace, self.name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_a_cluster_is_read_back_as_it_was_written() {
        let kubeconfig = Kubeconfig::vcluster("blue").namespace("teams").server("https://blue.teams");
        let record = kubeconfig.record(Some("default")).unwrap().secret;
        assert_eq!(record.to_string(), "Secret teams/vc-blue");
        assert_eq!(KubeconfigSecret::parse(&record.to_text()), Some(record));
        let record = Kubeconfig::cluster_api("red").record(Some("clusters")).unwrap().secret;
        assert_eq!(record.to_text(), r#"{"namespace":"clusters","name":"red-kubeconfig","key":"value"}"#);
        assert_eq!(KubeconfigSecret::parse("{"), None);
    }

    #[test]
    fn names_that_are_impossible_are_refused() {
        let refused = |kubeconfig: Kubeconfig| kubeconfig.record(None).unwrap_err().to_string();
        assert_eq!(
            refused(Kubeconfig::secret("../other")),
            "\"../other\" can't be the name of the Secret with the kubeconfig, or its namespace"
        );
        assert_eq!(
            refused(Kubeconfig::secret("a").server("http://a")),
            "\"http://a\" is not the URL of an API server with https"
        );
    }
}
