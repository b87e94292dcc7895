//! Conversion by a webhook: asked ahead, for what reads an object can't wait.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use crate::{
    failure::Failure,
    kind::{Custom, Kind},
    sandbox::Server,
    schema,
    store::Stored,
    verb::Asked,
    webhook::conversion,
};

/// What a CRD says, if a webhook converts its objects.
pub(super) fn of(kind: &Kind) -> Option<&Custom> {
    kind.custom().filter(|custom| custom.conversion["strategy"] == "Webhook")
}

impl Asked<'_> {
    /// Has objects converted to the version that is asked for.
    pub(crate) async fn convert(&self, items: &[Arc<Stored>]) -> Result<(), Failure> {
        convert(self.server, self.kind, items).await
    }

    /// Has all objects of the kind converted.
    pub(crate) async fn convert_all(&self) -> Result<(), Failure> {
        match of(self.kind) {
            Some(_) => self.convert(&self.server.store.list(&self.kind.shelf, Some(self.namespace)).1).await,
            None => Ok(()),
        }
    }

    /// An object of this version as it is kept, and in which version.
    pub(crate) async fn kept(&self, object: Value) -> Result<(Value, Cow<'_, str>), Failure> {
        let kind = self.kind;
        let Some(custom) = of(kind).filter(|custom| custom.storage_version != kind.version) else {
            return Ok(kind.kept(object));
        };
        let api_version = format!("{}/{}", kind.group, custom.storage_version);
        let mut converted =
            conversion::convert(self.server, &custom.conversion, vec![object], &api_version).await?.pop();
        let object = converted.as_mut().map(Value::take).unwrap_or_default();
        Ok(kind.pruned_as(custom, object))
    }

    /// What was converted of a state of an object is so of the next, if only its metadata changed.
    pub(crate) fn carry(&self, before: &Stored, after: &Stored) {
        if of(self.kind).is_none() {
            return;
        }
        let all = self.server.kinds.all();
        let served = all.iter().filter(|kind| kind.shelf == self.kind.shelf && !after.is_of(kind));
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

    /// Has an object that was written converted to all versions, for those who watch them.
    pub(crate) async fn spread(&self, stored: &Arc<Stored>) {
        if of(self.kind).is_none() {
            return;
        }
        let all = self.server.kinds.all();
        for kind in all.iter().filter(|kind| kind.shelf == self.kind.shelf) {
            // Who can't be served is told why when it is their turn.
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

    /// Why a webhook did not convert an object to this version.
    pub(crate) fn unconverted(&self, stored: &Stored) -> Option<String> {
        let custom = of(self).filter(|_| !stored.is_of(self))?;
        custom.converted.get(stored)?.err()
    }

    /// Whether a watch of this version has to wait for a webhook before it can show an object.
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
    let objects = foreign.iter().map(|item| item.as_kept(kind, custom)).collect();
    let converted = conversion::convert(server, &custom.conversion, objects, &kind.api_version()).await?;
    let pruned = converted.into_iter().map(|mut object| {
        schema::prune(kind.schema(), &mut object);
        Ok(object)
    });
    custom.converted.put(foreign.into_iter().map(|item| &**item).zip(pruned));
    Ok(())
}
