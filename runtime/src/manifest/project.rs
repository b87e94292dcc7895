//! `Project`: the operator's names, image and kinds, from which the manifests are generated.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::de::Error as _;
use serde_json::Value;

use crate::{
    bucket::BucketDefinition,
    cd::helm::HelmDeployment,
    kind::{Kind, kind_of},
    panic::{Closure, catch},
    policy::Policies,
    shape::{Access, Shape},
    validation::ValidationOf,
    versions::VersionsOf,
    webhook::WebhookDescription,
};

/// The default number of objects that an operator is sized for.
pub(crate) const DEFAULT_OBJECTS: u32 = 10_000;

/// The description of an operator, from which its manifests are generated.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Project {
    /// The operator's name, a DNS label. Its ServiceAccount, role and Deployment have this name.
    pub name: String,
    /// The namespace it runs in; by custom `<name>-system`.
    pub namespace: String,
    /// The version of the operator, used in its labels and as its image tag.
    pub version: String,
    /// The image; `version` is appended where it has neither tag nor digest.
    pub image: String,
    /// Whether the operator watches only its own namespace: a `Role` then takes the place of the `ClusterRole`.
    pub namespaced: bool,
    /// The expected number of objects; the memory request follows from it.
    pub objects: u32,
    /// The name of the Lease of leader election, in the operator's namespace.
    pub lease: String,
    /// The priority class of the operator's Pods; `None` for the default class of the cluster.
    pub priority_class: Option<String>,
    /// Whether the replicas share the objects by shards, so that each reads the Leases of all.
    pub(crate) shards: bool,
    /// Whether the objects belong to a Helm release, of which a cluster may have several.
    pub(crate) is_release: bool,
    /// The buckets of the kinds that the operator itself writes; empty unless it runs without Kubernetes.
    pub(crate) own_buckets: Vec<(Kind, BucketDefinition)>,
    /// The buckets of other operators, with the kinds that this operator uses.
    pub(crate) used_buckets: Vec<(Kind, BucketDefinition)>,
    /// Its webhooks; their order does not change the manifests.
    pub(crate) webhooks: Vec<WebhookDescription>,
    /// Its admission policies; their order does not change the manifests.
    pub(crate) policies: Policies,
    /// The kinds it controls; their order does not change the manifests.
    pub controllers: Vec<KindDescription>,
}

/// One kind that the operator controls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KindDescription {
    /// The kind by its names.
    pub kind: Kind,
    /// Its CustomResourceDefinition as `kube` derives it, as JSON; `None` for a kind that is not the operator's own.
    pub crd: Option<Value>,
    /// The schema of that definition with named types ([`Managed::SCHEMA`](crate::Managed::SCHEMA)), if it is known.
    pub schema: Option<Value>,
    /// The rules between the fields of the spec ([`Managed::VALIDATION`](crate::Managed::VALIDATION)).
    pub validation: Option<ValidationOf>,
    /// The versions of the kind ([`Managed::VERSIONS`](crate::Managed::VERSIONS)).
    pub versions: Option<VersionsOf>,
    /// The bucket that keeps the objects ([`Managed::BUCKET`](crate::Managed::BUCKET)); `None` for a kind in Kubernetes.
    pub bucket: Option<BucketDefinition>,
    /// The function that decodes and encodes its objects, if it is known.
    pub round_trip: Option<RoundTrip>,
    /// Whether the kind has no controller here: its definition is installed, and other controllers create and read its objects.
    pub only_defined: bool,
    /// The finalizer that this controller puts on its objects; empty for none.
    pub finalizer: String,
    /// Whether this controller records events.
    pub events: bool,
    /// The tree that provisions its objects.
    pub shape: &'static Shape,
    /// The kinds of the objects that its objects reference.
    pub references: Vec<Kind>,
    /// The other kinds that its controller watches.
    pub watched_kinds: Vec<Kind>,
    /// The permissions of its upgrade hook; `None` without one.
    pub upgrade: Option<&'static [Access]>,
    /// Whether the controller selects objects by labels or fields.
    pub selects: bool,
    /// The sample object; `apiVersion`, `kind` and `metadata.name` are added where they are missing. Without it the sample is
    /// generated from the schema.
    pub sample: Option<Value>,
}

/// Decodes an object into its Rust type and encodes it again. The generator checks definitions with it.
#[derive(Clone)]
pub struct RoundTrip(Arc<Function>);

type Function = dyn Fn(&Value) -> serde_json::Result<Value> + Send + Sync;

impl RoundTrip {
    /// Wraps a function that returns the object as its type encodes it, or the error of decoding it.
    pub fn new(function: impl Fn(&Value) -> serde_json::Result<Value> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Decodes and encodes an object. A panic of the type becomes an error.
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
    /// Returns the name of the operator's cluster-scoped objects. A cluster may contain several installations of an operator that watches
    /// one namespace, and several releases of a chart; the name then contains the namespace.
    pub(crate) fn cluster_name(&self) -> String {
        if self.namespaced || self.is_release { format!("{}-{}", self.namespace, self.name) } else { self.name.clone() }
    }

    /// Returns whether API servers call the operator: it has admission webhooks, or converts objects.
    pub(crate) fn has_webhooks(&self) -> bool {
        !self.webhooks.is_empty() || self.controllers.iter().any(KindDescription::is_converted)
    }

    /// Returns the bucket of each kind that is not in Kubernetes.
    pub(crate) fn buckets(&self) -> BTreeMap<Kind, BucketDefinition> {
        self.used_buckets.iter().cloned().chain(self.defined_buckets()).collect()
    }

    /// Returns the bucket of each kind that is not in Kubernetes and that the operator defines, controls or writes itself. Leaves out the
    /// buckets of other operators.
    pub(crate) fn defined_buckets(&self) -> BTreeMap<Kind, BucketDefinition> {
        let of_kinds = self.controllers.iter().filter_map(|described| {
            let bucket = described.bucket.clone()?;
            Some((described.kind.clone(), bucket))
        });
        self.own_buckets.iter().cloned().chain(of_kinds).collect()
    }

    /// Returns whether the objects of a kind are in a bucket.
    pub(crate) fn is_in_bucket(&self, kind: &Kind) -> bool {
        self.buckets().contains_key(kind)
    }

    /// Returns whether the operator sends no requests to an API server: all its objects are in NATS buckets.
    pub(crate) fn runs_without_kubernetes(&self) -> bool {
        !self.own_buckets.is_empty()
    }

    /// Returns whether the Pods may serve metrics: the server of `/metrics` needs Kubernetes, which reviews the tokens of its clients. In a
    /// Helm release, the chart's values decide about it.
    pub(crate) fn serves_metrics(&self) -> bool {
        self.is_release || !self.runs_without_kubernetes()
    }

    /// Returns whether the operator runs the program `helm`: it controls the kind `HelmDeployment`.
    pub(crate) fn runs_helm(&self) -> bool {
        let deployment = kind_of::<HelmDeployment>();
        self.controllers.iter().any(|controlled| !controlled.only_defined && controlled.kind == deployment)
    }

    /// Returns the labels of every generated object.
    pub(crate) fn labels(&self) -> Value {
        serde_json::json!({"app.kubernetes.io/managed-by": "opgen", "app.kubernetes.io/name": self.name})
    }

    /// Returns the labels that select the Pods of the operator. A selector can't be changed later, so the version is not part of it.
    pub(crate) fn selector(&self) -> Value {
        serde_json::json!({"app.kubernetes.io/component": "operator", "app.kubernetes.io/name": self.name})
    }

    /// Returns the image with its tag or digest; the default tag is the version, in which `_` replaces `+`, since tags can't contain `+`.
    pub(crate) fn tagged_image(&self) -> String {
        // A colon before the last slash belongs to the port of the registry.
        let last_segment = self.image.rsplit('/').next().unwrap_or_default();
        if last_segment.contains(':') || last_segment.contains('@') {
            self.image.clone()
        } else {
            format!("{}:{}", self.image, self.version.replace('+', "_"))
        }
    }
}

impl KindDescription {
    /// Returns whether the kind has several versions, so that the operator migrates its stored objects.
    pub(crate) fn has_versions(&self) -> bool {
        self.versions.is_some_and(|versions| versions().iter().count() > 1)
    }

    /// Returns whether the operator converts the objects of the kind between its versions.
    pub(crate) fn is_converted(&self) -> bool {
        self.versions.is_some_and(|versions| versions().need_webhook())
    }

    /// Returns whether the operator doesn't define the kind, so its definition and its status belong to somebody else.
    pub(crate) fn is_foreign(&self) -> bool {
        self.crd.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an operator without kinds that has this image.
    fn project(image: &str) -> Project {
        Project {
            name: "webapp".into(),
            namespace: "webapp-system".into(),
            version: "1.2.0+build".into(),
            image: image.into(),
            namespaced: false,
            objects: DEFAULT_OBJECTS,
            lease: "webapp.opgen.dev".into(),
            priority_class: None,
            shards: false,
            is_release: false,
            own_buckets: Vec::new(),
            used_buckets: Vec::new(),
            webhooks: Vec::new(),
            policies: Policies::default(),
            controllers: Vec::new(),
        }
    }

    #[test]
    fn the_version_is_the_tag_of_an_image_without_tag_and_digest() {
        assert_eq!(project("registry:5000/webapp").tagged_image(), "registry:5000/webapp:1.2.0_build");
        assert_eq!(project("registry:5000/webapp:dev").tagged_image(), "registry:5000/webapp:dev");
        assert_eq!(project("webapp@sha256:00").tagged_image(), "webapp@sha256:00");
    }
}
