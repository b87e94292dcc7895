//! What builds a controller.

use super::{Controller, Settings};
use crate::{
    cache::Codec,
    error::Result,
    kind::Kind,
    managed::{Managed, Owner},
    provisioner::Provision,
    reconcile::{reconciler::Reconciler, tree::Tree},
    reference::Pointer,
    shape::{Provisioner, Shape},
};
use futures::future::{BoxFuture, FutureExt};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;
use std::{collections::BTreeSet, fmt, marker::PhantomData, sync::Arc};

/// Everything an operator has to know of one kind: what it is, what is generated from it, and how it is run.
///
/// `Operator::controls` makes the usual one, of a kind and a tree. One of your own can wrap that, to say other facts or to
/// do something before its controller runs.
pub trait Factory: fmt::Debug + Send + Sync + 'static {
    /// The kind.
    fn kind(&self) -> Kind;
    /// Its definition; `None` for a kind that is not the operator's own.
    fn crd(&self) -> Option<CustomResourceDefinition>;
    /// The schema of its definition with the types by name ([`Managed::SCHEMA`]); `None` by default.
    fn schema(&self) -> Option<Value> {
        None
    }
    /// Decodes an object, as the API has it, into its Rust type and encodes it again. Manifests are checked by it: the type
    /// decodes whatever the schema admits, and keeps nothing that the schema drops. `None` (the default) checks nothing.
    fn round_trip(&self, object: &Value) -> Option<serde_json::Result<Value>> {
        let _ = object;
        None
    }
    /// Its tree, as data.
    fn shape(&self) -> &'static Shape;
    /// The kinds of the objects that its objects name ([`Managed::REFERENCES`]), and that its nodes reference; none by default.
    fn references(&self) -> Vec<Kind> {
        Vec::new()
    }
    /// What an object, as the API has it, says of itself: whether it is left alone, and what it names. Nothing by default.
    ///
    /// # Errors
    /// If it doesn't have the form of its kind.
    fn told(&self, object: &Value) -> serde_json::Result<SpecFacts> {
        let _ = object;
        Ok(SpecFacts::default())
    }
    /// The finalizer it puts on its objects; empty for none.
    fn finalizer(&self) -> String;
    /// How passes are scheduled, and what is recorded.
    fn settings(&self) -> &Settings;
    /// What runs a pass.
    fn reconciler(&self, codec: &Arc<Codec>) -> Runs;

    /// Runs once, before the controller watches anything; an error ends the operator (unikorn N7).
    fn initialize(&self, client: kube::Client) -> BoxFuture<'_, Result<()>> {
        drop(client);
        async { Ok(()) }.boxed()
    }

    /// Runs once before [`Factory::initialize`], to bring objects of earlier releases up to date; it may touch metadata,
    /// never specs (unikorn N6).
    fn upgrade(&self, client: kube::Client) -> BoxFuture<'_, Result<()>> {
        drop(client);
        async { Ok(()) }.boxed()
    }
}

/// What an object says of itself.
#[derive(Clone, Debug, Default)]
pub struct SpecFacts {
    /// Whether it is left alone.
    pub paused: bool,
    /// What it says of other objects.
    pub(crate) named: Vec<Pointer>,
}

/// What runs a pass: a tree for a kind, with the types gone.
pub struct Runs(pub(crate) Box<dyn Reconciler>);

impl Runs {
    /// The tree `P` for objects of `O`.
    pub fn tree<O, P>(options: Arc<O::Options>, codec: &Arc<Codec>) -> Self
    where
        O: Owner<Item = ()>,
        P: Provision<O> + Provisioner<Takes = ()>,
    {
        let reader = crate::cache::Reader::new(codec.clone());
        Self(Box::new(Tree::<O, P> { reader, options, period: None, tree: PhantomData }))
    }
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Runs")
    }
}

/// Decodes an object of the kind `K` and encodes it again.
pub(crate) fn round_trip<K: Managed>(object: &Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<K>(object.clone())?)
}

/// The usual factory: a managed kind and its tree.
pub(crate) struct OfTree<O: Owner, P> {
    pub(crate) operator: String,
    pub(crate) controller: Controller<O>,
    pub(crate) tree: PhantomData<fn() -> P>,
}

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Takes = ()>> Factory for OfTree<O, P> {
    fn kind(&self) -> Kind {
        O::Object::kind()
    }

    fn crd(&self) -> Option<CustomResourceDefinition> {
        O::Object::DEFINITION.map(|definition| definition())
    }

    fn schema(&self) -> Option<Value> {
        O::Object::SCHEMA.map(|schema| schema())
    }

    fn round_trip(&self, object: &Value) -> Option<serde_json::Result<Value>> {
        Some(round_trip::<O::Object>(object))
    }

    fn shape(&self) -> &'static Shape {
        &P::SHAPE
    }

    fn references(&self) -> Vec<Kind> {
        let of_spec = O::Object::REFERENCES.iter().map(|reference| (reference.kind)());
        let kinds: BTreeSet<_> = of_spec.chain(self.shape().kinds_referenced()).collect();
        kinds.into_iter().collect()
    }

    fn told(&self, object: &Value) -> serde_json::Result<SpecFacts> {
        let object: O::Object = serde_json::from_value(object.clone())?;
        let named = Pointer::all(O::Object::REFERENCES, &object, object.metadata().namespace.as_deref());
        Ok(SpecFacts { paused: object.paused(), named })
    }

    fn finalizer(&self) -> String {
        self.controller.finalizer_of(&self.operator)
    }

    fn settings(&self) -> &Settings {
        &self.controller.settings
    }

    fn reconciler(&self, codec: &Arc<Codec>) -> Runs {
        let (options, period) = (self.controller.options.clone(), self.controller.period.clone());
        let reader = crate::cache::Reader::new(codec.clone());
        Runs(Box::new(Tree::<O, P> { reader, options, period, tree: PhantomData }))
    }
}

impl<O: Owner, P> fmt::Debug for OfTree<O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfTree").field("controller", &self.controller).finish_non_exhaustive()
    }
}
