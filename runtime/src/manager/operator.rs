//! An operator, as a value.

use crate::{
    controller::{
        Controller,
        factory::{Factory, OfTree},
    },
    environment::Environment,
    kind::Kind,
    managed::{Managed, Owner},
    manifest::{Controlled, Described, Project, ProjectError},
    provisioner::{
        Provision, Provisioner,
        shape::{Node, Shape},
    },
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;
use std::{marker::PhantomData, panic::AssertUnwindSafe, sync::Arc, time::Duration};

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
    pub(crate) environment: Environment,
    pub(crate) factories: Vec<Arc<dyn Factory>>,
    /// The kinds that are defined and not controlled, each with what gives its definition.
    pub(crate) defined: Vec<(Kind, fn() -> CustomResourceDefinition)>,
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
            environment: Environment::system(),
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

    /// Another clock and other dice, for tests.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// The longest time for which it may leave an object alone that is not as wanted, without the jitter of at most a
    /// tenth: the longest of its controllers' requeues, delays after errors and polls.
    pub fn longest_pause(&self) -> Duration {
        let pauses = self.factories.iter().map(|factory| {
            let settings = factory.settings();
            settings.requeue.max(settings.errors.after(u32::MAX)).max(settings.poll.unwrap_or_default())
        });
        pauses.max().unwrap_or_default()
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
        self.defined.extend(K::DEFINITION.map(|definition| (K::kind(), definition)));
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
        let controllers =
            self.factories.iter().map(|factory| controlled(factory.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let defined = self.defined.iter().map(|(kind, definition)| defined(kind, *definition));
        let controllers = controllers.into_iter().map(Ok).chain(defined).collect::<Result<_, _>>()?;
        Ok(Project {
            name: self.name.clone(),
            namespace: self.home(),
            version: self.version.clone(),
            image: self.image.clone().unwrap_or_else(|| self.name.clone()),
            namespaced: self.namespaced,
            controllers,
        })
    }
}

fn controlled(factory: &dyn Factory) -> Result<Controlled, ProjectError> {
    let kind = factory.kind();
    let crd = derived(&kind, || factory.crd())?;
    Ok(Controlled {
        only_defined: false,
        crd,
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

fn defined(kind: &Kind, definition: fn() -> CustomResourceDefinition) -> Result<Controlled, ProjectError> {
    /// Nothing is done for its objects.
    static NOTHING: Shape = Shape { node: Node::Custom, access: &[], children: &[] };
    Ok(Controlled {
        only_defined: true,
        selects: false,
        crd: derived(kind, || Some(definition()))?,
        finalizer: String::new(),
        events: false,
        shape: &NOTHING,
        references: Vec::new(),
        followed: Vec::new(),
        sample: None,
        kind: kind.clone(),
    })
}

/// The definition as JSON; `kube` panics on some types.
fn derived(
    kind: &Kind,
    definition: impl FnOnce() -> Option<CustomResourceDefinition>,
) -> Result<Option<Value>, ProjectError> {
    let crd = std::panic::catch_unwind(AssertUnwindSafe(definition)).map_err(|payload| {
        let message = crate::provisioner::order::Panicked::from(payload).to_string();
        ProjectError::Underivable { kind: kind.to_string(), message }
    })?;
    let json = |source| ProjectError::Json { kind: kind.to_string(), source };
    crd.map(serde_json::to_value).transpose().map_err(json)
}
