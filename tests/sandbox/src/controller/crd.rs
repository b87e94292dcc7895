//! Reconciles CustomResourceDefinitions: accepts their names, serves their kinds, and starts the removal of deleted ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;
use tokio::task::JoinSet;

use super::{crd_client::write, crd_removal, naming};
use crate::{
    condition::Condition,
    kind::{custom, definition},
    object::{self, text},
    server::Server,
    store::Stored,
};

/// Reconciles the CRDs as long as the server runs: all of them at the start, then each CRD that changes.
pub(super) async fn run(server: Arc<Server>) {
    let group_resource: Arc<str> = format!("{}.{}", definition::PLURAL, definition::GROUP).into();
    let mut subscription = server.store.subscribe(&group_resource);
    let mut crds = Crds {
        server: server.clone(),
        group_resource: group_resource.clone(),
        states: BTreeMap::new(),
        removals: JoinSet::new(),
    };
    let (mut version_seen, items) = server.store.list(&group_resource, None);
    let mut pending: BTreeSet<String> = items.iter().map(|item| item.name.to_string()).collect();
    loop {
        while let Some(name) = pending.pop_first() {
            pending.extend(crds.sync(&name).await);
        }
        subscription.mark_unchanged();
        match server.store.changes(&group_resource, version_seen) {
            Ok(changes) => {
                version_seen = changes.last().map_or(version_seen, |change| change.version);
                pending.extend(changes.iter().map(|change| change.object.name.to_string()));
            }
            // The history does not reach back to the version: reconciles all existing CRDs, and the known ones, which may be deleted.
            Err(_) => {
                let (version, items) = server.store.list(&group_resource, None);
                version_seen = version;
                pending.extend(items.iter().map(|item| item.name.to_string()).chain(crds.states.keys().cloned()));
            }
        }
        if pending.is_empty() && subscription.changed().await.is_err() {
            return;
        }
    }
}

/// The controller's state of all CRDs.
struct Crds {
    server: Arc<Server>,
    group_resource: Arc<str>,
    /// The state of each CRD by name.
    states: BTreeMap<String, CrdState>,
    /// The tasks that wait until the objects of deleted CRDs are gone.
    removals: JoinSet<()>,
}

/// The last state of a CRD that the controller saw.
struct CrdState {
    uid: String,
    group: String,
    /// The accepted names.
    names: Value,
    /// The state for which its kinds were served last; `None` if they are not served yet.
    served: Option<ServedState>,
    /// The first version of the store at which its current schemas apply.
    schema_version: u64,
    /// Whether a task deletes its objects.
    is_removing: bool,
}

/// The state of a CRD that determines the kinds it serves.
#[derive(PartialEq)]
struct ServedState {
    generation: i64,
    names: Value,
    terminating: bool,
}

impl Crds {
    /// Reconciles a CRD: accepts its names, serves its kinds, and starts the removal of a deleted CRD. Returns the names of the other CRDs
    /// in its group if it released or changed its names, since their names may be accepted now.
    async fn sync(&mut self, name: &str) -> Vec<String> {
        let Some(stored) = self.server.store.get(&self.group_resource, "", name) else {
            self.server.kinds.define(name, Vec::new());
            // Ends the watches of the kind, which tells their clients that it is gone.
            self.server.store.end_watches(name);
            let Some(deleted) = self.states.remove(name) else { return Vec::new() };
            return self.others_in_group(&deleted.group, name);
        };
        let crd = self.read(&stored);
        let state = self.update_state(name, &crd);
        let starts_removal = !state.is_removing && object::is_deleting(&crd);
        if starts_removal && object::finalizers(&crd).contains(&definition::CLEANUP) {
            state.is_removing = true;
            self.serve(name, &crd);
            self.removals.spawn(crd_removal::remove(self.server.clone(), crd));
            return Vec::new();
        }
        if let Some(changed) = self.resolve_names(&crd) {
            let group = text(&crd, &["spec", "group"]).to_owned();
            write(&self.server, &changed, "/status").await;
            return self.others_in_group(&group, name);
        }
        self.serve(name, &crd);
        if definition::has_condition(&crd, "NamesAccepted") && !definition::has_condition(&crd, "Established") {
            let mut crd = crd;
            let message = "the initial names have been accepted";
            let established = Condition::new("Established", true, "InitialNamesAccepted", message);
            definition::set_condition(&mut crd, &established, &self.server.environment.time());
            write(&self.server, &crd, "/status").await;
        }
        Vec::new()
    }

    /// Returns the CRD in version `v1`; null if CRDs are not served.
    fn read(&self, stored: &Stored) -> Value {
        let kind = self.server.kinds.find(definition::GROUP, "v1", definition::PLURAL);
        kind.map(|kind| stored.object(&kind)).unwrap_or_default()
    }

    /// Updates the controller's state of a CRD to its accepted names, and returns the state. Starts with an empty state for a new CRD, and
    /// for a CRD with another uid, which has replaced a deleted one of the same name.
    fn update_state(&mut self, name: &str, crd: &Value) -> &mut CrdState {
        let (uid, group) = (object::uid(crd).to_owned(), text(crd, &["spec", "group"]).to_owned());
        let names = crd["status"]["acceptedNames"].clone();
        let new_state = || CrdState {
            uid: uid.clone(),
            group,
            names: Value::Null,
            served: None,
            schema_version: 0,
            is_removing: false,
        };
        let state = self.states.entry(name.to_owned()).or_insert_with(new_state);
        if state.uid != uid {
            *state = CrdState {
                uid,
                group: state.group.clone(),
                names: Value::Null,
                served: None,
                schema_version: 0,
                is_removing: false,
            };
        }
        state.names = names;
        state
    }

    /// Returns the CRD with its names accepted or rejected, depending on the names that the CRDs of its group use; `None` if nothing
    /// changed.
    fn resolve_names(&self, crd: &Value) -> Option<Value> {
        let group = text(crd, &["spec", "group"]);
        let in_group = self.states.values().filter(|state| state.group == group);
        naming::resolve(crd, in_group.map(|state| &state.names), &self.server.environment.time())
    }

    /// Serves the kinds that the CRD defines now, if its names are accepted or it is established. Does nothing if neither its generation,
    /// its names nor its condition `Terminating` have changed since its kinds were served last.
    fn serve(&mut self, name: &str, crd: &Value) {
        if !definition::has_condition(crd, "NamesAccepted") && !definition::has_condition(crd, "Established") {
            return;
        }
        let Some(state) = self.states.get_mut(name) else { return };
        let terminating = definition::has_condition(crd, "Terminating");
        let generation = object::number(crd, &["metadata", "generation"]).unwrap_or(0);
        let current = Some(ServedState { generation, names: state.names.clone(), terminating });
        if state.served != current {
            // A new generation may change the schema. Objects written before are validated again when they are read.
            let schema_may_differ =
                state.served.as_ref().map_or(generation > 1, |served| served.generation != generation);
            if schema_may_differ {
                state.schema_version = self.server.store.version() + 1;
            }
            self.server.kinds.define(name, custom::kinds(crd, state.schema_version));
            state.served = current;
        }
    }

    /// Returns the names of all CRDs of a group except the CRD `name`.
    fn others_in_group(&self, group: &str, name: &str) -> Vec<String> {
        let others = self.states.iter().filter(|(other, state)| state.group == group && *other != name);
        others.map(|(other, _)| other.clone()).collect()
    }
}
