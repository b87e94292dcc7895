//! The objects of an operator's kinds.

use crate::{
    cache::Header,
    client::{CallError, Client, Target, selectors::Selectors},
    command::uninstall::{error::UninstallError, run::Run},
    error::Error,
    informer::{
        primary::Kubernetes,
        source::{Selection, Source},
    },
    kind::Kind,
    manager::operator::Operator,
    reference,
    shape::Verb,
};
use kube::api::DeleteParams;
use serde::de::Error as _;
use serde_json::Value;

/// The objects of one kind.
#[derive(Debug)]
pub(crate) struct HeldKind {
    kind: Kind,
    finalizer: String,
    /// Whether they exist without the operator, too: then they are let go, and never deleted.
    foreign: bool,
    /// The kinds of the objects that they name.
    references: Vec<Kind>,
    objects: Vec<Header>,
}

/// All objects of all kinds of the operator, and those of others that it holds, in all namespaces.
pub(crate) async fn all(client: &Client, operator: &Operator) -> Result<Vec<HeldKind>, UninstallError> {
    let mut held = Vec::new();
    for factory in &operator.factories {
        let kind = factory.kind();
        let (finalizer, foreign) = (factory.finalizer(), factory.crd().is_none());
        let mut objects = headers(client, &kind).await?;
        objects.retain(|object| !foreign || object.finalizers.contains(&finalizer));
        held.push(HeldKind { finalizer, foreign, references: factory.references(), objects, kind });
    }
    Ok(held)
}

async fn headers(client: &Client, kind: &Kind) -> Result<Vec<Header>, CallError> {
    // One that can't be read is an object, too: the definition must not go with it.
    let header = |item: Value| Some(Header::parse(item.to_string().as_bytes()));
    let target = Target { kind, namespace: None, name: "" };
    match client.of_metadata().list_each(target, Selectors::default(), header).await {
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

/// There must be none.
pub(crate) fn refuse(held: &[HeldKind]) -> Result<(), UninstallError> {
    match held.iter().find(|held| !held.objects.is_empty()) {
        Some(held) => Err(UninstallError::ObjectsLeft { kind: held.kind.clone(), count: held.objects.len() }),
        None => Ok(()),
    }
}

impl HeldKind {
    fn target<'a>(&'a self, object: &'a Header) -> Target<'a> {
        Target { kind: &self.kind, namespace: object.key.namespace(), name: object.key.name() }
    }
}

impl Run {
    /// Deletes all objects of the operator's own kinds and waits until it has let go of them.
    pub(crate) async fn delete_objects(&self, held: &[HeldKind]) -> Result<(), UninstallError> {
        let own = || held.iter().filter(|held| !held.foreign);
        for held in own() {
            for object in &held.objects {
                if self.dry_run {
                    self.say("would delete", held.target(object))?;
                } else {
                    self.client.delete(held.target(object), &DeleteParams::background()).await?;
                    self.say("deleted", held.target(object))?;
                }
            }
        }
        for held in own() {
            for object in &held.objects {
                self.wait_gone(held.target(object)).await?;
            }
        }
        Ok(())
    }

    /// Takes the operator's finalizers off the objects that stay: all, or those of foreign kinds; and their references off what
    /// they name, which nobody else would let go.
    pub(crate) async fn release(
        &self,
        held: &[HeldKind],
        operator: &Operator,
        all: bool,
    ) -> Result<(), UninstallError> {
        for held in held.iter().filter(|held| all || held.foreign) {
            let source =
                Kubernetes::new(self.client.clone(), held.kind.clone(), &operator.name, None, Selection::default());
            for object in held.objects.iter().filter(|object| object.finalizers.contains(&held.finalizer)) {
                if self.dry_run {
                    self.say("would release", held.target(object))?;
                } else {
                    self.release_one(&source, object, &held.finalizer).await?;
                    self.say("released", held.target(object))?;
                }
            }
            self.release_references(held, operator).await?;
        }
        Ok(())
    }

    async fn release_references(&self, held: &HeldKind, operator: &Operator) -> Result<(), UninstallError> {
        let references: Vec<_> = held.objects.iter().map(|object| reference::id(&held.kind, &object.key)).collect();
        for kind in &held.references {
            let source = Kubernetes::new(self.client.clone(), kind.clone(), &operator.name, None, Selection::default());
            for object in headers(&self.client, kind).await? {
                let target = Target { kind, namespace: object.key.namespace(), name: object.key.name() };
                let is_held = |reference: &&String| object.finalizers.contains(reference);
                for reference in references.iter().filter(is_held) {
                    if self.dry_run {
                        self.say("would release", target)?;
                    } else {
                        self.release_one(&source, &object, reference).await?;
                        self.say("released", target)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The object may have been changed since it was listed: then it is read again.
    async fn release_one(&self, source: &Kubernetes, listed: &Header, finalizer: &str) -> Result<(), UninstallError> {
        let target = Target { kind: source.kind(), namespace: listed.key.namespace(), name: listed.key.name() };
        let mut object = listed.clone();
        loop {
            match source.release(&object, finalizer).await {
                Ok(_) => return Ok(()),
                Err(Error::Conflict(_)) => {}
                Err(error) => return Err(UninstallError::Loop(error)),
            }
            let Some(read) = self.client.get(target).await? else { return Ok(()) };
            match header(&read) {
                Some(header) if header.uid == listed.uid => object = header,
                _ => return Ok(()),
            }
        }
    }
}

fn header(object: &Value) -> Option<Header> {
    Header::parse(object.to_string().as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{foreign::Foreign, kind::kind_of, manifest::Output, testing::Recorder};
    use http::{Method, Request, Response};
    use k8s_openapi::api::core::v1::{Namespace, Secret};
    use kube::client::Body;
    use parking_lot::Mutex;
    use serde_json::json;
    use std::{
        convert::Infallible,
        future::{Ready, ready},
        sync::Arc,
        time::Duration,
    };

    /// A server with a Namespace that is held and one that is not; gives the writes that it is asked for.
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
        let held = all(&client, &operator).await.unwrap();
        assert!(matches!(refuse(&held), Err(UninstallError::ObjectsLeft { count: 1, .. })));
        let run = Run { client, dry_run: false, output: Output::Text, timeout: Duration::from_secs(1) };
        run.delete_objects(&held).await.unwrap();
        assert_eq!(*writes.lock(), [""; 0]);
        run.release(&held, &operator, false).await.unwrap();
        assert_eq!(*writes.lock(), ["PATCH /api/v1/namespaces/ours"]);
    }

    #[tokio::test]
    async fn what_objects_name_that_stay_is_let_go() {
        let operator = Operator::new("demo").controls::<Foreign<Namespace>, Recorder>();
        let (client, writes) = server();
        let mut held = all(&client, &operator).await.unwrap();
        held[0].references = vec![kind_of::<Secret>()];
        let run = Run { client, dry_run: false, output: Output::Text, timeout: Duration::from_secs(1) };
        run.release(&held, &operator, false).await.unwrap();
        assert_eq!(*writes.lock(), ["PATCH /api/v1/namespaces/ours", "PATCH /api/v1/namespaces/shop/secrets/key"]);
    }
}
