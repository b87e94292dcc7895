//! `KubernetesSource` lists and watches the primaries of one kind, the objects that a controller reconciles, and writes their finalizers
//! and status.

use crate::{
    cache::{Change, Encoded, Header, ObjectKey, PrimaryCache, ResourceVersion, Store},
    client::{CallError, Client, Target, selectors::Selectors},
    error::{Error, Result},
    informer::{
        event_handler::EventHandler,
        fan_out::FanOut,
        namespaces::Namespaces,
        reflector::{self, WatchScope},
        sharded,
        source::{OnChange, Selection, Source, StatusFields, UncachedObject},
        watch::Health,
    },
    kind::Kind,
    shard::{gate::Shards, watch::ShardedWatch},
};
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, value::RawValue};
use std::{collections::BTreeSet, sync::Arc};

/// The primaries of one kind in a Kubernetes API. It protects them from deletion by a finalizer.
#[derive(Debug)]
pub(crate) struct KubernetesSource {
    kind: Kind,
    client: Client,
    /// The name of the operator, which is also its field manager.
    operator: String,
    namespaces: Namespaces,
    selection: Selection,
    /// Shared with the sources of other operators of the process.
    objects: Arc<PrimaryCache>,
    health: Health,
    /// The shards of this replica; `None` if it has all objects.
    shards: Option<Shards>,
}

/// The callback for a primary that left the cache because this replica no longer holds its shard.
pub(crate) type OnDropped<'a> = &'a (dyn Fn(&ObjectKey) + Send + Sync);

impl KubernetesSource {
    /// Creates the source of the selected objects of `kind` in these namespaces.
    pub(crate) fn new(
        client: Client,
        kind: Kind,
        operator: &str,
        namespaces: Namespaces,
        selection: Selection,
    ) -> Self {
        let (objects, health) = (Arc::default(), Health::new(kind.clone()));
        let operator = operator.to_owned();
        Self { kind, client, operator, namespaces, selection, objects, health, shards: None }
    }

    /// Returns the source for another operator of the process: it shares the cache and the watch, and writes with that operator's field
    /// manager.
    pub(crate) fn for_operator(&self, operator: &str) -> Self {
        Self {
            kind: self.kind.clone(),
            client: self.client.clone(),
            operator: operator.to_owned(),
            namespaces: self.namespaces.clone(),
            selection: self.selection.clone(),
            objects: self.objects.clone(),
            health: self.health.clone(),
            shards: self.shards.clone(),
        }
    }

    /// Returns whether this is its cache.
    pub(crate) fn shares_cache(&self, cache: &PrimaryCache) -> bool {
        std::ptr::eq(self.objects.as_ref(), cache)
    }

    /// Replaces the health, so that it is shared with the other users of the watch.
    pub(crate) fn with_health(self, health: Health) -> Self {
        Self { health, ..self }
    }

    /// Caches only objects of the shards that this replica holds.
    pub(crate) fn with_shards(self, shards: Option<Shards>) -> Self {
        Self { shards, ..self }
    }

    /// Runs the watch and fills the cache. It never returns.
    ///
    /// `other_sinks` share the watch. Each gets an event before the cache and `on_change` do, so a pass that `on_change` enqueues
    /// finds their stores up to date.
    pub(crate) async fn run(
        &self,
        on_change: OnChange<'_>,
        on_dropped: OnDropped<'_>,
        other_sinks: &FanOut<'static>,
        sharded_watch: Option<&Arc<ShardedWatch>>,
    ) {
        let (labels, fields) = (self.selection.label_selector(), self.selection.field_selector());
        let scope = WatchScope {
            labels: labels.as_deref(),
            fields: fields.as_deref(),
            ..WatchScope::all(&self.client, &self.namespaces)
        };
        let mut sinks: FanOut<'_> = other_sinks.clone();
        let (health, objects, shards) = (&self.health, &self.objects, self.shards.as_ref());
        sinks.push(Arc::new(PrimaryHandler { health, objects, shards, on_change, on_dropped }));
        let client = self.client.kube();
        match sharded_watch {
            Some(watch) => sharded::run(client, &self.kind, scope, &sinks, health, watch).await,
            None => reflector::run(client, &self.kind, scope, &sinks, health).await,
        }
    }

    /// Returns whether the source has exactly these objects in the same version, so that another controller of the kind can use its
    /// cache.
    pub(crate) fn serves(&self, kind: &Kind, selection: &Selection) -> bool {
        self.kind.is_same_version(kind) && self.selection == *selection
    }

    /// Returns the name of the operator.
    pub(crate) fn operator(&self) -> &str {
        &self.operator
    }

    /// Creates the state of a watch that has only objects of held shards; `None` without shards. `is_shared` is true if other handlers
    /// of the watch need all objects, so that the requests don't select by shard.
    pub(crate) fn sharded_watch(&self, is_shared: bool) -> Option<Arc<ShardedWatch>> {
        self.shards.as_ref().map(|shards| shards.add_watch(&self.health, !is_shared))
    }

    /// Returns the field manager of status writes.
    fn status_manager(&self) -> String {
        format!("{}/status", self.operator)
    }

    fn target<'a>(&'a self, object: &'a Header) -> Target<'a> {
        Target { kind: &self.kind, namespace: object.key.namespace(), name: object.key.name() }
    }
}

/// Returns the resourceVersion of the object in a response of the API server.
fn version_of(response: Result<Value, CallError>) -> Result<ResourceVersion> {
    Ok(ResourceVersion::from(response?["metadata"]["resourceVersion"].as_str().unwrap_or_default()))
}

impl Source for KubernetesSource {
    fn kind(&self) -> &Kind {
        &self.kind
    }

    fn objects(&self) -> &PrimaryCache {
        &self.objects
    }

    fn health(&self) -> &Health {
        &self.health
    }

    fn has_selector(&self) -> bool {
        !self.selection.is_all()
    }

    /// Reads the live object to learn whether it is deleted or no longer selected. Without a selector the cache has all objects, so the
    /// object is deleted, and no request is sent.
    fn read_uncached<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<UncachedObject>> {
        async move {
            if !self.has_selector() {
                return Ok(UncachedObject::Deleted);
            }
            let target = Target { kind: &self.kind, namespace: key.namespace(), name: key.name() };
            // A list with a field selector: the role grants `list` and not `get`.
            Ok(match self.client.list_named(target).await? {
                None => UncachedObject::Deleted,
                Some(object) if self.selection.matches(&object) => UncachedObject::Selected,
                Some(object) => UncachedObject::Deselected(object.to_string().into_bytes()),
            })
        }
        .boxed()
    }

    /// Lists the objects with the finalizer that do not match the selection, by one list for each label and field: it selects the objects
    /// with another value of this label or field, or without it. The set removes the repetitions of objects that several lists contain.
    fn list_deselected<'a>(&'a self, finalizer: &'a str) -> BoxFuture<'a, Result<Vec<ObjectKey>>> {
        async move {
            let client = self.client.metadata_client();
            let namespace = self.namespaces.request_namespace().filter(|_| self.kind.namespaced);
            let target = Target { kind: &self.kind, namespace, name: "" };
            let mut keys = BTreeSet::new();
            for (labels, fields) in self.selection.inverse_selectors() {
                let selectors = Selectors { labels: labels.as_deref(), fields: fields.as_deref() };
                let key_if_finalizer = |item: Box<RawValue>| {
                    let header = Header::parse(item.get().as_bytes())
                        .inspect_err(
                            |error| tracing::error!(kind = %self.kind, %error, "failed to decode an object of a list"),
                        )
                        .ok()?;
                    let is_watched = header.key.namespace().is_none_or(|namespace| self.namespaces.contains(namespace));
                    (is_watched && header.finalizers.contains(finalizer)).then_some(header.key)
                };
                keys.extend(client.list_each(target, selectors, key_if_finalizer).await?);
            }
            Ok(keys.into_iter().collect())
        }
        .boxed()
    }

    /// Sends a patch that adds the finalizer to the version of the object that was read, and returns the new version.
    fn add_finalizer<'a>(&'a self, object: &'a Header, finalizer: &'a str) -> BoxFuture<'a, Result<ResourceVersion>> {
        async move {
            version_of(self.client.add_finalizer(self.target(object), object, finalizer, &self.operator).await)
        }
        .boxed()
    }

    /// Sends a patch that removes the finalizer, and returns the new version. For an object without the finalizer it sends nothing and
    /// returns the version of `object`.
    fn remove_finalizer<'a>(
        &'a self,
        object: &'a Header,
        finalizer: &'a str,
    ) -> BoxFuture<'a, Result<ResourceVersion>> {
        async move {
            let target = self.target(object);
            match self.client.remove_finalizer(target, object, finalizer, &self.operator).await {
                Ok(None) => Ok(object.resource_version.clone()),
                Ok(Some(response)) => version_of(Ok(response)),
                Err(error) => Err(error.into()),
            }
        }
        .boxed()
    }

    /// Sends the whole object, although the server takes only the status from it: a conversion webhook gets the whole object.
    fn write_status<'a>(
        &'a self,
        header: &'a Header,
        version: &'a ResourceVersion,
        mut object: Value,
    ) -> BoxFuture<'a, Result<ResourceVersion>> {
        async move {
            object["apiVersion"] = self.kind.api_version().into();
            object["kind"] = self.kind.kind.clone().into();
            object["metadata"]["resourceVersion"] = version.to_string().into();
            let manager = self.status_manager();
            version_of(self.client.replace_subresource(self.target(header), "status", &object, &manager).await)
        }
        .boxed()
    }

    /// Reads the object, and returns the field sets of its status: those of the operator's field manager for status writes, and the others.
    fn status_fields<'a>(&'a self, header: &'a Header) -> BoxFuture<'a, Result<StatusFields>> {
        async move {
            // A list with a field selector: the role grants `list` and not `get`.
            let object = self.client.list_named(self.target(header)).await?.unwrap_or_default();
            let metadata = &object["metadata"];
            if metadata["uid"] != header.uid.to_string() {
                return Err(Error::Conflict("another object has the same name".into()));
            }
            let mut fields = StatusFields::default();
            for entry in metadata["managedFields"].as_array().into_iter().flatten() {
                let Some(set) = entry.pointer("/fieldsV1/f:status") else { continue };
                let is_ours = entry["manager"] == self.status_manager();
                if is_ours { &mut fields.ours } else { &mut fields.others }.push(set.clone());
            }
            Ok(fields)
        }
        .boxed()
    }
}

/// Stores the primaries and passes their changes to the controllers.
struct PrimaryHandler<'a> {
    health: &'a Health,
    objects: &'a PrimaryCache,
    shards: Option<&'a Shards>,
    on_change: OnChange<'a>,
    on_dropped: OnDropped<'a>,
}

impl EventHandler for PrimaryHandler<'_> {
    type Projection = Encoded;

    fn health(&self) -> &Health {
        self.health
    }

    fn store(&self) -> &Store<Encoded> {
        self.objects.store()
    }

    fn store_object(&self, json: &[u8], _from_list: bool) -> Result<Change<Encoded>> {
        Ok(self.objects.apply_own(json, |header| self.is_own(header))?)
    }

    fn on_change(&self, change: &Change<Encoded>, from_list: bool) {
        (self.on_change)(change, from_list);
    }

    fn is_own(&self, header: &Header) -> bool {
        self.shards.is_none_or(|shards| shards.contains(&header.uid))
    }

    fn on_dropped(&self, header: &Header) {
        (self.on_dropped)(&header.key);
    }
}
