//! Objects that are neither primaries nor made by a tree, and whom they concern.

use crate::{
    cache::ObjectKey,
    kind::{Kind, Typed, kind_of},
    reference::NamespacedName,
};
use serde::de::DeserializeOwned;
use std::{fmt, sync::Arc};

/// Another kind that a controller follows: a change of an object wakes the primaries that a function names for it.
#[derive(Clone)]
pub struct Mapped {
    kind: Kind,
    keys: Keys,
}

type Keys = Arc<dyn Fn(&[u8]) -> serde_json::Result<Vec<ObjectKey>> + Send + Sync>;

impl Mapped {
    /// By a function that names the primaries; a name without a namespace is one in the namespace of the object.
    pub(super) fn new<K, N>(map: impl Fn(&K) -> N + Send + Sync + 'static) -> Self
    where
        K: Typed + DeserializeOwned,
        N: IntoIterator<Item = NamespacedName>,
    {
        let keys = move |json: &[u8]| {
            let object: K = serde_json::from_slice(json)?;
            let home = object.meta().namespace.clone();
            let key = |name: NamespacedName| ObjectKey::new(name.namespace.as_deref().or(home.as_deref()), &name.name);
            Ok(map(&object).into_iter().map(key).collect())
        };
        Self { kind: kind_of::<K>(), keys: Arc::new(keys) }
    }

    /// The kind that is followed.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whom an object concerns, as the server sent it. The scope of the primaries is the caller's to mind.
    pub(crate) fn keys(&self, json: &[u8]) -> serde_json::Result<Vec<ObjectKey>> {
        (self.keys)(json)
    }
}

impl fmt::Debug for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapped").field(&self.kind).finish()
    }
}
