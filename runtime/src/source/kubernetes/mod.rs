//! Primaries in a Kubernetes API.

pub(crate) mod feed;
pub(crate) mod follower;
pub(crate) mod sinks;

use crate::{
    cache::{Change, Encoded, Header, ObjectKey, Objects, ResourceVersion, Store},
    client::{CallError, Client, Target, strip_nulls},
    error::Result,
    kind::Kind,
    source::{OnChange, Selection, Source, Stray},
    watch::Health,
};
use feed::Scope;
use follower::Follower;
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use sinks::Sinks;
use std::sync::Arc;

/// Watches the objects of a custom kind; claims them by finalizers.
#[derive(Debug)]
pub(crate) struct Kubernetes {
    kind: Kind,
    client: Client,
    /// Name of the operator, and so of its field manager.
    operator: String,
    namespace: Option<String>,
    selection: Selection,
    objects: Objects,
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
        let (objects, health) = (Objects::default(), Health::new(kind.clone()));
        Self { kind, client, operator: operator.to_owned(), namespace, selection, objects, health }
    }

    /// The same, with a watch whose health is known elsewhere, too.
    pub(crate) fn with_health(self, health: Health) -> Self {
        Self { health, ..self }
    }

    /// Fills the cache and follows changes, for ever; the `sinks` are told of each before.
    pub(crate) async fn feed(&self, on_change: OnChange<'_>, mut sinks: Sinks<'_>) {
        let (labels, fields) = (self.selection.label_selector(), self.selection.field_selector());
        let scope =
            Scope { namespace: self.namespace.as_deref(), labels: labels.as_deref(), fields: fields.as_deref() };
        sinks.push(Arc::new(Primaries { kind: &self.kind, objects: &self.objects, on_change }));
        feed::follow(self.client.kube(), &self.kind, scope, &sinks, &self.health).await;
    }

    /// Whether it shows just these.
    pub(crate) fn is_of(&self, kind: &Kind, selection: &Selection) -> bool {
        self.kind == *kind && self.selection == *selection
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

    fn objects(&self) -> &Objects {
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
            let mut found = self.client.list_named(target).await?;
            Ok(match found.pointer_mut("/items/0").map_or(Value::Null, Value::take) {
                Value::Null => Stray::Gone,
                object if self.selection.includes(&object) => Stray::Meant,
                object => Stray::Left(object.to_string().into_bytes()),
            })
        }
        .boxed()
    }

    fn strays<'a>(&'a self, finalizer: &'a str) -> BoxFuture<'a, Result<Vec<ObjectKey>>> {
        async move {
            let client = Client::new(self.client.metadata_only());
            let namespace = self.namespace.as_deref().filter(|_| self.kind.namespaced);
            let target = Target { kind: &self.kind, namespace, name: "" };
            let mut strays = Vec::new();
            for (labels, fields) in self.selection.of_others() {
                let list = client.list_selected(target, labels.as_deref(), fields.as_deref()).await?;
                for item in list["items"].as_array().into_iter().flatten() {
                    let header = Header::parse(item.to_string().as_bytes()).map_err(crate::error::Error::unexpected)?;
                    if header.finalizers.contains(finalizer) && !strays.contains(&header.key) {
                        strays.push(header.key);
                    }
                }
            }
            Ok(strays)
        }
        .boxed()
    }

    fn follow<'a>(&'a self, on_change: OnChange<'a>) -> BoxFuture<'a, ()> {
        async move { self.feed(on_change, Sinks::default()).await }.boxed()
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

    fn write_status<'a>(&'a self, object: &'a Header, status: &'a Value) -> BoxFuture<'a, Result<ResourceVersion>> {
        async move {
            let body = json!({
                "apiVersion": self.kind.api_version(), "kind": self.kind.kind,
                "metadata": {
                    "name": object.key.name(), "namespace": object.key.namespace(),
                    // An object made anew under the name has nothing to do with this status. A uid would be overlooked: for
                    // custom kinds the server takes nothing but the status from this call.
                    "resourceVersion": object.resource_version.to_string(),
                },
                "status": status,
            });
            let manager = format!("{}/status", self.operator);
            let body = strip_nulls(body);
            version_of(self.client.apply_status(self.target(object), &body, &manager).await)
        }
        .boxed()
    }
}

struct Primaries<'a> {
    kind: &'a Kind,
    objects: &'a Objects,
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

    fn take_in(&self, json: &[u8]) -> Result<Change<Encoded>> {
        Ok(self.objects.apply(json)?)
    }

    fn tell(&self, change: &Change<Encoded>, listing: bool) {
        (self.on_change)(change, listing);
    }
}
