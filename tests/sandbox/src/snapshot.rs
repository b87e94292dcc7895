//! Methods of `Sandbox` for tests that compare states: the latest `resourceVersion`, and all objects that were created or changed after a
//! version.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Sandbox;

impl Sandbox {
    /// Returns the `resourceVersion` of the last write.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.server.store.version()
    }

    /// Returns all objects that were created or changed after a version, in their first served version, by kind,
    /// namespace and name. This is not a request: it needs no rights and is not recorded.
    #[must_use]
    pub fn objects(&self, after: u64) -> Vec<Value> {
        let mut visited = BTreeSet::new();
        let mut objects = Vec::new();
        for kind in self.server.kinds.all() {
            // Another version of a resource whose objects are already in the list.
            if !visited.insert(kind.group_resource.clone()) {
                continue;
            }
            for stored in self.server.store.list(&kind.group_resource, None).1 {
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
