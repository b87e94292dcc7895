//! What the manifests are generated from.

use std::{fmt, sync::Arc};

use serde::de::Error as _;
use serde_json::Value;

use crate::{
    kind::Kind,
    panic::{Closure, catch},
    shape::Shape,
};

/// The number of objects that an operator is expected to hold unless it says otherwise.
pub(crate) const DEFAULT_OBJECTS: u32 = 10_000;

/// An operator as the generator sees it: names, image, and what it controls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Project {
    /// The operator's name, a DNS label: of its ServiceAccount, role and Deployment.
    pub name: String,
    /// The namespace it runs in; by custom `<name>-system`.
    pub namespace: String,
    /// The version of the operator, as its labels and its image tag say it.
    pub version: String,
    /// The image; `version` is appended where it has neither tag nor digest.
    pub image: String,
    /// Whether the operator watches only its own namespace: a `Role` then takes the place of the `ClusterRole`.
    pub namespaced: bool,
    /// How many objects it is to hold: its memory follows.
    pub objects: u32,
    /// The kinds it controls; their order has no influence on what is generated.
    pub controllers: Vec<Controlled>,
}

/// One kind that the operator controls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Controlled {
    /// The kind by its names.
    pub kind: Kind,
    /// Its definition as `kube` derives it, as JSON; `None` for a kind that is not the operator's own.
    pub crd: Option<Value>,
    /// The schema of that definition with the types by name ([`Managed::SCHEMA`](crate::Managed::SCHEMA)), if it is known.
    pub schema: Option<Value>,
    /// How its objects are decoded and encoded, if that is known.
    pub round_trip: Option<RoundTrip>,
    /// Whether there is no controller of it: its definition is installed, and other controllers make and read its objects.
    pub only_defined: bool,
    /// The finalizer that this controller puts on its objects; empty for none.
    pub finalizer: String,
    /// Whether this controller records events.
    pub events: bool,
    /// The tree that provisions its objects.
    pub shape: &'static Shape,
    /// The kinds of the objects that its objects name.
    pub references: Vec<Kind>,
    /// The other kinds that it follows.
    pub followed: Vec<Kind>,
    /// Whether only some objects of the kind are meant.
    pub selects: bool,
    /// An object to be shown as the sample; `apiVersion`, `kind` and `metadata.name` are added where they are missing.
    /// Without one, a sample is made from the schema.
    pub sample: Option<Value>,
}

/// Decodes an object into its Rust type and encodes it again; manifests are checked by it.
#[derive(Clone)]
pub struct RoundTrip(Arc<Function>);

type Function = dyn Fn(&Value) -> serde_json::Result<Value> + Send + Sync;

impl RoundTrip {
    /// By a function that gives the object as the type encodes it, or says why it can't be decoded.
    pub fn new(function: impl Fn(&Value) -> serde_json::Result<Value> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Decodes and encodes an object; a panic of the type is an error like any other.
    pub(crate) fn of(&self, object: &Value) -> serde_json::Result<Value> {
        catch(Closure::Object, || (self.0)(object)).unwrap_or_else(|panicked| Err(serde_json::Error::custom(panicked)))
    }
}

impl fmt::Debug for RoundTrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoundTrip")
    }
}

impl Project {
    /// The name of the operator's objects that belong to no namespace. An operator that watches one namespace may be
    /// installed several times, so its namespace is part of the name then.
    pub(crate) fn cluster_name(&self) -> String {
        if self.namespaced { format!("{}-{}", self.namespace, self.name) } else { self.name.clone() }
    }

    /// The labels of every generated object.
    pub(crate) fn labels(&self) -> Value {
        serde_json::json!({"app.kubernetes.io/managed-by": "opgen", "app.kubernetes.io/name": self.name})
    }

    /// The image with its tag.
    pub(crate) fn tagged_image(&self) -> String {
        let last = self.image.rsplit('/').next().unwrap_or_default();
        if last.contains(':') || last.contains('@') {
            self.image.clone()
        } else {
            format!("{}:{}", self.image, self.version.replace('+', "_"))
        }
    }
}

impl Controlled {
    /// Whether the kind, its definition and its status belong to somebody else.
    pub(crate) fn is_foreign(&self) -> bool {
        self.crd.is_none()
    }
}

/// Whether `name` is a DNS label: what Kubernetes asks of the names of namespaces and services.
pub(crate) fn is_dns_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= 63 && name.chars().all(inner) && !name.starts_with('-') && !name.ends_with('-')
}

/// Whether `name` is a DNS subdomain: labels joined by dots, at most 253 characters.
pub(crate) fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_dns_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(image: &str) -> Project {
        Project {
            name: "webapp".into(),
            namespace: "webapp-system".into(),
            version: "1.2.0+build".into(),
            image: image.into(),
            namespaced: false,
            objects: DEFAULT_OBJECTS,
            controllers: Vec::new(),
        }
    }

    #[test]
    fn the_version_is_the_tag_unless_the_image_says_one() {
        assert_eq!(project("registry:5000/webapp").tagged_image(), "registry:5000/webapp:1.2.0_build");
        assert_eq!(project("registry:5000/webapp:dev").tagged_image(), "registry:5000/webapp:dev");
        assert_eq!(project("webapp@sha256:00").tagged_image(), "webapp@sha256:00");
    }

    #[test]
    fn dns_names_are_recognised() {
        for good in ["a", "web-app", "0a"] {
            assert!(is_dns_label(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a.b"] {
            assert!(!is_dns_label(bad), "{bad}");
        }
        assert!(is_dns_subdomain("demo.example.com"));
        assert!(!is_dns_subdomain("demo..com"));
    }
}
