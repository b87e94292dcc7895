//! `StorageMigration` rewrites the objects of a kind in its stored version, so that older versions can be removed later.
//!
//! The API server stores an object in the version that was stored when the object was written last, and lists all versions that it may
//! have stored in `status.storedVersions` of the definition. A version in this list can't be removed from the definition.
//!
//! The replica that leads reads the definition. If its stored version is that of this release, and other versions are in the list, it
//! sends an empty patch for each object, which makes the API server write the object again. When all are written, it trims the list.
//! A stored version that has changed meanwhile, and objects that can't be written, make it start again later.
//!
//! Source: <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/>

use crate::{
    client::{CallError, Client, Target, selectors::Selectors},
    error::ErrorChain,
    kind::{Kind, kind_of},
};
use futures::{StreamExt as _, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::{ObjectMeta, PartialObjectMeta};
use serde_json::{Value, json};
use std::{future::ready, time::Duration};
use tokio::time::sleep;

/// How long the other API servers of a cluster may take to learn of a changed definition. Until then they store the version of before.
const PROPAGATION: Duration = Duration::from_secs(5);

/// The number of objects that are written at a time.
const CONCURRENT_WRITES: usize = 8;

/// How often an object is written again that others write at the same time.
const REWRITE_ATTEMPTS: usize = 10;

/// How often the list of versions is trimmed against changes of other clients.
const TRIM_ATTEMPTS: usize = 5;

/// The first and the maximum delay before the next attempt. After a success, the definition is read again after the maximum, since another
/// release may have been installed and removed meanwhile.
const MIN_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(300);

/// The migration of the stored objects of one kind.
#[derive(Clone, Debug)]
pub(super) struct StorageMigration {
    pub(super) client: Client,
    pub(super) operator: String,
    pub(super) kind: Kind,
    /// The version in which this release stores the objects.
    pub(super) stored: &'static str,
}

/// The state of a migration after an attempt.
#[derive(Debug, PartialEq, Eq)]
enum Progress {
    /// Only the stored version is left.
    Done,
    /// The definition is not that of this release: its manifests are not applied yet, or those of another release are.
    OtherDefinition,
    /// Another client changed the stored version meanwhile.
    Changed,
    /// Some objects could not be written.
    Failed(Failures),
}

/// An object, by its namespace and name.
type ObjectName = (Option<String>, String);

/// The objects that an attempt could not write. All others are written, as long as the definition has this generation.
#[derive(Debug, PartialEq, Eq)]
struct Failures {
    generation: Value,
    objects: Vec<ObjectName>,
}

/// The definition, as far as the migration needs it.
struct StoredVersions {
    resource_version: Value,
    generation: Value,
    stored: String,
    listed: Vec<String>,
}

impl StorageMigration {
    /// Migrates the objects, and repeats this forever with growing delays: after a failure to try again, and after a success because
    /// another release may have changed the stored version meanwhile. It never returns.
    pub(super) async fn run(&self) {
        let (mut delay, mut failures) = (MIN_DELAY, None);
        loop {
            match self.attempt(failures.take()).await {
                Ok(Progress::Done) => delay = MAX_DELAY,
                Ok(Progress::OtherDefinition) => {}
                Ok(Progress::Changed) => {
                    tracing::info!(kind = %self.kind, "the stored version changed; writing the objects again");
                }
                Ok(Progress::Failed(failed)) => {
                    let (kind, count) = (&self.kind, failed.objects.len());
                    tracing::warn!(%kind, count, "some objects could not be written in their new version; trying again");
                    failures = Some(failed);
                }
                Err(error) => {
                    let (kind, error) = (&self.kind, ErrorChain(&error));
                    tracing::warn!(%kind, %error, "failed to write the objects in their new version; trying again");
                }
            }
            sleep(delay).await;
            delay = MAX_DELAY.min(delay * 2);
        }
    }

    /// Makes one attempt to write all objects in the stored version, and then to remove the other versions from the list in the status of
    /// the definition. If the definition still has the generation of the earlier `failures`, it writes only the objects that failed.
    async fn attempt(&self, failures: Option<Failures>) -> Result<Progress, CallError> {
        let Some(definition) = self.definition().await? else { return Ok(Progress::OtherDefinition) };
        let Self { kind, stored, .. } = self;
        if definition.stored != *stored {
            return Ok(Progress::OtherDefinition);
        }
        if definition.listed == [*stored] {
            return Ok(Progress::Done);
        }
        let is_same = |failures: &Failures| failures.generation == definition.generation;
        let objects = match failures.filter(is_same) {
            // The resourceVersions may be outdated by now, so `rewrite` reads them.
            Some(failures) => failures.objects.into_iter().map(|object| (object, None)).collect(),
            None => {
                // Until then, some API servers may still store objects in the earlier version.
                sleep(PROPAGATION).await;
                self.objects().await?
            }
        };
        let count = objects.len();
        tracing::info!(%kind, version = stored, count, "writing objects in their new version");
        let written = stream::iter(objects).map(|((namespace, name), version)| async move {
            let target = Target { kind, namespace: namespace.as_deref(), name: &name };
            let error = self.rewrite(target, version).await.err()?;
            let error = ErrorChain(&error);
            tracing::warn!(%kind, namespace, name, %error, "failed to write an object in its new version");
            Some((namespace, name))
        });
        let failed: Vec<_> = written.buffer_unordered(CONCURRENT_WRITES).filter_map(ready).collect().await;
        if !failed.is_empty() {
            return Ok(Progress::Failed(Failures { generation: definition.generation, objects: failed }));
        }
        self.trim(&definition).await
    }

    /// Lists the namespace, the name and the resourceVersion of all objects of the kind.
    async fn objects(&self) -> Result<Vec<(ObjectName, Option<String>)>, CallError> {
        let metadata = Client::new(self.client.metadata_kube_client());
        let all = Target { kind: &self.kind, namespace: None, name: "" };
        let identity = |object: PartialObjectMeta| {
            let ObjectMeta { namespace, name, resource_version, .. } = object.metadata;
            Some(((namespace, name.unwrap_or_default()), resource_version))
        };
        metadata.list_each(all, Selectors::default(), identity).await
    }

    /// Sends a patch that changes nothing, so that the API server stores the object again, in the stored version. A deleted object is a
    /// success; the resourceVersion in the patch keeps it from being created again. After a response with 409, the object is read and
    /// patched again, up to [`REWRITE_ATTEMPTS`] times: another client has changed it, or a webhook refuses the write with this status.
    async fn rewrite(&self, target: Target<'_>, mut version: Option<String>) -> Result<(), CallError> {
        let mut attempts = 0;
        loop {
            if version.is_none() {
                match self.client.get_metadata::<PartialObjectMeta>(target).await? {
                    Some(object) => version = object.metadata.resource_version,
                    None => return Ok(()),
                }
            }
            let patch = json!({"metadata": {"resourceVersion": version}});
            match self.client.merge(target, &patch, &self.operator).await {
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) if error.code() == 409 && attempts < REWRITE_ATTEMPTS => {
                    (attempts, version) = (attempts + 1, None);
                }
                written => return written.map(drop),
            }
        }
    }

    /// Reduces the list of versions in the status of the definition to the stored version, unless that version or the list has changed
    /// since `before`. Other changes of the definition, such as those of its certificate authorities, only cause another try.
    async fn trim(&self, before: &StoredVersions) -> Result<Progress, CallError> {
        let (Self { kind, stored, .. }, definitions) = (self, kind_of::<CustomResourceDefinition>());
        let name = kind.full_name();
        let target = Target { kind: &definitions, namespace: None, name: &name };
        for _ in 0..TRIM_ATTEMPTS {
            let Some(now) = self.definition().await? else { return Ok(Progress::OtherDefinition) };
            if (&now.stored, &now.listed) != (&before.stored, &before.listed) {
                return Ok(Progress::Changed);
            }
            let patch = json!({
                "metadata": {"resourceVersion": now.resource_version},
                "status": {"storedVersions": [stored]},
            });
            match self.client.patch_subresource(target, "status", &patch, &self.operator).await {
                Ok(_) => {
                    tracing::info!(%kind, version = stored, "all objects are stored in their new version");
                    return Ok(Progress::Done);
                }
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Progress::Changed)
    }

    /// Reads the CustomResourceDefinition of the kind, and returns its stored and its listed versions; `None` if it does not exist.
    async fn definition(&self) -> Result<Option<StoredVersions>, CallError> {
        let (kind, name) = (kind_of::<CustomResourceDefinition>(), self.kind.full_name());
        let target = Target { kind: &kind, namespace: None, name: &name };
        let object: Option<Value> = self.client.get(target).await?;
        Ok(object.map(|object| {
            let mut versions = object["spec"]["versions"].as_array().into_iter().flatten();
            let stored = versions.find(|version| version["storage"] == true);
            let listed = object["status"]["storedVersions"].as_array().into_iter().flatten();
            StoredVersions {
                resource_version: object["metadata"]["resourceVersion"].clone(),
                generation: object["metadata"]["generation"].clone(),
                stored: stored.and_then(|version| version["name"].as_str()).unwrap_or_default().to_owned(),
                listed: listed.filter_map(Value::as_str).map(str::to_owned).collect(),
            }
        }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
