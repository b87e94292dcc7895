//! Accepts the names of CustomResourceDefinitions, serves their kinds, and starts their removal.

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

/// Reconciles the CRDs as long as the server runs.
pub(super) async fn run(server: Arc<Server>) {
    let group_resource: Arc<str> = format!("{}.{}", definition::PLURAL, definition::GROUP).into();
    let mut subscription = server.store.subscribe(&group_resource);
    let mut crds = Crds {
        server: server.clone(),
        group_resource: group_resource.clone(),
        known: BTreeMap::new(),
        removals: JoinSet::new(),
    };
    let (mut after, items) = server.store.list(&group_resource, None);
    let mut due: BTreeSet<String> = items.iter().map(|item| item.name.to_string()).collect();
    loop {
        while let Some(name) = due.pop_first() {
            due.extend(crds.sync(&name).await);
        }
        subscription.mark_unchanged();
        match server.store.changes(&group_resource, after) {
            Ok(changes) => {
                after = changes.last().map_or(after, |change| change.version);
                due.extend(changes.iter().map(|change| change.object.name.to_string()));
            }
            Err(_) => {
                let (version, items) = server.store.list(&group_resource, None);
                after = version;
                due.extend(items.iter().map(|item| item.name.to_string()).chain(crds.known.keys().cloned()));
            }
        }
        if due.is_empty() && subscription.changed().await.is_err() {
            return;
        }
    }
}

/// The controller's state of all CRDs.
struct Crds {
    server: Arc<Server>,
    group_resource: Arc<str>,
    known: BTreeMap<String, Known>,
    /// The tasks that wait until the objects of deleted CRDs are gone.
    removals: JoinSet<()>,
}

/// The last state of a CRD that the controller saw.
struct Known {
    uid: String,
    group: String,
    names: Value,
    /// The generation, names and termination for which its kinds were served.
    served: Option<(i64, Value, bool)>,
    /// The first version of the store at which its current schemas apply.
    since: u64,
    removed: bool,
}

impl Crds {
    /// Reconciles a CRD. Returns the names of other CRDs that need a reconcile because of it.
    async fn sync(&mut self, name: &str) -> Vec<String> {
        let Some(stored) = self.server.store.get(&self.group_resource, "", name) else {
            self.server.kinds.define(name, Vec::new());
            // Ends the watches of the kind, which tells their clients that it is gone.
            self.server.store.end_watches(name);
            let Some(gone) = self.known.remove(name) else { return Vec::new() };
            return self.others_of(&gone.group, name);
        };
        let crd = self.read(&stored);
        let known = self.remember(name, &crd);
        let first = !known.removed && object::is_deleting(&crd);
        if first && object::finalizers(&crd).contains(&definition::CLEANUP) {
            known.removed = true;
            self.serve(name, &crd);
            self.removals.spawn(crd_removal::remove(self.server.clone(), crd));
            return Vec::new();
        }
        if let Some(changed) = self.resolve_names(&crd) {
            let group = text(&crd, &["spec", "group"]).to_owned();
            write(&self.server, &changed, "/status").await;
            return self.others_of(&group, name);
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

    fn read(&self, stored: &Stored) -> Value {
        let kind = self.server.kinds.find(definition::GROUP, "v1", definition::PLURAL);
        kind.map(|kind| stored.object(&kind)).unwrap_or_default()
    }

    fn remember(&mut self, name: &str, crd: &Value) -> &mut Known {
        let (uid, group) = (object::uid(crd).to_owned(), text(crd, &["spec", "group"]).to_owned());
        let names = crd["status"]["acceptedNames"].clone();
        let fresh = || Known { uid: uid.clone(), group, names: Value::Null, served: None, since: 0, removed: false };
        let known = self.known.entry(name.to_owned()).or_insert_with(fresh);
        if known.uid != uid {
            *known =
                Known { uid, group: known.group.clone(), names: Value::Null, served: None, since: 0, removed: false };
        }
        known.names = names;
        known
    }

    /// Returns the CRD with its names resolved; `None` if nothing changed.
    fn resolve_names(&self, crd: &Value) -> Option<Value> {
        let group = text(crd, &["spec", "group"]);
        let of_group = self.known.values().filter(|known| known.group == group);
        naming::settle(crd, of_group.map(|known| &known.names), &self.server.environment.time())
    }

    /// Serves the kinds that the CRD defines now.
    fn serve(&mut self, name: &str, crd: &Value) {
        if !definition::has_condition(crd, "NamesAccepted") && !definition::has_condition(crd, "Established") {
            return;
        }
        let Some(known) = self.known.get_mut(name) else { return };
        let terminating = definition::has_condition(crd, "Terminating");
        let generation = object::number(crd, &["metadata", "generation"]).unwrap_or(0);
        let made_from = Some((generation, known.names.clone(), terminating));
        if known.served != made_from {
            // Objects written before the schema changed are validated again when they are read.
            let changed = known.served.as_ref().map_or(generation > 1, |(before, ..)| *before != generation);
            if changed {
                known.since = self.server.store.version() + 1;
            }
            self.server.kinds.define(name, custom::kinds(crd, known.since));
            known.served = made_from;
        }
    }

    fn others_of(&self, group: &str, name: &str) -> Vec<String> {
        let others = self.known.iter().filter(|(other, known)| known.group == group && *other != name);
        others.map(|(other, _)| other.clone()).collect()
    }
}
