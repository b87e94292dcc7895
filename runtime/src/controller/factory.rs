//! `Factory` describes one controlled kind (definition, tree, settings) and builds its reconciler.

use super::{Controller, Settings};
use crate::{
    bucket::{BucketDefinition, KindInBucket},
    cache::Codec,
    kind::Kind,
    managed::{Managed, Owner},
    provisioner::Provision,
    reconcile::{reconciler::Reconciler, tree::TreeReconciler},
    reference::Pointer,
    shape::{Provisioner, Shape},
    validation::ValidationOf,
    versions::VersionsOf,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;
use std::{collections::BTreeSet, fmt, marker::PhantomData, sync::Arc};

/// Describes one controlled kind: its definition, its tree, and how its controller runs. The manifests are generated from it.
///
/// `Operator::controls` creates the usual factory from a kind and a tree. A factory of your own can wrap that one to change
/// facts. Its hooks are in its [settings](Factory::settings).
pub trait Factory: fmt::Debug + Send + Sync + 'static {
    /// Returns the kind.
    fn kind(&self) -> Kind;
    /// Returns the CustomResourceDefinition of the kind; `None` for a foreign kind.
    fn crd(&self) -> Option<CustomResourceDefinition>;
    /// Returns the schema of the definition with named types ([`Managed::SCHEMA`]); `None` by default.
    fn schema(&self) -> Option<Value> {
        None
    }
    /// Returns the rules between the fields of the spec ([`Managed::VALIDATION`]); `None` by default.
    fn validation(&self) -> Option<ValidationOf> {
        None
    }
    /// Returns the versions of the kind ([`Managed::VERSIONS`]); `None` by default.
    fn versions(&self) -> Option<VersionsOf> {
        None
    }
    /// Returns the bucket that keeps the objects ([`Managed::BUCKET`]); `None` by default: they are in Kubernetes.
    fn bucket(&self) -> Option<BucketDefinition> {
        None
    }
    /// Decodes an object, in the form of the API, into its Rust type and encodes it again. The generator of manifests checks with
    /// it that the type decodes every value that the schema admits, and encodes no field that the schema prunes. `None` (the
    /// default) checks nothing.
    fn round_trip(&self, object: &Value) -> Option<serde_json::Result<Value>> {
        let _ = object;
        None
    }
    /// Returns the tree, as data.
    fn shape(&self) -> &'static Shape;
    /// Returns the kinds that its specs ([`Managed::REFERENCES`]) and its nodes reference; none by default.
    fn references(&self) -> Vec<Kind> {
        Vec::new()
    }
    /// Returns the kinds in buckets that its specs and its nodes use, so that the operator opens their buckets; none by default.
    fn kinds_in_buckets(&self) -> Vec<KindInBucket> {
        Vec::new()
    }
    /// Returns the facts of the spec of an object, in the form of the API: whether it is paused, and which objects it references.
    /// None by default.
    ///
    /// # Errors
    /// If the object can't be decoded.
    fn spec_facts(&self, object: &Value) -> serde_json::Result<SpecFacts> {
        let _ = object;
        Ok(SpecFacts::default())
    }
    /// Returns the finalizer of the controlled objects; empty for none.
    fn finalizer(&self) -> String;
    /// Returns the settings of the controller.
    fn settings(&self) -> &Settings;
    /// Returns the reconciler of the controller.
    fn reconciler(&self, codec: &Arc<Codec>) -> BoxReconciler;
}

/// Facts of the spec of an object.
#[derive(Clone, Debug, Default)]
pub struct SpecFacts {
    /// Whether the object is paused, so that its controller leaves it alone.
    pub paused: bool,
    /// The references of the spec.
    pub(crate) references: Vec<Pointer>,
}

/// A reconciler without type parameters: it runs the tree of one kind.
pub struct BoxReconciler(pub(crate) Box<dyn Reconciler>);

impl BoxReconciler {
    /// Creates a reconciler that runs the tree `P` for objects of `O`.
    pub fn tree<O, P>(options: Arc<O::Options>, codec: &Arc<Codec>) -> Self
    where
        O: Owner<Item = ()>,
        P: Provision<O> + Provisioner<Inputs = ()>,
    {
        let reader = crate::cache::Reader::new(codec.clone());
        Self(Box::new(TreeReconciler::<O, P> { reader, options, resync_period: None, tree: PhantomData }))
    }
}

impl fmt::Debug for BoxReconciler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxReconciler")
    }
}

/// Decodes an object of the kind `K` and encodes it again.
pub(crate) fn round_trip<K: Managed>(object: &Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<K>(object.clone())?)
}

/// The factory that `Operator::controls` creates from the type of an owner and its tree.
pub(crate) struct TreeFactory<O: Owner, P> {
    pub(crate) operator: String,
    pub(crate) controller: Controller<O>,
    pub(crate) tree: PhantomData<fn() -> P>,
}

impl<O: Owner<Item = ()>, P: Provision<O> + Provisioner<Inputs = ()>> Factory for TreeFactory<O, P> {
    fn kind(&self) -> Kind {
        O::Object::kind()
    }

    fn crd(&self) -> Option<CustomResourceDefinition> {
        O::Object::DEFINITION.map(|definition| definition())
    }

    fn schema(&self) -> Option<Value> {
        O::Object::SCHEMA.map(|schema| schema())
    }

    fn validation(&self) -> Option<ValidationOf> {
        O::Object::VALIDATION
    }

    fn versions(&self) -> Option<VersionsOf> {
        O::Object::VERSIONS
    }

    fn bucket(&self) -> Option<BucketDefinition> {
        O::Object::BUCKET
    }

    fn round_trip(&self, object: &Value) -> Option<serde_json::Result<Value>> {
        Some(round_trip::<O::Object>(object))
    }

    fn shape(&self) -> &'static Shape {
        &P::SHAPE
    }

    /// Returns the kinds that reference fields of the spec and nodes of the tree name, sorted and without duplicates.
    fn references(&self) -> Vec<Kind> {
        let of_spec = O::Object::REFERENCES.iter().map(|reference| (reference.kind)());
        let kinds: BTreeSet<_> = of_spec.chain(self.shape().kinds_referenced()).collect();
        kinds.into_iter().collect()
    }

    /// Returns the kinds stored in buckets that reference fields of the spec name, and those that nodes of the tree use.
    fn kinds_in_buckets(&self) -> Vec<KindInBucket> {
        let of_spec = O::Object::REFERENCES.iter().filter_map(|reference| (reference.bucket)());
        of_spec.chain(self.shape().kinds_in_buckets()).collect()
    }

    /// Decodes an object, and returns whether it is paused and which objects the reference fields of its spec name.
    fn spec_facts(&self, object: &Value) -> serde_json::Result<SpecFacts> {
        let object: O::Object = serde_json::from_value(object.clone())?;
        let references = Pointer::all(O::Object::REFERENCES, &object, object.metadata().namespace.as_deref());
        Ok(SpecFacts { paused: object.paused(), references })
    }

    fn finalizer(&self) -> String {
        self.controller.finalizer_of(&self.operator)
    }

    fn settings(&self) -> &Settings {
        &self.controller.settings
    }

    /// Creates the reconciler that runs the tree `P`, with the options and the resync period of the controller. `codec` decodes the objects
    /// that the cache keeps encoded.
    fn reconciler(&self, codec: &Arc<Codec>) -> BoxReconciler {
        let (options, resync_period) = (self.controller.options.clone(), self.controller.resync_period.clone());
        let reader = crate::cache::Reader::new(codec.clone());
        BoxReconciler(Box::new(TreeReconciler::<O, P> { reader, options, resync_period, tree: PhantomData }))
    }
}

impl<O: Owner, P> fmt::Debug for TreeFactory<O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeFactory").field("controller", &self.controller).finish_non_exhaustive()
    }
}
