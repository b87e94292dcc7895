//! What is kept, for whoever compares states.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Sandbox;

impl Sandbox {
    /// The `resourceVersion` of the last write.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.server.store.version()
    }

    /// All objects that were made or changed after a version, in the first of their versions that is served, by kind,
    /// namespace and name. It asks nobody's rights and is no call.
    #[must_use]
    pub fn objects(&self, after: u64) -> Vec<Value> {
        let mut seen = BTreeSet::new();
        let mut objects = Vec::new();
        for kind in self.server.kinds.all() {
            if !seen.insert(kind.shelf.clone()) {
                continue;
            }
            for stored in self.server.store.list(&kind.shelf, None).1 {
                if stored.version <= after {
                    continue;
                }
                let mut object = stored.object(&kind);
                object["apiVersion"] = kind.api_version().into();
                object["kind"] = kind.kind.as_str().into();
                objects.push(object);
            }
        }
        objects
    }
}
