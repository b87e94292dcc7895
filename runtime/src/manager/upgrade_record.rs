//! `UpgradeRecord`: the ConfigMap in which an operator records for which version its upgrade hooks have succeeded.

use crate::{
    error::{Error, Result},
    kind::Kind,
};
use http::StatusCode;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Returns the name of the ConfigMap that records the upgrades of an operator.
pub(crate) fn record_name(operator: &str) -> String {
    format!("{operator}-upgrades")
}

/// The record of the upgrades of one kind: an entry of the operator's ConfigMap, as JSON.
#[derive(Clone)]
pub(crate) struct UpgradeRecord {
    pub(crate) client: kube::Client,
    pub(crate) operator: String,
    /// The namespace of the operator.
    pub(crate) namespace: String,
    pub(crate) kind: Kind,
}

/// The entry of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordEntry {
    /// The version for which the hook succeeded last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The checkpoint of a run that has not succeeded yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unfinished: Option<Unfinished>,
}

impl RecordEntry {
    /// Returns whether the text of an entry says that the hook has succeeded for this version.
    pub(crate) fn is_finished(text: &str, version: &str) -> bool {
        serde_json::from_str::<Self>(text).is_ok_and(|entry| entry.version.as_deref() == Some(version))
    }
}

/// How far a hook has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unfinished {
    /// The version that the hook upgrades to.
    pub(crate) version: String,
    pub(super) checkpoint: String,
}

impl UpgradeRecord {
    /// Reads the entry of the kind, a key of the operator's ConfigMap; an empty entry if the ConfigMap or its key does not exist.
    ///
    /// # Errors
    /// Fails if the call fails, or if the entry can't be decoded.
    pub(crate) async fn read(&self) -> Result<RecordEntry> {
        let name = record_name(&self.operator);
        let stored = self.api().get_opt(&name).await.map_err(|error| self.call_error("read", error))?;
        let data = stored.and_then(|stored| stored.data).unwrap_or_default();
        let Some(text) = data.get(&self.kind.full_name()) else { return Ok(RecordEntry::default()) };
        serde_json::from_str(text).map_err(|error| {
            let message =
                format!("key {} of ConfigMap {}/{name} is invalid: {error}", self.kind.full_name(), self.namespace);
            Error::blocked("InvalidUpgradeRecord", message)
        })
    }

    /// Writes the entry of the kind by a merge patch, which keeps the entries of other kinds; creates the ConfigMap if it does not exist.
    pub(super) async fn write(&self, entry: &RecordEntry) -> Result<()> {
        let (name, json) = (record_name(&self.operator), serde_json::to_string(entry)?);
        let data = json!({"data": {self.kind.full_name(): json}});
        let patch = async || self.api().patch(&name, &self.patch_params(), &Patch::Merge(&data)).await;
        match patch().await {
            Err(kube::Error::Api(status)) if status.code == StatusCode::NOT_FOUND => {}
            result => return result.map(drop).map_err(|error| self.call_error("write", error)),
        }
        let created: ConfigMap = serde_json::from_value(json!({"metadata": {"name": name}, "data": data["data"]}))?;
        let params = PostParams { field_manager: Some(self.operator.clone()), ..PostParams::default() };
        match self.api().create(&params, &created).await {
            // Another controller of the operator has created the ConfigMap since the first patch.
            Err(kube::Error::Api(status)) if status.code == StatusCode::CONFLICT => {
                patch().await.map(drop).map_err(|error| self.call_error("write", error))
            }
            result => result.map(drop).map_err(|error| self.call_error("create", error)),
        }
    }

    fn api(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn patch_params(&self) -> PatchParams {
        PatchParams { field_manager: Some(self.operator.clone()), ..PatchParams::default() }
    }

    fn call_error(&self, verb: &'static str, source: kube::Error) -> Error {
        let (namespace, name) = (self.namespace.clone(), record_name(&self.operator));
        Error::unexpected(UpgradeRecordError { verb, namespace, name, source })
    }
}

/// A failed call for the record of upgrades.
#[derive(Debug, thiserror::Error)]
#[error("failed to {verb} ConfigMap {namespace}/{name}, which records the upgrades of the operator")]
struct UpgradeRecordError {
    verb: &'static str,
    namespace: String,
    name: String,
    source: kube::Error,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn fields_without_a_value_are_absent_in_the_json_of_an_entry() {
        assert_eq!(serde_json::from_str::<RecordEntry>("{}").unwrap(), RecordEntry::default());
        let entry = RecordEntry { version: Some("0.1.0".to_owned()), unfinished: None };
        assert_eq!(serde_json::to_string(&entry).unwrap(), r#"{"version":"0.1.0"}"#);
    }
}
