//! The objects of an operator's kinds.

use super::{Run, UninstallError};
use crate::{
    cache::Header,
    client::{CallError, Client, Target},
    error::Error,
    kind::Kind,
    manager::operator::Operator,
    source::{Source, kubernetes::Kubernetes},
};
use kube::api::DeleteParams;
use serde_json::Value;

/// The objects of one kind.
#[derive(Debug)]
pub(super) struct Held {
    kind: Kind,
    finalizer: String,
    objects: Vec<Header>,
}

/// All objects of all kinds, in all namespaces.
pub(super) async fn all(client: &Client, operator: &Operator) -> Result<Vec<Held>, UninstallError> {
    let mut held = Vec::new();
    for factory in &operator.factories {
        let kind = factory.kind();
        let objects = headers(client, &kind).await?;
        held.push(Held { finalizer: factory.finalizer(), objects, kind });
    }
    Ok(held)
}

async fn headers(client: &Client, kind: &Kind) -> Result<Vec<Header>, CallError> {
    let list = match client.list(Target { kind, namespace: None, name: "" }, None).await {
        Ok(list) => list,
        // Without its definition a kind has no objects.
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(items.iter().filter_map(|item| Header::parse(item.to_string().as_bytes()).ok()).collect())
}

/// There must be none.
pub(super) fn refuse(held: &[Held]) -> Result<(), UninstallError> {
    match held.iter().find(|held| !held.objects.is_empty()) {
        Some(held) => Err(UninstallError::ObjectsLeft { kind: held.kind.clone(), count: held.objects.len() }),
        None => Ok(()),
    }
}

impl Held {
    fn target<'a>(&'a self, object: &'a Header) -> Target<'a> {
        Target { kind: &self.kind, namespace: object.key.namespace(), name: object.key.name() }
    }
}

impl Run {
    /// Deletes all objects and waits until the operator has let go of them.
    pub(super) async fn delete_objects(&self, held: &[Held]) -> Result<(), UninstallError> {
        for held in held {
            for object in &held.objects {
                if self.dry_run {
                    self.say("would delete", held.target(object))?;
                } else {
                    self.client.delete(held.target(object), &DeleteParams::background()).await?;
                    self.say("deleted", held.target(object))?;
                }
            }
        }
        for held in held {
            for object in &held.objects {
                self.wait_gone(held.target(object)).await?;
            }
        }
        Ok(())
    }

    /// Takes the operator's finalizers off the objects.
    pub(super) async fn release(&self, held: &[Held], operator: &Operator) -> Result<(), UninstallError> {
        for held in held {
            let source = Kubernetes::new(self.client.clone(), held.kind.clone(), &operator.name, None);
            for object in held.objects.iter().filter(|object| object.finalizers.contains(&held.finalizer)) {
                if self.dry_run {
                    self.say("would release", held.target(object))?;
                } else {
                    self.release_one(&source, held, object).await?;
                    self.say("released", held.target(object))?;
                }
            }
        }
        Ok(())
    }

    /// The object may have been changed since it was listed: then it is read again.
    async fn release_one(&self, source: &Kubernetes, held: &Held, listed: &Header) -> Result<(), UninstallError> {
        let mut object = listed.clone();
        loop {
            match source.release(&object, &held.finalizer).await {
                Ok(_) => return Ok(()),
                Err(Error::Conflict(_)) => {}
                Err(error) => return Err(UninstallError::Loop(error)),
            }
            let Some(read) = self.client.get(held.target(listed)).await? else { return Ok(()) };
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
