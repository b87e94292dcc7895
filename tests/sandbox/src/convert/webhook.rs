//! Converts objects by webhook ahead of reads, because reads cannot wait.

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

/// The CRD properties of a kind that a webhook converts.
pub(super) fn of(kind: &Kind) -> Option<&Custom> {
    kind.custom().filter(|custom| custom.conversion["strategy"] == "Webhook")
}

impl ResourceRequest<'_> {
    /// Converts objects to the version of the request.
    pub(crate) async fn convert(&self, items: &[Arc<Stored>]) -> Result<(), Failure> {
        convert(self.server, self.kind, items).await
    }

    /// Converts all objects of the kind.
    pub(crate) async fn convert_all(&self) -> Result<(), Failure> {
        match of(self.kind) {
            Some(_) => self.convert(&self.server.store.list(&self.kind.group_resource, Some(self.namespace)).1).await,
            None => Ok(()),
        }
    }

    /// Converts an object to the storage version; returns both.
    pub(crate) async fn for_storage(&self, object: Value) -> Result<(Value, Cow<'_, str>), Failure> {
        let kind = self.kind;
        let Some(custom) = of(kind).filter(|custom| custom.storage_version != kind.version) else {
            return Ok(kind.for_storage(object));
        };
        let api_version = format!("{}/{}", kind.group, custom.storage_version);
        let mut converted =
            conversion::convert(self.server, &custom.conversion, vec![object], &api_version).await?.pop();
        let object = converted.as_mut().map(Value::take).unwrap_or_default();
        Ok(kind.pruned_as(custom, object))
    }

    /// Copies the conversions of one state of an object to the next, which differs in metadata only.
    pub(crate) fn copy_conversions(&self, before: &Stored, after: &Stored) {
        if of(self.kind).is_none() {
            return;
        }
        let all = self.server.kinds.all();
        let served = all.iter().filter(|kind| kind.group_resource == self.kind.group_resource && !after.is_of(kind));
        for custom in served.filter_map(|kind| of(kind)) {
            let Some(mut outcome) = custom.converted.get(before) else { continue };
            if let Ok(object) = &mut outcome {
                let mut metadata = after.metadata();
                for free in ["labels", "annotations"] {
                    match object["metadata"].get(free) {
                        Some(value) => metadata.insert(free.to_owned(), value.clone()),
                        None => metadata.remove(free),
                    };
                }
                object["metadata"] = Value::Object(metadata);
            }
            custom.converted.put([(after, outcome)].into_iter());
        }
    }

    /// Converts a written object to all versions, for their watches.
    pub(crate) async fn convert_for_watches(&self, stored: &Arc<Stored>) {
        if of(self.kind).is_none() {
            return;
        }
        let all = self.server.kinds.all();
        for kind in all.iter().filter(|kind| kind.group_resource == self.kind.group_resource) {
            // Clients that need this version receive the error when they read the object.
            let (Err(failure), Some(custom)) =
                (convert(self.server, kind, std::slice::from_ref(stored)).await, kind.custom())
            else {
                continue;
            };
            custom.converted.put([(&**stored, Err(failure.message))].into_iter());
        }
    }
}

impl Kind {
    /// Whether a webhook converts the objects of the kind.
    pub(crate) fn is_converted_by_webhook(&self) -> bool {
        of(self).is_some()
    }

    /// Returns the error of a failed conversion of an object to this version.
    pub(crate) fn unconverted(&self, stored: &Stored) -> Option<String> {
        let custom = of(self).filter(|_| !stored.is_of(self))?;
        custom.converted.get(stored)?.err()
    }

    /// Whether a watch of this version has to wait for the conversion of an object.
    pub(crate) fn waits_for(&self, stored: &Stored) -> bool {
        of(self).is_some_and(|custom| !stored.is_of(self) && !custom.converted.has(stored))
    }
}

async fn convert(server: &Server, kind: &Kind, items: &[Arc<Stored>]) -> Result<(), Failure> {
    let Some(custom) = of(kind) else { return Ok(()) };
    let foreign = |item: &&Arc<Stored>| !item.is_of(kind) && !matches!(custom.converted.get(item), Some(Ok(_)));
    let foreign: Vec<_> = items.iter().filter(foreign).collect();
    if foreign.is_empty() {
        return Ok(());
    }
    let objects = foreign.iter().map(|item| item.in_storage_version(kind, custom)).collect();
    let converted = conversion::convert(server, &custom.conversion, objects, &kind.api_version()).await?;
    let pruned = converted.into_iter().map(|mut object| {
        schema::prune(kind.schema(), &mut object);
        Ok(object)
    });
    custom.converted.put(foreign.into_iter().map(|item| &**item).zip(pruned));
    Ok(())
}
