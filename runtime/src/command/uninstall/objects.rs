//! Lists and deletes the objects of an operator's kinds, and removes the operator's finalizer from objects of foreign kinds.

use crate::{
    cache::Header,
    client::{CallError, Client, Target, selectors::Selectors},
    command::uninstall::{error::UninstallError, run::Run},
    controller::factory::Factory,
    error::Error,
    informer::{
        namespaces::Namespaces,
        primary::KubernetesSource,
        source::{Selection, Source},
    },
    kind::{Kind, kind_of},
    manager::operator::Operator,
    reference,
    shape::Verb,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::DeleteParams;
use serde::de::Error as _;
use serde_json::value::RawValue;

/// The objects of one controlled kind.
#[derive(Debug)]
pub(crate) struct KindObjects {
    kind: Kind,
    finalizer: String,
    /// Whether the operator does not define the kind. Its objects are then released and never deleted.
    foreign: bool,
    /// The kinds of the objects that they reference.
    references: Vec<Kind>,
    objects: Vec<Header>,
}

/// Lists the objects of the controlled kinds in all namespaces: all objects of the kinds that the operator defines, and of foreign kinds,
/// which it does not define, the objects with its finalizer.
pub(crate) async fn list_objects(client: &Client, operator: &Operator) -> Result<Vec<KindObjects>, UninstallError> {
    let mut kind_objects = Vec::new();
    for factory in &operator.factories {
        let kind = stored_kind(client, factory.as_ref()).await?;
        let (finalizer, foreign) = (factory.finalizer(), factory.crd().is_none());
        let mut objects = headers(client, &kind).await?;
        objects.retain(|object| !foreign || object.finalizers.contains(&finalizer));
        kind_objects.push(KindObjects { finalizer, foreign, references: factory.references(), objects, kind });
    }
    Ok(kind_objects)
}

/// Returns the kind of a controller in the version in which the API server stores its objects. Once the operator has stopped, no conversion
/// webhook converts them, so only this version can still be read and written.
async fn stored_kind(client: &Client, factory: &dyn Factory) -> Result<Kind, CallError> {
    let kind = factory.kind();
    // A kind without declared versions has no conversion webhook, and neither has a kind in a bucket.
    if factory.versions().is_none() || client.is_in_bucket(&kind) {
        return Ok(kind);
    }
    let (definitions, name) = (kind_of::<CustomResourceDefinition>(), kind.full_name());
    let target = Target { kind: &definitions, namespace: None, name: &name };
    let definition = client.get::<CustomResourceDefinition>(target).await?;
    let versions = definition.into_iter().flat_map(|definition| definition.spec.versions);
    let stored = versions.into_iter().find(|version| version.storage).map(|version| version.name.into());
    Ok(Kind { version: stored.unwrap_or_else(|| kind.version.clone()), ..kind })
}

/// Lists the metadata of all objects of a kind.
async fn headers(client: &Client, kind: &Kind) -> Result<Vec<Header>, CallError> {
    // An object whose metadata can't be parsed is an error: the definition must not be deleted with it.
    let header = |item: Box<RawValue>| Some(Header::parse(item.get().as_bytes()));
    let target = Target { kind, namespace: None, name: "" };
    match client.metadata_client().list_each(target, Selectors::default(), header).await {
        // A kind without a CustomResourceDefinition has no objects.
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        headers => headers?.into_iter().collect::<Result<_, _>>().map_err(|error| CallError {
            verb: Verb::List,
            kind: kind.clone(),
            subresource: "",
            namespace: None,
            name: String::new(),
            source: Box::new(kube::Error::SerdeError(serde_json::Error::custom(error))),
        }),
    }
}

/// Fails with the first kind that still has objects, and their number.
pub(crate) fn require_none(kind_objects: &[KindObjects]) -> Result<(), UninstallError> {
    match kind_objects.iter().find(|kind_objects| !kind_objects.objects.is_empty()) {
        Some(kind_objects) => {
            Err(UninstallError::ObjectsLeft { kind: kind_objects.kind.clone(), count: kind_objects.objects.len() })
        }
        None => Ok(()),
    }
}

impl KindObjects {
    fn target<'a>(&'a self, object: &'a Header) -> Target<'a> {
        Target { kind: &self.kind, namespace: object.key.namespace(), name: object.key.name() }
    }
}

impl Run {
    /// Deletes all objects of the kinds that the operator defines, and waits until they are gone. A dry run only reports them.
    pub(crate) async fn delete_objects(&self, kind_objects: &[KindObjects]) -> Result<(), UninstallError> {
        let own_kinds = || kind_objects.iter().filter(|kind_objects| !kind_objects.foreign);
        for kind_objects in own_kinds() {
            for object in &kind_objects.objects {
                if self.dry_run {
                    self.report("would delete", kind_objects.target(object))?;
                } else {
                    self.client.delete(kind_objects.target(object), &DeleteParams::background()).await?;
                    self.report("deleted", kind_objects.target(object))?;
                }
            }
        }
        for kind_objects in own_kinds() {
            for object in &kind_objects.objects {
                self.wait_gone(kind_objects.target(object)).await?;
            }
        }
        Ok(())
    }

    /// Removes the operator's finalizer from the objects that the uninstallation keeps: those of all kinds, or only those of foreign kinds,
    /// which the operator does not define. Also removes the reference finalizers, by which these objects protect the objects that they
    /// reference from deletion: after the uninstallation no operator would remove them.
    pub(crate) async fn release(
        &self,
        kind_objects: &[KindObjects],
        operator: &Operator,
        all_kinds: bool,
    ) -> Result<(), UninstallError> {
        for kind_objects in kind_objects.iter().filter(|kind_objects| all_kinds || kind_objects.foreign) {
            let source = KubernetesSource::new(
                self.client.clone(),
                kind_objects.kind.clone(),
                &operator.name,
                Namespaces::default(),
                Selection::default(),
            );
            for object in
                kind_objects.objects.iter().filter(|object| object.finalizers.contains(&kind_objects.finalizer))
            {
                if self.dry_run {
                    self.report("would release", kind_objects.target(object))?;
                } else {
                    self.release_one(&source, object, &kind_objects.finalizer).await?;
                    self.report("released", kind_objects.target(object))?;
                }
            }
            self.release_references(kind_objects, operator).await?;
        }
        Ok(())
    }

    /// Removes the reference finalizers that belong to the objects of one kind from the objects which these reference, and reports each. A
    /// dry run only reports them.
    async fn release_references(&self, kind_objects: &KindObjects, operator: &Operator) -> Result<(), UninstallError> {
        let reference_finalizers: Vec<_> = kind_objects
            .objects
            .iter()
            .map(|object| reference::finalizer_name(&kind_objects.kind, &object.key))
            .collect();
        for kind in &kind_objects.references {
            let source = KubernetesSource::new(
                self.client.clone(),
                kind.clone(),
                &operator.name,
                Namespaces::default(),
                Selection::default(),
            );
            for object in headers(&self.client, kind).await? {
                let target = Target { kind, namespace: object.key.namespace(), name: object.key.name() };
                let is_present = |finalizer: &&String| object.finalizers.contains(finalizer);
                for finalizer in reference_finalizers.iter().filter(is_present) {
                    if self.dry_run {
                        self.report("would release", target)?;
                    } else {
                        self.release_one(&source, &object, finalizer).await?;
                        self.report("released", target)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes one finalizer from an object. If the object has changed since it was listed, it reads the object again and
    /// retries.
    async fn release_one(
        &self,
        source: &KubernetesSource,
        listed: &Header,
        finalizer: &str,
    ) -> Result<(), UninstallError> {
        let target = Target { kind: source.kind(), namespace: listed.key.namespace(), name: listed.key.name() };
        let mut object = listed.clone();
        loop {
            match source.remove_finalizer(&object, finalizer).await {
                Ok(_) => return Ok(()),
                Err(Error::Conflict(_)) => {}
                Err(error) => return Err(UninstallError::Loop(error)),
            }
            let Some(read) = self.client.get::<Box<RawValue>>(target).await? else { return Ok(()) };
            match Header::parse(read.get().as_bytes()) {
                Ok(header) if header.uid == listed.uid => object = header,
                // The listed object is gone and another one has its name, or the metadata can't be parsed.
                _ => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{foreign::Foreign, kind::kind_of, manifest::OutputFormat, testing::Recorder};
    use http::{Method, Request, Response};
    use k8s_openapi::api::core::v1::{Namespace, Secret};
    use kube::client::Body;
    use parking_lot::Mutex;
    use serde_json::{Value, json};
    use std::{
        convert::Infallible,
        future::{Ready, ready},
        sync::Arc,
        time::Duration,
    };

    /// Returns the client of a server with two Namespaces, of which `ours` has the finalizer of the operator, and with a Secret that has
    /// the reference finalizers of both. Also returns the list of the writes that the server receives.
    fn server() -> (Client, Arc<Mutex<Vec<String>>>) {
        let writes = Arc::new(Mutex::new(Vec::new()));
        let recorded_writes = writes.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            if request.method() != Method::GET {
                recorded_writes.lock().push(format!("{} {}", request.method(), request.uri().path()));
            }
            if request.uri().path().ends_with("/secrets") {
                let finalizers = ["namespaces/reference_others", "namespaces/reference_ours"];
                let key = json!({"metadata": {"name": "key", "namespace": "shop", "resourceVersion": "1", "finalizers": finalizers}});
                return json_response(&json!({"items": [key]}));
            }
            let namespace = |name: &str, finalizers: &[&str]| {
                let metadata = json!({"name": name, "resourceVersion": "1", "finalizers": finalizers});
                json!({"metadata": metadata})
            };
            let answer = json!({"items": [namespace("ours", &["opgen.dev/demo"]), namespace("others", &[])]});
            json_response(&answer)
        });
        (Client::new(kube::Client::new(service, "default")), writes)
    }

    fn json_response(answer: &Value) -> Ready<Result<Response<Body>, Infallible>> {
        ready(Ok(Response::new(Body::from(answer.to_string().into_bytes()))))
    }

    #[tokio::test]
    async fn objects_of_a_foreign_kind_are_released_and_never_deleted() {
        let operator = Operator::new("demo").controls::<Foreign<Namespace>, Recorder>();
        let (client, writes) = server();
        let kind_objects = list_objects(&client, &operator).await.unwrap();
        assert!(matches!(require_none(&kind_objects), Err(UninstallError::ObjectsLeft { count: 1, .. })));
        let run = Run { client, dry_run: false, output: OutputFormat::Text, timeout: Duration::from_secs(1) };
        run.delete_objects(&kind_objects).await.unwrap();
        assert_eq!(*writes.lock(), [""; 0]);
        run.release(&kind_objects, &operator, false).await.unwrap();
        assert_eq!(*writes.lock(), ["PATCH /api/v1/namespaces/ours"]);
    }

    #[tokio::test]
    async fn the_objects_that_kept_objects_reference_are_released() {
        let operator = Operator::new("demo").controls::<Foreign<Namespace>, Recorder>();
        let (client, writes) = server();
        let mut kind_objects = list_objects(&client, &operator).await.unwrap();
        kind_objects[0].references = vec![kind_of::<Secret>()];
        let run = Run { client, dry_run: false, output: OutputFormat::Text, timeout: Duration::from_secs(1) };
        run.release(&kind_objects, &operator, false).await.unwrap();
        assert_eq!(*writes.lock(), ["PATCH /api/v1/namespaces/ours", "PATCH /api/v1/namespaces/shop/secrets/key"]);
    }
}
