//! Parses the events in the responses of watches, which the timeline of a test records beside the calls and the faults.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ObservedCondition, ObservedEvent};

/// A line of a watch.
#[derive(Deserialize)]
struct WatchLine {
    #[serde(rename = "type")]
    type_: String,
    object: WatchObject,
}

/// The part of an object that the timeline records.
#[derive(Deserialize)]
struct WatchObject {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    metadata: WatchMetadata,
    /// The status of any shape: a custom resource may use the field freely.
    status: Option<Box<RawValue>>,
}

/// The part of the metadata that the timeline records.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WatchMetadata {
    namespace: String,
    name: String,
    resource_version: String,
    deletion_timestamp: Option<String>,
}

/// The part of a status that the timeline records.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    conditions: Vec<ObservedCondition>,
}

impl ObservedEvent {
    /// Parses a line of a watch into an event, whose own number and number of the watch are 0. Returns `None` for bookmarks, errors and
    /// invalid lines.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let WatchLine { type_, object: WatchObject { kind, metadata, status } } = serde_json::from_slice(line).ok()?;
        if !matches!(type_.as_str(), "ADDED" | "MODIFIED" | "DELETED") {
            return None;
        }
        let status = status.and_then(|status| serde_json::from_str::<Status>(status.get()).ok()).unwrap_or_default();
        Some(Self {
            number: 0,
            watch: 0,
            type_,
            kind,
            namespace: metadata.namespace,
            name: metadata.name,
            version: metadata.resource_version,
            deleting: metadata.deletion_timestamp.is_some(),
            conditions: status.conditions,
            fault: None,
        })
    }
}
