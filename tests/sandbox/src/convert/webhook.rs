//! Converts objects by webhook and caches the results, because reads are synchronous.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use crate::{
    failure::Failure,
    kind::{Custom, Kind},
    request::ResourceRequest,
    schema,
    server::Server,
    store::Stored,
    webhook::conversion,
};

/// Returns the properties of a custom kind whose objects a webhook converts; `None` for other kinds.
pub(super) fn webhook_converted(kind: &Kind) -> Option<&Custom> {
    kind.custom().filter(|custom| custom.conversion["strategy"] == "Webhook")
}

impl ResourceRequest<'_> {
    /// Converts objects to the version of the request and caches the results, if a webhook converts the kind.
    ///
    /// # Errors
    /// Fails if the webhook fails.
    pub(crate) async fn convert(&self, items: &[Arc<Stored>]) -> Result<(), Failure> {
        convert_objects(self.server, self.kind, items).await
    }

    /// Converts all objects that the request lists to its version, if a webhook converts the kind.
    ///
    /// # Errors
    /// Fails if the webhook fails.
    pub(crate) async fn convert_all(&self) -> Result<(), Failure> {
        match webhook_converted(self.kind) {
            Some(_) => self.convert(&self.server.store.list(&self.kind.group_resource, Some(self.namespace)).1).await,
            None => Ok(()),
        }
    }

    /// Converts an object to the storage version, by the webhook or, if the kind has none, by pruning; returns the object and its API
    /// version.
    ///
    /// # Errors
    /// Fails if the webhook fails.
    pub(crate) async fn for_storage(&self, object: Value) -> Result<(Value, Cow<'_, str>), Failure> {
        let kind = self.kind;
        let Some(custom) = webhook_converted(kind).filter(|custom| custom.storage_version != kind.version) else {
            return Ok(kind.for_storage(object));
        };
        let api_version = format!("{}/{}", kind.group, custom.storage_version);
        let mut converted =
            conversion::convert(self.server, &custom.conversion, vec![object], &api_version).await?.pop();
        let object = converted.as_mut().map(Value::take).unwrap_or_default();
        Ok(kind.prune_for_storage(custom, object))
    }

    /// Copies the cached conversions of an object from its state `before` to its state `after`, which differs in metadata only, so that the
    /// webhook is not called again.
    pub(crate) fn copy_conversions(&self, before: &Stored, after: &Stored) {
        if webhook_converted(self.kind).is_none() {
            return;
        }
        let all = self.server.kinds.all();
        let served =
            all.iter().filter(|kind| kind.group_resource == self.kind.group_resource && !after.has_version_of(kind));
        for custom in served.filter_map(|kind| webhook_converted(kind)) {
            let Some(mut outcome) = custom.converted.get(before) else { continue };
            if let Ok(object) = &mut outcome {
                let mut metadata = after.metadata();
                // A webhook may change these two fields of the metadata; they stay as it returned them.
                for key in ["labels", "annotations"] {
                    match object["metadata"].get(key) {
                        Some(value) => metadata.insert(key.to_owned(), value.clone()),
                        None => metadata.remove(key),
                    };
                }
                object["metadata"] = Value::Object(metadata);
            }
            custom.converted.put([(after, outcome)].into_iter());
        }
    }

    /// Converts those past states of objects that a watch from the resourceVersion `after` sends and whose conversion failed or is not
    /// cached.
    ///
    /// # Errors
    /// Fails if the webhook fails.
    pub(crate) async fn convert_changes(&self, after: u64) -> Result<(), Failure> {
        if webhook_converted(self.kind).is_none() {
            return Ok(());
        }
        // If the version has expired, the watch itself returns the error.
        let Ok(changes) = self.server.store.some_changes(&self.kind.group_resource, after, usize::MAX) else {
            return Ok(());
        };
        // A watch with a selector also reads the state before a change.
        let states: Vec<_> =
            changes.iter().flat_map(|change| change.before.iter().chain([&change.object]).cloned()).collect();
        self.convert(&states).await
    }

    /// Converts a written object to all served versions, for their watches and the response. Caches the failures of other
    /// versions instead of returning them.
    ///
    /// # Errors
    /// Fails if the webhook fails for the version of the request; the object is stored nevertheless.
    pub(crate) async fn convert_written(&self, stored: &Arc<Stored>) -> Result<(), Failure> {
        if webhook_converted(self.kind).is_none() {
            return Ok(());
        }
        let all = self.server.kinds.all();
        for kind in all.iter().filter(|kind| kind.group_resource == self.kind.group_resource) {
            // The cached error is returned to clients that read the object in this version.
            let (Err(failure), Some(custom)) =
                (convert_objects(self.server, kind, std::slice::from_ref(stored)).await, kind.custom())
            else {
                continue;
            };
            custom.converted.put([(&**stored, Err(failure.message))].into_iter());
        }
        self.kind.conversion_error(stored).map_or(Ok(()), |why| Err(conversion::failure(why)))
    }
}

impl Kind {
    /// Returns whether a webhook converts the objects of the kind.
    pub(crate) fn is_converted_by_webhook(&self) -> bool {
        webhook_converted(self).is_some()
    }

    /// Returns the cached error of the conversion of an object to this version; `None` if there is none.
    pub(crate) fn conversion_error(&self, stored: &Stored) -> Option<String> {
        let custom = webhook_converted(self).filter(|_| !stored.has_version_of(self))?;
        custom.converted.get(stored)?.err()
    }

    /// Returns whether a watch of this version must wait for the conversion of an object.
    pub(crate) fn waits_for(&self, stored: &Stored) -> bool {
        webhook_converted(self).is_some_and(|custom| !stored.has_version_of(self) && !custom.converted.has(stored))
    }
}

/// Converts the objects that are stored in another version of the kind and not yet converted, and caches the results.
///
/// # Errors
/// Fails if the webhook fails.
async fn convert_objects(server: &Server, kind: &Kind, items: &[Arc<Stored>]) -> Result<(), Failure> {
    let Some(custom) = webhook_converted(kind) else { return Ok(()) };
    let foreign =
        |item: &&Arc<Stored>| !item.has_version_of(kind) && !matches!(custom.converted.get(item), Some(Ok(_)));
    let foreign: Vec<_> = items.iter().filter(foreign).collect();
    if foreign.is_empty() {
        return Ok(());
    }
    let objects = foreign.iter().map(|item| item.in_stored_version(kind, custom)).collect();
    let converted = conversion::convert(server, &custom.conversion, objects, &kind.api_version()).await?;
    let pruned = converted.into_iter().map(|mut object| {
        schema::prune(kind.schema(), &mut object);
        Ok(object)
    });
    custom.converted.put(foreign.into_iter().map(|item| &**item).zip(pruned));
    Ok(())
}
