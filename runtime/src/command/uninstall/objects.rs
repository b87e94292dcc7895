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

/// Lists all objects of the operator's own kinds, and those of foreign kinds that have its finalizer, in all namespaces.
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

/// Returns a controlled kind in the version that the API server stores: after the end of the operator, nobody converts its objects.
async fn stored_kind(client: &Client, factory: &dyn Factory) -> Result<Kind, CallError> {
    let kind = factory.kind();
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
        // Without its definition a kind has no objects.
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

/// Fails if there is any object.
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
    /// Deletes all objects of the operator's own kinds, and waits until they are gone.
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

    /// Removes the operator's finalizers from the objects that stay: all, or those of foreign kinds only. It also removes their
    /// reference finalizers from the objects that they reference, since nothing else would.
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

    /// Removes the reference finalizers of objects of one kind from the objects that they reference, and reports each. A dry run
    /// only reports them.
    async fn release_references(&self, kind_objects: &KindObjects, operator: &Operator) -> Result<(), UninstallError> {
        let references: Vec<_> = kind_objects
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
                let is_present = |reference: &&String| object.finalizers.contains(reference);
                for reference in references.iter().filter(is_present) {
                    if self.dry_run {
                        self.report("would release", target)?;
                    } else {
                        self.release_one(&source, &object, reference).await?;
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

    /// Returns a server with a Namespace that is held and one that is not; gives the writes that it is asked for.
    fn server() -> (Client, Arc<Mutex<Vec<String>>>) {
        let writes = Arc::new(Mutex::new(Vec::new()));
        let noted = writes.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            if request.method() != Method::GET {
                noted.lock().push(format!("{} {}", request.method(), request.uri().path()));
            }
            if request.uri().path().ends_with("/secrets") {
                let finalizers = ["namespaces/reference_others", "namespaces/reference_ours"];
                let key = json!({"metadata": {"name": "key", "namespace": "shop", "resourceVersion": "1", "finalizers": finalizers}});
                return answered(&json!({"items": [key]}));
            }
            let space = |name: &str, finalizers: &[&str]| json!({"metadata": {"name": name, "resourceVersion": "1", "finalizers": finalizers}});
            let answer = json!({"items": [space("ours", &["opgen.dev/demo"]), space("others", &[])]});
            answered(&answer)
        });
        (Client::new(kube::Client::new(service, "default")), writes)
    }

    fn answered(answer: &Value) -> Ready<Result<Response<Body>, Infallible>> {
        ready(Ok(Response::new(Body::from(answer.to_string().into_bytes()))))
    }

    #[tokio::test]
    async fn objects_of_a_foreign_kind_are_let_go_and_never_deleted() {
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
    async fn what_objects_name_that_stay_is_let_go() {
        let operator = Operator::new("demo").controls::<Foreign<Namespace>, Recorder>();
        let (client, writes) = server();
        let mut kind_objects = list_objects(&client, &operator).await.unwrap();
        kind_objects[0].references = vec![kind_of::<Secret>()];
        let run = Run { client, dry_run: false, output: OutputFormat::Text, timeout: Duration::from_secs(1) };
        run.release(&kind_objects, &operator, false).await.unwrap();
        assert_eq!(*writes.lock(), ["PATCH /api/v1/namespaces/ours", "PATCH /api/v1/namespaces/shop/secrets/key"]);
    }
}
