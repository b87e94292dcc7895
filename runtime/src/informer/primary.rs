//! Primaries in a Kubernetes API.

use crate::{
    cache::{Change, Encoded, Header, ObjectKey, PrimaryCache, ResourceVersion, Store},
    client::{CallError, Client, Target, selectors::Selectors},
    error::{Error, Result},
    informer::{
        event_handler::Follower,
        fan_out::Sinks,
        reflector::WatchScope,
        source::{OnChange, Selection, Source, StatusFields, Stray},
        watch::Health,
    },
    kind::Kind,
};
use futures::future::{BoxFuture, FutureExt};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Watches the objects of a custom kind; claims them by finalizers.
#[derive(Debug)]
pub(crate) struct Kubernetes {
    kind: Kind,
    client: Client,
    /// Name of the operator, and so of its field manager.
    operator: String,
    namespace: Option<String>,
    selection: Selection,
    objects: PrimaryCache,
    health: Health,
}

impl Kubernetes {
    /// The selected objects of `kind` in one namespace, or in all.
    pub(crate) fn new(
        client: Client,
        kind: Kind,
        operator: &str,
        namespace: Option<String>,
        selection: Selection,
    ) -> Self {
        let (objects, health) = (PrimaryCache::default(), Health::new(kind.clone()));
        Self { kind, client, operator: operator.to_owned(), namespace, selection, objects, health }
    }

    /// The same, with a watch whose health is known elsewhere, too.
    pub(crate) fn with_health(self, health: Health) -> Self {
        Self { health, ..self }
    }

    /// Fills the cache and follows changes, for ever; the `sinks` are told of each before.
    pub(crate) async fn feed(&self, on_change: OnChange<'_>, beside: &Sinks<'static>) {
        let (labels, fields) = (self.selection.label_selector(), self.selection.field_selector());
        let scope = WatchScope {
            labels: labels.as_deref(),
            fields: fields.as_deref(),
            ..WatchScope::all(&self.client, self.namespace.as_deref())
        };
        let mut sinks: Sinks<'_> = beside.clone();
        sinks.push(Arc::new(Primaries { kind: &self.kind, objects: &self.objects, on_change }));
        crate::informer::reflector::follow(self.client.kube(), &self.kind, scope, &sinks, &self.health).await;
    }

    /// Whether it shows just these.
    pub(crate) fn is_of(&self, kind: &Kind, selection: &Selection) -> bool {
        self.kind == *kind && self.selection == *selection
    }

    fn status_manager(&self) -> String {
        format!("{}/status", self.operator)
    }

    fn target<'a>(&'a self, object: &'a Header) -> Target<'a> {
        Target { kind: &self.kind, namespace: object.key.namespace(), name: object.key.name() }
    }
}

fn version_of(answer: Result<Value, CallError>) -> Result<ResourceVersion> {
    Ok(ResourceVersion::from(answer?["metadata"]["resourceVersion"].as_str().unwrap_or_default()))
}

impl Source for Kubernetes {
    fn kind(&self) -> &Kind {
        &self.kind
    }

    fn objects(&self) -> &PrimaryCache {
        &self.objects
    }

    fn health(&self) -> &Health {
        &self.health
    }

    fn selects(&self) -> bool {
        !self.selection.is_all()
    }

    fn stray<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<Stray>> {
        async move {
            if !self.selects() {
                return Ok(Stray::Gone);
            }
            let target = Target { kind: &self.kind, namespace: key.namespace(), name: key.name() };
            // The role has no right to read a single one.
            Ok(match self.client.list_named(target).await? {
                None => Stray::Gone,
                Some(object) if self.selection.includes(&object) => Stray::Meant,
                Some(object) => Stray::Left(object.to_string().into_bytes()),
            })
        }
        .boxed()
    }

    fn strays<'a>(&'a self, finalizer: &'a str) -> BoxFuture<'a, Result<Vec<ObjectKey>>> {
        async move {
            let client = self.client.of_metadata();
            let namespace = self.namespace.as_deref().filter(|_| self.kind.namespaced);
            let target = Target { kind: &self.kind, namespace, name: "" };
            let mut strays = BTreeSet::new();
            for (labels, fields) in self.selection.of_others() {
                let selectors = Selectors { labels: labels.as_deref(), fields: fields.as_deref() };
                let held = |item: Value| {
                    let header = Header::parse(item.to_string().as_bytes())
                        .inspect_err(
                            |error| tracing::error!(kind = %self.kind, %error, "an object of a list can't be read"),
                        )
                        .ok()?;
                    header.finalizers.contains(finalizer).then_some(header.key)
                };
                strays.extend(client.list_each(target, selectors, held).await?);
            }
            Ok(strays.into_iter().collect())
        }
        .boxed()
    }

    fn claim<'a>(&'a self, object: &'a Header, finalizer: &'a str) -> BoxFuture<'a, Result<ResourceVersion>> {
        async move {
            version_of(self.client.add_finalizer(self.target(object), object, finalizer, &self.operator).await)
        }
        .boxed()
    }

    fn release<'a>(&'a self, object: &'a Header, finalizer: &'a str) -> BoxFuture<'a, Result<ResourceVersion>> {
        async move {
            let target = self.target(object);
            match self.client.remove_finalizer(target, object, finalizer, &self.operator).await {
                Ok(None) => Ok(object.resource_version.clone()),
                Ok(Some(answer)) => version_of(Ok(answer)),
                Err(error) => Err(error.into()),
            }
        }
        .boxed()
    }

    /// The whole object is sent, although the server takes nothing but the status from it: where versions are converted,
    /// the webhook sees all of it.
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
            version_of(self.client.replace_part(self.target(header), "status", &object, &manager).await)
        }
        .boxed()
    }

    fn status_fields<'a>(&'a self, header: &'a Header) -> BoxFuture<'a, Result<StatusFields>> {
        async move {
            // The role has no right to read a single one.
            let found = self.client.list_named(self.target(header)).await?.unwrap_or_default();
            let metadata = &found["metadata"];
            if metadata["uid"] != header.uid.to_string() {
                return Err(Error::Conflict("another object has taken its name".into()));
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

struct Primaries<'a> {
    kind: &'a Kind,
    objects: &'a PrimaryCache,
    on_change: OnChange<'a>,
}

impl Follower for Primaries<'_> {
    type Kept = Encoded;

    fn kind(&self) -> &Kind {
        self.kind
    }

    fn store(&self) -> &Store<Encoded> {
        self.objects.store()
    }

    fn take_in(&self, json: &[u8], _listing: bool) -> Result<Change<Encoded>> {
        Ok(self.objects.apply(json)?)
    }

    fn tell(&self, change: &Change<Encoded>, listing: bool) {
        (self.on_change)(change, listing);
    }
}
