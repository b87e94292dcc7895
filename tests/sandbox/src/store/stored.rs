//! One object as it is kept.

use bytes::Bytes;
use serde_json::Value;

use crate::object;

/// An object: its JSON without `apiVersion` and `kind`, and what is asked about all the time.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Box<str>,
    /// Its `resourceVersion`.
    pub(crate) version: u64,
    pub(crate) labels: Box<[(Box<str>, Box<str>)]>,
    /// The uids of those that it names as its owners.
    pub(crate) owners: Box<[Box<str>]>,
    /// Whether it is being deleted.
    pub(crate) deleting: bool,
    /// In which version of its kind the JSON is.
    pub(crate) api_version: Box<str>,
    /// The JSON of an object with at least `metadata`.
    pub(crate) json: Bytes,
}

impl Stored {
    pub(crate) fn new(mut object: Value, version: u64, api_version: &str) -> Self {
        object::metadata_mut(&mut object).insert("resourceVersion".into(), version.to_string().into());
        if let Value::Object(map) = &mut object {
            map.remove("apiVersion");
            map.remove("kind");
        }
        let labels = object::labels(&object).map(|(key, value)| (key.into(), value.into()));
        let owners = object::owner_uids(&object).map(Into::into);
        Self {
            owners: owners.collect(),
            deleting: object::is_deleting(&object),
            namespace: object::namespace(&object).into(),
            name: object::name(&object).into(),
            uid: object::uid(&object).into(),
            version,
            labels: labels.collect(),
            api_version: api_version.into(),
            json: Bytes::from(object.to_string()),
        }
    }

    /// An object from its JSON; `None` if it has no version.
    pub(super) fn kept(json: &[u8], api_version: &str) -> Option<Self> {
        let object: Value = serde_json::from_slice(json).ok()?;
        let version = object::version(&object)?.parse().ok()?;
        Some(Self::new(object, version, api_version))
    }

    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(own, _)| **own == *key).map(|(_, value)| &**value)
    }

    /// The key in the order of a list: as etcd has it, by `namespace/name`.
    pub(crate) fn key(&self) -> String {
        key(&self.namespace, &self.name)
    }
}

/// `namespace/name`, or the name alone.
pub(crate) fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}
