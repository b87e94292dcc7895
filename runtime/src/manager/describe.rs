//! Describes an operator as a `Project`, from which manifests are generated, and lists those of its kinds that have several versions or
//! need conversion.

use super::{buckets::own_buckets, defined_kind::DefinedKind, operator::Operator};
use crate::{
    controller::factory::Factory,
    kind::Kind,
    manifest::{Describe, KindDescription, Project, ProjectError, RoundTrip},
    panic::{Closure, catch},
    shape::{Node, Shape},
    versions::Versions,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

impl Operator {
    /// Returns the namespace of the operator in the manifests.
    fn manifest_namespace(&self) -> String {
        self.namespace.clone().unwrap_or_else(|| format!("{}-system", self.name))
    }

    /// Returns the controlled and the defined kinds that declare a list of API versions (`Managed::VERSIONS`), each once, with the list.
    fn versions(&self) -> BTreeMap<Kind, Versions> {
        let controlled = self.factories.iter().map(|factory| (factory.kind(), factory.versions()));
        let defined = self.defined.iter().map(|defined| (defined.kind.clone(), defined.versions));
        controlled.chain(defined).filter_map(|(kind, versions)| Some((kind, versions?()))).collect()
    }

    /// Returns the kinds whose objects the operator converts between their API versions, by a conversion webhook.
    pub(crate) fn converted_kinds(&self) -> BTreeMap<Kind, Versions> {
        let mut versions = self.versions();
        versions.retain(|_, versions| versions.need_webhook());
        versions
    }

    /// Returns the kinds with several API versions, each with the version in which the API server stores its objects. The operator
    /// migrates the objects of these kinds to that version. It returns none for an operator of one namespace, which can't list all
    /// objects of a kind.
    pub(super) fn migrated_kinds(&self) -> BTreeMap<Kind, &'static str> {
        let versions = if self.namespaced { BTreeMap::new() } else { self.versions() };
        let several = versions.into_iter().filter(|(_, versions)| versions.iter().count() > 1);
        several.map(|(kind, versions)| (kind, versions.stored())).collect()
    }

    /// Returns whether API servers call the operator: it has admission webhooks, or converts objects.
    pub(crate) fn has_webhooks(&self) -> bool {
        !self.extensions.webhooks.is_empty() || !self.converted_kinds().is_empty()
    }
}

impl Describe for Operator {
    /// Collects what the manifests are generated from: the settings of the operator, and its kinds, buckets, webhooks and policies.
    fn project(&self) -> Result<Project, ProjectError> {
        let controllers = self.factories.iter().map(describe_controlled).collect::<Result<Vec<_>, _>>()?;
        let defined = self.defined.iter().map(describe_defined);
        let controllers = controllers.into_iter().map(Ok).chain(defined).collect::<Result<_, _>>()?;
        Ok(Project {
            name: self.name.clone(),
            namespace: self.manifest_namespace(),
            version: self.version.clone(),
            image: self.image.clone().unwrap_or_else(|| self.name.clone()),
            namespaced: self.namespaced,
            objects: self.objects,
            lease: self.leader_election.clone().unwrap_or_default().name_of(&self.name),
            priority_class: self.priority_class.clone(),
            shards: self.shards.is_some(),
            is_release: false,
            own_buckets: if self.without_kubernetes { own_buckets(&self.name) } else { Vec::new() },
            used_buckets: self.used_kinds().map(|used| (used.kind, used.bucket)).collect(),
            webhooks: self.extensions.descriptions(),
            policies: self.extensions.policies.clone(),
            controllers,
        })
    }
}

/// Describes a controlled kind for the generation of manifests.
fn describe_controlled(factory: &Arc<dyn Factory>) -> Result<KindDescription, ProjectError> {
    let kind = factory.kind();
    let crd = derive_definition(&kind, || factory.crd())?;
    let codec = factory.clone();
    // A factory returns `None` either for every object or for none, so `null` is enough to learn whether it supports round trips.
    let round_trip = factory
        .round_trip(&Value::Null)
        .map(|_| RoundTrip::new(move |object| codec.round_trip(object).unwrap_or_else(|| Ok(object.clone()))));
    Ok(KindDescription {
        only_defined: false,
        crd,
        schema: catch_panic(&kind, || factory.schema())?,
        validation: factory.validation(),
        versions: factory.versions(),
        bucket: factory.bucket(),
        round_trip,
        finalizer: factory.finalizer(),
        events: factory.settings().events,
        shape: factory.shape(),
        references: factory.references(),
        watched_kinds: {
            let (mapped, listers) = (factory.settings().watches.iter(), factory.settings().listers.iter());
            mapped.map(|mapped| mapped.kind().clone()).chain(listers.map(|lister| lister.kind().clone())).collect()
        },
        upgrade: factory.settings().upgrade.as_ref().map(|hook| hook.permissions),
        selects: !factory.settings().selection.is_all(),
        sample: factory.settings().sample.clone(),
        kind,
    })
}

/// Describes a kind that the operator defines but does not reconcile, for the generation of manifests. It has an empty tree.
fn describe_defined(defined: &DefinedKind) -> Result<KindDescription, ProjectError> {
    /// The tree of a kind without controller.
    static EMPTY: Shape = Shape { node: Node::Custom, access: &[], children: &[] };
    Ok(KindDescription {
        only_defined: true,
        upgrade: None,
        selects: false,
        crd: derive_definition(&defined.kind, || Some((defined.definition)()))?,
        schema: defined.schema.map(|schema| catch_panic(&defined.kind, schema)).transpose()?,
        validation: defined.validation,
        versions: defined.versions,
        bucket: defined.bucket.clone(),
        round_trip: Some(defined.round_trip.clone()),
        finalizer: String::new(),
        events: false,
        shape: &EMPTY,
        references: Vec::new(),
        watched_kinds: Vec::new(),
        sample: None,
        kind: defined.kind.clone(),
    })
}

/// Calls the function that derives the CustomResourceDefinition of a kind, and encodes its result as JSON; `None` for a foreign kind, whose
/// definition belongs to another operator or to Kubernetes.
fn derive_definition(
    kind: &Kind,
    definition: impl FnOnce() -> Option<CustomResourceDefinition>,
) -> Result<Option<Value>, ProjectError> {
    let json = |source| ProjectError::Json { kind: kind.to_string(), source };
    catch_panic(kind, definition)?.map(serde_json::to_value).transpose().map_err(json)
}

/// Runs derived code of a kind and turns a panic into an error: `kube` panics on some types.
fn catch_panic<T>(kind: &Kind, derive: impl FnOnce() -> T) -> Result<T, ProjectError> {
    catch(Closure::Object, derive)
        .map_err(|panicked| ProjectError::Underivable { kind: kind.to_string(), message: panicked.to_string() })
}
