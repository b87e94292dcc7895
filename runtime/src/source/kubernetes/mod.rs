//! Primaries in a Kubernetes API.

pub(crate) mod feed;

use crate::{
    cache::{Change, Encoded, Header, Objects, ResourceVersion},
    client::{CallError, Client, Target, strip_nulls},
    error::Result,
    kind::Kind,
    source::{OnChange, Source},
    watch::Health,
};
use feed::{Scope, Sink};
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};

/// Watches the objects of a custom kind; claims them by finalizers.
#[derive(Debug)]
pub(crate) struct Kubernetes {
    kind: Kind,
    client: Client,
    /// Name of the operator, and so of its field manager.
    operator: String,
    namespace: Option<String>,
    objects: Objects,
    health: Health,
}

impl Kubernetes {
    /// The objects of `kind` in one namespace, or in all.
    pub(crate) fn new(client: Client, kind: Kind, operator: &str, namespace: Option<String>) -> Self {
        let (objects, health) = (Objects::default(), Health::new(kind.clone()));
        Self { kind, client, operator: operator.to_owned(), namespace, objects, health }
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

    fn follow<'a>(&'a self, on_change: OnChange<'a>) -> BoxFuture<'a, ()> {
        let scope = Scope { namespace: self.namespace.as_deref(), labels: None };
        async move {
            let sink = Primaries { objects: &self.objects, on_change };
            feed::follow(self.client.kube(), &self.kind, scope, &sink, &self.health).await;
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
    objects: &'a Objects,
    on_change: OnChange<'a>,
}

impl Primaries<'_> {
    fn tell(&self, change: &Change<Encoded>, listing: bool) {
        if !matches!(change, Change::Unchanged) {
            (self.on_change)(change, listing);
        }
    }
}

impl Sink for Primaries<'_> {
    fn begin(&self) {
        self.objects.store().begin_replace();
    }

    fn apply(&self, json: &[u8], listing: bool) {
        match self.objects.apply(json) {
            Ok(change) => self.tell(&change, listing),
            Err(error) => tracing::error!(error = %crate::error::Error::from(error), "an object could not be read"),
        }
    }

    fn delete(&self, json: &[u8]) {
        if let Ok(header) = Header::parse(json) {
            self.tell(&self.objects.store().delete(&header), false);
        }
    }

    fn finish(&self) {
        for old in self.objects.store().finish_replace() {
            self.tell(&Change::Deleted { old }, true);
        }
    }
}
