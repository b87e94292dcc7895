//! Opens the key-value buckets of kinds whose objects are not stored in Kubernetes, and wraps the API client of the operator so that it
//! serves these kinds from the buckets.

pub(super) mod opening;

use super::{operator::Operator, operators::Operators, run_error::RunError};
use crate::{
    bucket::{
        BucketApi, BucketDefinition, BucketKind, OpenBuckets, kinds::KindsInBuckets, shared_bucket::shared_bucket,
    },
    client::Client,
    controller::factory::Factory,
    event,
    kind::{Kind, kind_of},
    panic::{Closure, catch},
    shape::{Access, NodeVisit, Shape},
};
use k8s_openapi::{
    api::{
        coordination::v1::Lease,
        core::v1::{ConfigMap, Event, Secret},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use opening::{BucketToOpen, OpeningBuckets, UnopenedBuckets};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// The time after which the events of an operator without Kubernetes are deleted, as an API server does by default.
const EVENT_AGE: Duration = Duration::from_secs(3_600);

impl Operator {
    /// Sets the store of the buckets of kinds that are not in Kubernetes: those with `#[managed(nats(...))]` that the operator controls
    /// or [defines](Self::defines), and those of other operators that it [uses](Self::uses). Default: none, which is an error of a run
    /// with such kinds.
    ///
    /// The operator serves the API of Kubernetes for these kinds from their buckets, to itself: trees, references, finalizers,
    /// conditions and [`Context`](crate::Context) work as for other kinds. A child has an owner reference if both it and its owner are
    /// in Kubernetes, and the annotation `opgen.dev/owner` otherwise.
    ///
    /// While a bucket can't be opened, the operator tries again: the controllers that need the bucket wait, the others run, and `/readyz`
    /// names the bucket and the error. Refused credentials end the run.
    ///
    /// The flags `--nats-url` and `--nats-credentials` of the binary take precedence. In the generated Deployment they come from the
    /// Secret `<operator>-nats`, which is optional: the key `url` has the URLs of the servers, and `operator.creds` the credentials
    /// file. In the chart they are the values `nats.url` and `nats.credentialsSecret`.
    ///
    /// ```
    /// use opgen::{Operator, bucket::MemoryBuckets};
    ///
    /// let operator = Operator::new("units").buckets(MemoryBuckets::default());
    /// # drop(operator);
    /// ```
    #[must_use]
    pub fn buckets(mut self, buckets: impl OpenBuckets) -> Self {
        self.buckets = Some(Arc::new(buckets));
        self
    }

    /// Runs without Kubernetes: it reads no kubeconfig, and sends no request to an API server. All kinds of the operator are in
    /// buckets. Its Leases, Events, ConfigMaps and Secrets are in buckets of the names `<operator>-leases`, `<operator>-events`,
    /// `<operator>-core-events` (the older kind of events, which only nodes of yours write), `<operator>-configmaps` and
    /// `<operator>-secrets`. A tree that needs another kind of Kubernetes, outside of remote nodes, is an error of the run, and so is a
    /// webhook.
    ///
    /// The option of the first operator of a [`Manager`](crate::manager::Manager) holds for all.
    #[must_use]
    pub fn without_kubernetes(mut self) -> Self {
        self.without_kubernetes = true;
        self
    }

    /// Returns the key-value buckets of the kinds that the operator controls, defines or uses, by kind. If several of these three lists
    /// have one kind, its bucket as a controlled kind takes precedence, then that as a defined kind: collecting the chain into a map
    /// keeps the last value of each kind.
    fn buckets_of_kinds(&self) -> BTreeMap<Kind, BucketOfKind> {
        let controlled = self.factories.iter().filter_map(|factory| {
            let bucket = factory.bucket()?;
            let definition = derived(|| factory.crd());
            Some((factory.kind(), BucketOfKind { bucket, definition }))
        });
        let defined = self.defined.iter().filter_map(|defined| {
            let bucket = defined.bucket.clone()?;
            let definition = derived(|| Some((defined.definition)()));
            Some((defined.kind.clone(), BucketOfKind { bucket, definition }))
        });
        let used = self.used_kinds().map(|used| {
            let definition = derived(|| used.definition.map(|definition| definition()));
            (used.kind, BucketOfKind { bucket: used.bucket, definition })
        });
        used.chain(defined).chain(controlled).collect()
    }
}

/// The bucket of a kind, and the definition of the kind, which has the schema.
struct BucketOfKind {
    bucket: BucketDefinition,
    definition: Option<Box<CustomResourceDefinition>>,
}

/// Returns the buckets for the Leases, Events, ConfigMaps and Secrets that an operator writes for itself, for a run without Kubernetes. The
/// name of each bucket begins with the name of the operator. A bucket keeps only the latest revision of each object.
pub(crate) fn own_buckets(operator: &str) -> Vec<(Kind, BucketDefinition)> {
    let bucket = |suffix: &str| BucketDefinition::named(format!("{operator}-{suffix}").into()).history(1);
    vec![
        (kind_of::<Lease>(), bucket("leases")),
        (event::kind(), bucket("events").max_age(EVENT_AGE)),
        (kind_of::<Event>(), bucket("core-events").max_age(EVENT_AGE)),
        (kind_of::<ConfigMap>(), bucket("configmaps")),
        (kind_of::<Secret>(), bucket("secrets")),
    ]
}

/// Calls the function that derives the CustomResourceDefinition of a kind, and returns its result; `None` if the function panics, as the
/// derived code of `kube` does for some types. The generation of manifests reports such a panic as an error.
fn derived(definition: impl FnOnce() -> Option<CustomResourceDefinition>) -> Option<Box<CustomResourceDefinition>> {
    catch(Closure::Object, definition).ok()?.map(Box::new)
}

/// The client of a run, the kinds that it reads from buckets, and the buckets that are not open yet.
pub(super) struct ServedBuckets {
    pub(super) client: kube::Client,
    pub(super) kinds: KindsInBuckets,
    pub(super) unopened: UnopenedBuckets,
}

/// Opens the key-value buckets of all kinds whose objects are not in Kubernetes. Returns a client that answers the requests for these
/// kinds from the buckets, and sends all other requests to `client`; an operator without Kubernetes sends none to `client`.
///
/// It waits until the required buckets are open: those of the kinds that an operator without Kubernetes writes for itself, and those of
/// the kinds that controllers with an `initialize` function need. The buckets that are not open yet are returned in
/// [`ServedBuckets::unopened`]. `opening` has the errors of unopened buckets for `/readyz`.
///
/// # Errors
/// Fails if the operator of a kind in a bucket has no store that opens buckets, if two kinds have the same bucket, if a bucket can't exist
/// or its store refuses the credentials, and if a controller, a tree or a webhook of an operator without Kubernetes needs Kubernetes.
pub(super) async fn serve(
    operators: Operators<'_>,
    client: kube::Client,
    opening: &OpeningBuckets,
) -> Result<ServedBuckets, RunError> {
    let base = operators.first;
    let own = if base.without_kubernetes { own_buckets(&base.name) } else { Vec::new() };
    let mut required = kinds_to_initialize(operators);
    required.extend(own.iter().map(|(kind, _)| kind.clone()));
    let own = own.into_iter().map(|(kind, bucket)| (base, kind, BucketOfKind { bucket, definition: None }));
    let of_kinds = operators.iter().flat_map(|operator| {
        operator.buckets_of_kinds().into_iter().map(move |(kind, bucket)| (operator, kind, bucket))
    });
    let mut buckets = BTreeMap::new();
    for (operator, kind, bucket) in own.chain(of_kinds) {
        buckets.entry(kind).or_insert((operator, bucket));
    }
    let definitions = buckets.iter().map(|(kind, (_, of_kind))| (kind, &of_kind.bucket));
    if let Some((bucket, kinds)) = shared_bucket(definitions) {
        return Err(RunError::SharedBucket { bucket: bucket.to_owned(), kinds: kinds.map(Kind::clone) });
    }
    if base.without_kubernetes {
        let is_served = |kind: &Kind| buckets.contains_key(kind);
        operators.iter().try_for_each(|operator| check_kinds(operator, &is_served)).map_err(|error| *error)?;
    }
    let mut to_open = Vec::new();
    for (kind, (operator, of_kind)) in &buckets {
        let (kind, definition, is_required) = (kind.clone(), of_kind.bucket.clone(), required.contains(kind));
        let Some(provider) = operator.buckets.clone() else {
            return Err(RunError::NoBuckets { kind, bucket: definition.name.to_string() });
        };
        to_open.push(BucketToOpen { kind, definition, provider, is_required });
    }
    let (opened, unopened) = opening.open_all(to_open, &base.environment).await?;
    if opened.is_empty() {
        return Ok(ServedBuckets { client, kinds: KindsInBuckets::default(), unopened });
    }
    let kinds = buckets.keys().cloned().collect();
    let served = buckets.into_iter().zip(opened).map(|((kind, (_, of_kind)), bucket)| match of_kind.definition {
        Some(definition) => BucketKind::defined(kind, bucket, &definition),
        None => BucketKind::plain(kind, bucket),
    });
    let served = served.map(|kind| kind.with_shards(base.shards.is_some())).collect();
    let api = BucketApi::new(served, base.environment.clone());
    let client = if base.without_kubernetes { api.standalone_client() } else { api.wrap(client) };
    Ok(ServedBuckets { client, kinds, unopened })
}

/// Returns a client for a verb of the operator's command line (such as `why`), which reads and writes the objects in buckets as well as
/// those in Kubernetes. It makes one attempt to open each bucket. A kind whose bucket doesn't exist has no objects for the verb, and
/// [`Client::missing_buckets`] returns the name of the bucket.
///
/// # Errors
/// Fails for the reasons that [`serve`] lists, and if a store of buckets doesn't answer.
pub(crate) async fn connect(operator: &Operator, client: Client) -> Result<Client, Box<RunError>> {
    let opening = OpeningBuckets::once();
    let served = serve(Operators::one(operator), client.kube(), &opening).await?;
    let kinds = served.kinds.with_missing(opening.missing());
    Ok(client.with_kube(served.client).with_bucket_kinds(kinds))
}

/// Checks that an operator can run without Kubernetes: `is_served` is true for each kind that its controllers and the nodes of their trees
/// need, and the operator has no admission webhooks.
fn check_kinds(operator: &Operator, is_served: &dyn Fn(&Kind) -> bool) -> Result<(), Box<RunError>> {
    let mut needs = operator.factories.iter().flat_map(|factory| {
        let kind = factory.kind();
        kinds_needed_by(factory.as_ref()).into_iter().map(move |(path, needed)| match path {
            Some(path) => (format!("node {path} of the tree of {kind}"), needed),
            None => (format!("the controller of {kind}"), needed),
        })
    });
    let name = || operator.name.clone();
    if let Some((part, kind)) = needs.find(|(_, kind)| !is_served(kind)) {
        return Err(Box::new(RunError::NeedsKubernetes { operator: name(), part, kind }));
    }
    // A webhook is an error even if its kind is in a bucket, because only API servers call webhooks.
    match operator.extensions.webhooks.first() {
        Some(handler) => {
            let kind = handler.description.kind.clone();
            Err(Box::new(RunError::WebhookWithoutKubernetes { operator: name(), kind }))
        }
        None => Ok(()),
    }
}

/// Returns the kinds that controllers with an [`initialize`](crate::Controller::initialize) function need. The function runs before the
/// watches start and may read objects of these kinds, so their buckets must be open by then.
fn kinds_to_initialize(operators: Operators<'_>) -> BTreeSet<Kind> {
    let factories = operators.iter().flat_map(|operator| &operator.factories);
    let initialized = factories.filter(|factory| factory.settings().initialize.is_some());
    initialized.flat_map(|factory| kinds_needed_by(factory.as_ref())).map(|(_, kind)| kind).collect()
}

/// Returns the kinds that a controller needs. A kind that a node of its tree uses has the path of the node; `None` stands for the
/// controller itself, which needs its own kind and the kinds that it references, watches or lists.
fn kinds_needed_by(factory: &dyn Factory) -> Vec<(Option<String>, Kind)> {
    let (settings, references) = (factory.settings(), factory.references());
    let watched = settings.watches.iter().map(|mapped| mapped.kind().clone());
    let listed = settings.listers.iter().map(|lister| lister.kind().clone());
    let of_controller = std::iter::once(factory.kind()).chain(references).chain(watched).chain(listed);
    let of_tree = kinds_of_nodes(factory.shape()).into_iter().map(|(path, kind)| (Some(path), kind));
    of_tree.chain(of_controller.map(|kind| (None, kind))).collect()
}

/// Returns the kinds that the nodes of a tree apply or declare permissions for, each with the path of its node. Nodes whose objects are in
/// another cluster are left out: `NodeVisit::cluster` is empty for the cluster of the operator.
fn kinds_of_nodes(shape: &'static Shape) -> Vec<(String, Kind)> {
    let mut kinds = Vec::new();
    shape.walk(&mut |visit: NodeVisit<'_>| {
        if visit.cluster.is_empty() {
            let path = if visit.path.is_empty() { "(root)" } else { visit.path };
            let declared = visit.access().filter_map(Access::kind);
            kinds.extend(visit.local_kinds().into_iter().chain(declared).map(|kind| (path.to_owned(), kind)));
        }
    });
    kinds
}

#[cfg(test)]
mod tests;
