//! An operator, as a value.

use crate::{
    client::{selectors::PAGE_SIZE, timeouts::Timeouts},
    controller::{
        Controller,
        factory::{Factory, OfTree, round_trip},
    },
    counters::Counters,
    environment::Environment,
    kind::Kind,
    managed::{Managed, Owner},
    manifest::{Controlled, DEFAULT_OBJECTS, Described, Project, ProjectError, RoundTrip},
    panic::{Closure, catch},
    provisioner::Provision,
    reconcile::next::AFTER_CONFLICT,
    shape::{Node, Provisioner, Shape},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;
use std::{marker::PhantomData, sync::Arc, time::Duration};

/// What a binary runs, and what its manifests are made of: the kinds it controls, each with its tree.
///
/// A library exports one from a function; `operator!` makes a binary of it. The role holds what these trees need, and not
/// what happens to be linked in.
#[derive(Clone, Debug)]
pub struct Operator {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) namespaced: bool,
    pub(crate) shutdown: Duration,
    pub(crate) timeouts: Timeouts,
    pub(crate) page_size: u32,
    pub(crate) objects: u32,
    pub(crate) environment: Environment,
    pub(crate) counters: Counters,
    pub(crate) factories: Vec<Arc<dyn Factory>>,
    /// The kinds that are defined and not controlled.
    pub(crate) defined: Vec<Defined>,
}

/// How long work in flight may take to end after a signal (frameworks M6).
const SHUTDOWN: Duration = Duration::from_secs(30);

impl Operator {
    /// An operator without controllers. The name is a DNS label; it is the field manager, the value of the label that finds
    /// children, and the second part of finalizers: a new name is a new operator.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: "0.0.0".to_owned(),
            namespace: None,
            image: None,
            namespaced: false,
            shutdown: SHUTDOWN,
            timeouts: Timeouts::default(),
            page_size: PAGE_SIZE,
            objects: DEFAULT_OBJECTS,
            environment: Environment::system(),
            counters: Counters::default(),
            factories: Vec::new(),
            defined: Vec::new(),
        }
    }

    /// The version, for labels, the image's tag and `--version`. Default: `0.0.0`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// The namespace that the manifests put the operator into. Default: `<name>-system`.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// The image that the manifests run; the version is its tag unless it has one. Default: the operator's name.
    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = Some(image.into());
        self
    }

    /// Watches its own namespace only; the manifests then have a `Role` instead of a `ClusterRole`. Default: all namespaces.
    #[must_use]
    pub fn namespaced(mut self) -> Self {
        self.namespaced = true;
        self
    }

    /// How long work in flight may take to end after a signal. Default: 30 s.
    #[must_use]
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown = timeout;
        self
    }

    /// How long calls of the API server may take. Default: those of [`Timeouts::default`]. The flags `--connect-timeout`,
    /// `--response-timeout`, `--body-timeout` and `--watch-timeout` of the binary take precedence.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// How many objects one page of a list holds at most; never less than one. A page is in memory as a whole, twice while it is
    /// decoded, so large objects want small pages; more pages are more requests. Default: 500.
    #[must_use]
    pub fn page_size(mut self, objects: u32) -> Self {
        self.page_size = objects.max(1);
        self
    }

    /// How many objects the operator is expected to hold: primaries, what is made of them, and whatever else is watched. The memory
    /// that the generated Deployment asks for, and its limit, follow from it. They are a request of 32 MiB and
    /// 3.2 KiB an object, and a limit of four times the request. Measured at rest were 14 MiB and 2.8 KiB for a Pod of 3.4 KB, or
    /// 1.4 KiB for a custom object of 1 KB or its child. Larger objects need more: say a larger number. Default: 10,000, for a limit
    /// of 256 MiB.
    ///
    /// | objects | request | limit |
    /// |---|---|---|
    /// | 10,000 | 64 MiB | 256 MiB |
    /// | 100,000 | 345 MiB | 1,380 MiB |
    #[must_use]
    pub fn objects(mut self, objects: u32) -> Self {
        self.objects = objects;
        self
    }

    /// Another clock and other dice, for tests.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// What it counts while it runs, for metrics. Clones of the operator count together.
    pub fn counters(&self) -> Counters {
        self.counters.clone()
    }

    /// The longest time for which it may leave an object alone that is not as wanted, without the jitter of at most a
    /// tenth: the longest of its controllers' requeues, delays after errors and polls, and of the delays after a conflict.
    pub fn longest_pause(&self) -> Duration {
        let pauses = self.factories.iter().map(|factory| {
            let settings = factory.settings();
            settings.requeue.max(settings.errors.after(u32::MAX)).max(settings.poll.unwrap_or_default())
        });
        pauses.max().unwrap_or_default().max(AFTER_CONFLICT.after(u32::MAX))
    }

    /// Controls the objects of a kind by a tree.
    #[must_use]
    pub fn controls<O, P>(self) -> Self
    where
        O: Owner<Item = (), Options: Default>,
        P: Provision<O> + Provisioner<Takes = ()>,
    {
        self.controls_with::<O, P>(|controller| controller)
    }

    /// Controls the objects of a kind by a tree, with options.
    #[must_use]
    pub fn controls_with<O, P>(self, options: impl FnOnce(Controller<O>) -> Controller<O>) -> Self
    where
        O: Owner<Item = (), Options: Default>,
        P: Provision<O> + Provisioner<Takes = ()>,
    {
        let (operator, controller) = (self.name.clone(), options(Controller::default()));
        self.controls_by(OfTree::<O, P> { operator, controller, tree: PhantomData })
    }

    /// Installs the definition of a kind without controlling its objects: other controllers of the operator make and read them.
    /// A foreign kind has no definition to install.
    #[must_use]
    pub fn defines<K: Managed>(mut self) -> Self {
        self.defined.extend(K::DEFINITION.map(|definition| Defined {
            kind: K::kind(),
            definition,
            schema: K::SCHEMA,
            round_trip: RoundTrip::new(round_trip::<K>),
        }));
        self
    }

    /// Controls the objects of a kind by a factory of your own.
    #[must_use]
    pub fn controls_by(mut self, factory: impl Factory) -> Self {
        self.factories.push(Arc::new(factory));
        self
    }

    pub(crate) fn home(&self) -> String {
        self.namespace.clone().unwrap_or_else(|| format!("{}-system", self.name))
    }
}

impl Described for Operator {
    fn project(&self) -> Result<Project, ProjectError> {
        let controllers = self.factories.iter().map(controlled).collect::<Result<Vec<_>, _>>()?;
        let defined = self.defined.iter().map(defined);
        let controllers = controllers.into_iter().map(Ok).chain(defined).collect::<Result<_, _>>()?;
        Ok(Project {
            name: self.name.clone(),
            namespace: self.home(),
            version: self.version.clone(),
            image: self.image.clone().unwrap_or_else(|| self.name.clone()),
            namespaced: self.namespaced,
            objects: self.objects,
            controllers,
        })
    }
}

fn controlled(factory: &Arc<dyn Factory>) -> Result<Controlled, ProjectError> {
    let kind = factory.kind();
    let crd = derived(&kind, || factory.crd())?;
    let decoder = factory.clone();
    // A factory that has no round trip for one object has none for any.
    let round_trip = factory
        .round_trip(&Value::Null)
        .map(|_| RoundTrip::new(move |object| decoder.round_trip(object).unwrap_or_else(|| Ok(object.clone()))));
    Ok(Controlled {
        only_defined: false,
        crd,
        schema: caught(&kind, || factory.schema())?,
        round_trip,
        finalizer: factory.finalizer(),
        events: factory.settings().events,
        shape: factory.shape(),
        references: factory.references(),
        followed: {
            let (mapped, kept) = (factory.settings().mapped.iter(), factory.settings().kept.iter());
            mapped.map(|mapped| mapped.kind().clone()).chain(kept.map(|kept| kept.kind().clone())).collect()
        },
        selects: !factory.settings().selection.is_all(),
        sample: factory.settings().sample.clone(),
        kind,
    })
}

/// A kind whose definition is installed, and whose objects have no controller here.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    kind: Kind,
    definition: fn() -> CustomResourceDefinition,
    schema: Option<fn() -> Value>,
    round_trip: RoundTrip,
}

fn defined(defined: &Defined) -> Result<Controlled, ProjectError> {
    /// Nothing is done for its objects.
    static NOTHING: Shape = Shape { node: Node::Custom, access: &[], children: &[] };
    Ok(Controlled {
        only_defined: true,
        selects: false,
        crd: derived(&defined.kind, || Some((defined.definition)()))?,
        schema: defined.schema.map(|schema| caught(&defined.kind, schema)).transpose()?,
        round_trip: Some(defined.round_trip.clone()),
        finalizer: String::new(),
        events: false,
        shape: &NOTHING,
        references: Vec::new(),
        followed: Vec::new(),
        sample: None,
        kind: defined.kind.clone(),
    })
}

/// The definition as JSON.
fn derived(
    kind: &Kind,
    definition: impl FnOnce() -> Option<CustomResourceDefinition>,
) -> Result<Option<Value>, ProjectError> {
    let json = |source| ProjectError::Json { kind: kind.to_string(), source };
    caught(kind, definition)?.map(serde_json::to_value).transpose().map_err(json)
}

/// Runs derived code of a kind; `kube` panics on some types.
fn caught<T>(kind: &Kind, derive: impl FnOnce() -> T) -> Result<T, ProjectError> {
    catch(Closure::Object, derive)
        .map_err(|panicked| ProjectError::Underivable { kind: kind.to_string(), message: panicked.to_string() })
}
