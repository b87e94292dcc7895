//! Reads and writes the record of an external resource: a ConfigMap in the namespace of the operator, which is written before the resource
//! is created and keeps the id of the resource.

use crate::{
    cache::Uid,
    client::{CallError, Target, strip_nulls},
    engine::{deletion::delete_params, pass::PassCore},
    error::{Error, Result},
    kind::{Kind, kind_of},
    text_hash::text_hash,
};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The part of the name of a record that is the same for all.
const NAME_PREFIX: &str = "opgen-external";
/// The label of all records; the value is the operator's name.
const RECORD_LABEL: &str = "opgen.dev/external-record";
/// The label of the records of one owner; the value is a hash of its kind and name.
const OWNER_LABEL: &str = "opgen.dev/external-owner";

/// The content of the record of an external thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExternalRecord {
    pub(super) phase: ExternalPhase,
    /// The token with which the thing is created.
    pub(super) token: String,
    /// The id of the thing; `None` as long as it is not known.
    pub(super) id: Option<String>,
    /// Salted digest of the last spec that was applied or, in a pending record, with which the thing is created. `None` if that is
    /// not known, as during an update.
    pub(super) digest: Option<String>,
    /// The time before the last call that creates the thing, or after it if it succeeded.
    pub(super) since: Timestamp,
}

/// How far the life of an external thing has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExternalPhase {
    /// It may have been created.
    Pending,
    /// It has an id.
    Created,
    /// It has an id, and its deletion may have begun.
    Deleting,
}

impl ExternalPhase {
    /// Returns the phase as the record stores it.
    fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Created => "Created",
            Self::Deleting => "Deleting",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Pending, Self::Created, Self::Deleting].into_iter().find(|phase| phase.as_str() == text)
    }
}

impl ExternalRecord {
    /// Returns the record that is stored before a call that creates the external resource.
    pub(super) fn pending(token: &str, digest: Option<String>, since: Timestamp) -> Self {
        Self { phase: ExternalPhase::Pending, token: token.to_owned(), id: None, digest, since }
    }

    /// Returns the fields of the record in the data of its ConfigMap, as a merge patch: a null removes a field.
    fn to_data(&self) -> Value {
        json!({
            "phase": self.phase.as_str(),
            "token": self.token,
            "id": self.id,
            "digest": self.digest,
            "since": self.since.to_string(),
        })
    }

    /// Parses a record from the data of its ConfigMap; `None` if somebody has changed the data so that it is no valid record.
    fn parse(data: &Value) -> Option<Self> {
        let text = |field: &str| data[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let (phase, id) = (ExternalPhase::parse(data["phase"].as_str()?)?, text("id"));
        let record =
            Self { phase, token: text("token")?, digest: text("digest"), since: text("since")?.parse().ok()?, id };
        let has_id = record.id.is_some();
        // A pending record has no id, and every other record has one.
        (has_id != (phase == ExternalPhase::Pending)).then_some(record)
    }
}

/// A record, with the version in which it was read or written.
#[derive(Clone, Debug)]
pub(super) struct StoredRecord {
    pub(super) record: ExternalRecord,
    uid: String,
    version: String,
}

/// The record of one external node.
#[derive(Debug)]
pub(super) struct RecordStore<'a> {
    core: &'a PassCore<'a>,
    /// The path of the node.
    node: String,
    /// What the thing is.
    thing: &'static str,
    /// The name of the ConfigMap.
    name: String,
    kind: Kind,
}

impl<'a> RecordStore<'a> {
    /// Returns the store for the record of a node of the pass's owner. `thing` names the type of external resource, such as `DNS record`.
    pub(super) fn new(core: &'a PassCore<'a>, node: String, thing: &'static str) -> Self {
        // The hash contains no uid: a new owner of the same name takes over the record with the external resource.
        let hash =
            text_hash([&*core.shared.operator, &*core.owner.kind.full_name(), &*core.owner.key.to_string(), &*node], 8);
        Self { core, node, thing, name: format!("{NAME_PREFIX}-{hash}"), kind: kind_of::<ConfigMap>() }
    }

    pub(super) fn node(&self) -> &str {
        &self.node
    }

    /// Derives the token that identifies an external resource at its service before its id is known. All passes over an owner get the same
    /// token. An owner that is deleted and created again gets another token, since the token depends on its UID.
    pub(super) fn derive_token(&self) -> String {
        let owner = &self.core.owner;
        let (kind, key, uid) = (owner.kind.full_name(), owner.key.to_string(), owner.uid.to_string());
        text_hash([&*self.core.shared.operator, &*kind, &*key, &*uid, &*self.node], 16)
    }

    /// Reads the record from the API server; `None` if there is none.
    ///
    /// # Errors
    /// Fails if the call fails, or if somebody has changed the data so that it is no valid record.
    pub(super) async fn read(&self) -> Result<Option<StoredRecord>> {
        let found = self.core.shared.client.get::<Value>(self.target()).await?;
        found.map(|config| self.parse_stored(&config)).transpose()
    }

    /// Writes the record: creates its ConfigMap, or patches it if it still has the version of the `earlier` record. Returns the record
    /// with its new version.
    ///
    /// # Errors
    /// A conflict if another process has created or changed the ConfigMap; the error of the call if it fails.
    pub(super) async fn write(&self, earlier: Option<&StoredRecord>, record: &ExternalRecord) -> Result<StoredRecord> {
        let (client, manager) = (&self.core.shared.client, &self.core.shared.operator);
        let written = match earlier {
            Some(StoredRecord { uid, version, .. }) => {
                let metadata = json!({"uid": uid, "resourceVersion": version});
                let patch = json!({"metadata": metadata, "data": self.data(record)});
                client.merge(self.target(), &patch, manager).await?
            }
            None => {
                let data = strip_nulls(self.data(record));
                let created = client.create::<Value>(self.target(), &self.object(data), manager).await;
                created.map_err(|error| self.creation_error(error))?
            }
        };
        self.note_existence(true);
        self.parse_stored(&written)
    }

    /// Removes the record.
    ///
    /// # Errors
    /// The error of the call.
    pub(super) async fn delete(&self, stored: &StoredRecord) -> Result<()> {
        let params = delete_params(&self.kind, &Uid::from(stored.uid.as_str()), None);
        self.core.shared.client.delete(self.target(), &params).await?;
        self.note_existence(false);
        Ok(())
    }

    /// Returns the error for a ConfigMap that somebody has changed so that it is no valid record.
    fn damaged(&self) -> Error {
        let Self { node, thing, name, .. } = self;
        let namespace = &self.core.shared.namespace;
        let sentence = format!(
            "ConfigMap {namespace}/{name}, the record of the {thing} of node {node}, is damaged; restore its data, or delete it \
             if the {thing} can be found by its token"
        );
        Error::blocked("DamagedRecord", sentence)
    }

    /// Converts the error of the call that creates the ConfigMap: a conflict if it exists already, else the error itself.
    fn creation_error(&self, error: CallError) -> Error {
        if !error.is_name_taken() {
            return error.into();
        }
        let sentence = format!("another process has created the record of the {} of node {}", self.thing, self.node);
        Error::conflict("RecordExists", sentence)
    }

    /// Stores in the state of the owner, which is kept between passes, whether the node has a record.
    fn note_existence(&self, exists: bool) {
        self.core.owner_states().update_external(&self.core.owner, |states| states.note_record(&self.node, exists));
    }

    /// Parses the record in a ConfigMap, with its uid and resourceVersion.
    ///
    /// # Errors
    /// Fails if somebody has changed the data so that it is no valid record.
    fn parse_stored(&self, config: &Value) -> Result<StoredRecord> {
        let record = ExternalRecord::parse(&config["data"]).ok_or_else(|| self.damaged())?;
        let text = |field: &str| config["metadata"][field].as_str().unwrap_or_default().to_owned();
        Ok(StoredRecord { record, uid: text("uid"), version: text("resourceVersion") })
    }

    /// Returns the data of the ConfigMap: the fields of the record, the owner with its uid, the node, and the type of external resource.
    fn data(&self, record: &ExternalRecord) -> Value {
        let owner = &self.core.owner;
        let mut data = record.to_data();
        data["owner"] = owner_text(self.core).into();
        data["ownerUid"] = owner.uid.to_string().into();
        data["node"] = self.node.clone().into();
        data["thing"] = self.thing.into();
        data
    }

    /// Returns the ConfigMap of the record. It has no owner reference, because the garbage collector could delete it before the teardown
    /// needs it. It does not have the label of child objects, so that the operator does not treat it as a child.
    fn object(&self, data: Value) -> Value {
        json!({
            "apiVersion": self.kind.api_version(),
            "kind": self.kind.kind,
            "metadata": {
                "name": self.name,
                "namespace": self.core.shared.namespace,
                "labels": {RECORD_LABEL: self.core.shared.operator, OWNER_LABEL: owner_hash(self.core)},
            },
            "data": data,
        })
    }

    fn target(&self) -> Target<'_> {
        Target { kind: &self.kind, namespace: Some(&self.core.shared.namespace), name: &self.name }
    }
}

/// Lists the records of the owner from the API server, and returns the paths of their nodes.
///
/// # Errors
/// The error of the call.
pub(super) async fn nodes_with_records(core: &PassCore<'_>) -> Result<BTreeSet<Box<str>>> {
    let configs = list_records(core).await?;
    Ok(configs.iter().filter_map(|config| config["data"]["node"].as_str()).map(Box::from).collect())
}

/// Returns a sentence about each record that the owner still has after the teardown of its tree, for the user.
///
/// # Errors
/// The error of the call.
pub(super) async fn remaining_records(core: &PassCore<'_>) -> Result<Vec<String>> {
    let configs = list_records(core).await?;
    Ok(configs.iter().map(|config| remaining_record(&core.shared.namespace, config)).collect())
}

/// Lists the ConfigMaps with the records of the owner from the API server. The label has only a hash of the owner, so that the result is
/// also filtered by the owner in the data.
async fn list_records(core: &PassCore<'_>) -> Result<Vec<Value>> {
    let labels = format!("{RECORD_LABEL}={},{OWNER_LABEL}={}", core.shared.operator, owner_hash(core));
    let kind = kind_of::<ConfigMap>();
    let target = Target { kind: &kind, namespace: Some(&core.shared.namespace), name: "" };
    let mut configs = core.shared.client.list::<Value>(target, Some(&labels)).await?;
    let owner = owner_text(core);
    configs.retain(|config| config["data"]["owner"] == owner.as_str());
    Ok(configs)
}

/// Returns a sentence about a record whose node is no longer in the tree: the external resource that may exist, and what to do with it.
fn remaining_record(namespace: &str, config: &Value) -> String {
    let data = |field: &str| config["data"][field].as_str().unwrap_or_default();
    let (thing, node, id) = (data("thing"), data("node"), data("id"));
    let existence = match id {
        "" => format!("a {thing} with the token {} may exist outside of the cluster", data("token")),
        id => format!("{thing} {id} exists outside of the cluster"),
    };
    let name = config["metadata"]["name"].as_str().unwrap_or_default();
    format!(
        "{existence}, but the tree no longer has the node {node}; delete the {thing} by hand, and then its record, ConfigMap \
         {namespace}/{name}"
    )
}

/// Returns the owner of a pass as its records name it: `webapps.demo.example.com/shop/web`.
fn owner_text(core: &PassCore<'_>) -> String {
    format!("{}/{}", core.owner.kind.full_name(), core.owner.key)
}

fn owner_hash(core: &PassCore<'_>) -> String {
    text_hash([&*owner_text(core)], 8)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        cache::{ObjectKey, ResourceVersion},
        client::Client,
        engine::{
            controller_state::{ControllerFacts, ControllerState},
            identity::{Identity, OwnerNaming},
        },
        environment::Environment,
        event::EventRecorder,
    };

    /// Returns a record in this phase with this id; the other fields are fixed.
    fn record(phase: ExternalPhase, id: Option<&str>) -> ExternalRecord {
        let since = "2026-03-01T12:00:00Z".parse().unwrap();
        let digest = Some("0f".to_owned());
        ExternalRecord { phase, token: "5e".to_owned(), id: id.map(str::to_owned), digest, since }
    }

    /// Parses each record with null fields, as a merge patch has them, and without, as a ConfigMap has them.
    #[test]
    fn a_record_is_read_back_as_it_was_written() {
        let without_digest = ExternalRecord { digest: None, ..record(ExternalPhase::Created, Some("7")) };
        for record in [
            record(ExternalPhase::Pending, None),
            record(ExternalPhase::Created, Some("7")),
            record(ExternalPhase::Deleting, Some("7")),
            without_digest,
        ] {
            assert_eq!(ExternalRecord::parse(&record.to_data()), Some(record.clone()));
            assert_eq!(ExternalRecord::parse(&strip_nulls(record.to_data())), Some(record));
        }
    }

    #[test]
    fn a_changed_record_is_recognized_as_damaged() {
        assert_eq!(ExternalRecord::parse(&Value::Null), None);
        let damaged = [("phase", json!("Gone")), ("token", json!("")), ("since", json!("today")), ("id", json!(null))];
        for (field, value) in damaged {
            let mut data = record(ExternalPhase::Created, Some("7")).to_data();
            data[field] = value;
            assert_eq!(ExternalRecord::parse(&data), None, "{field}");
        }
        let mut pending = record(ExternalPhase::Pending, None).to_data();
        pending["id"] = json!("7");
        assert_eq!(ExternalRecord::parse(&pending), None, "a pending record has no id");
    }

    #[test]
    fn a_remaining_record_names_the_thing_and_what_to_do() {
        let config = |id: &str| {
            let data = json!({"thing": "DNS record", "node": "old", "id": id, "token": "5e"});
            json!({"metadata": {"name": "opgen-external-1"}, "data": data})
        };
        let rest = ", but the tree no longer has the node old; delete the DNS record by hand, and then its record, ConfigMap \
                    system/opgen-external-1";
        let expected = format!("DNS record entry-7 exists outside of the cluster{rest}");
        assert_eq!(remaining_record("system", &config("entry-7")), expected);
        let expected = format!("a DNS record with the token 5e may exist outside of the cluster{rest}");
        assert_eq!(remaining_record("system", &config("")), expected);
    }

    #[tokio::test]
    async fn the_token_depends_on_the_uid_of_the_owner_and_the_name_of_the_record_does_not() {
        let facts = ControllerFacts {
            operator: "live".to_owned(),
            namespace: "live-system".to_owned(),
            environment: Environment::system(),
            recorder: EventRecorder::disabled(),
            counters: Default::default(),
            metrics: Default::default(),
        };
        let state = ControllerState::new(Client::disconnected(), facts);
        let token_and_record_name = |uid: &str, name: &str, node: &str| {
            let (kind, key) = (kind_of::<ConfigMap>(), ObjectKey::namespaced("shop", name));
            let owner = Identity { kind, key, uid: Uid::from(uid), naming: OwnerNaming::Reference };
            let core = PassCore::new(&state, owner, &ResourceVersion::from("1"));
            let records = RecordStore::new(&core, node.to_owned(), "DNS record");
            (records.derive_token(), records.name.clone())
        };
        let (token, name) = token_and_record_name("1", "web", "record");
        assert_eq!(token.len(), 32);
        assert_eq!(token_and_record_name("1", "web", "record"), (token.clone(), name.clone()));
        for (uid, owner, node) in [("1", "api", "record"), ("1", "web", "pools[a]/record")] {
            let (other_token, other_name) = token_and_record_name(uid, owner, node);
            assert!(other_token != token && other_name != name, "{owner} {node}");
        }
        let (recreated_token, recreated_name) = token_and_record_name("2", "web", "record");
        assert_ne!(recreated_token, token, "an owner that is created again has another token");
        assert_eq!(recreated_name, name, "it finds the record of the one before it");
    }
}
