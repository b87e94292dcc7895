//! `ServiceContents`: the things that a simulated external service stores, such as DNS records, and what clients did to them.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    error::ServiceError,
    settings::ServiceSettings,
    thing::{ServiceCall, Thing},
};
use crate::{object::EXTERNAL_FIELD, service_event::ServiceEvent};

/// A thing with the times that decide who sees it.
struct StoredThing<T> {
    token: String,
    value: T,
    /// No client sees it earlier.
    visible_at: Instant,
    /// When it is deleted; `None` before its deletion began.
    gone_at: Option<Instant>,
    /// Whether another client has created it, so that it stays after the program.
    is_existing: bool,
    /// Whether another client has changed a part that the program does not manage.
    has_foreign_change: bool,
}

/// The things of a [`SimulatedService`](super::SimulatedService), the log of its calls, and the violations of its rules.
pub(super) struct ServiceContents<T> {
    settings: ServiceSettings<T>,
    /// The seed of the ids.
    seed: u64,
    /// The number of things that were created.
    created: u64,
    things: BTreeMap<String, StoredThing<T>>,
    /// How many things were ever created with a token.
    creations: BTreeMap<String, usize>,
    pub(super) calls: Vec<ServiceCall>,
    violations: Vec<String>,
    pub(super) quota: Option<usize>,
    /// The number of creations that the quota has rejected.
    refused_creations: usize,
    /// The things that another client has changed and the program has not changed since.
    drifted: BTreeSet<String>,
    /// The number of things that another client has deleted and that were not created again.
    lost: usize,
}

impl<T: Clone + Serialize> ServiceContents<T> {
    /// Returns the contents of a new service: only the things that another client has created before, according to the settings.
    pub(super) fn new(settings: ServiceSettings<T>, seed: u64) -> Self {
        let mut contents = Self {
            quota: settings.quota,
            seed,
            created: 0,
            things: BTreeMap::new(),
            creations: BTreeMap::new(),
            calls: Vec::new(),
            violations: Vec::new(),
            refused_creations: 0,
            drifted: BTreeSet::new(),
            lost: 0,
            settings,
        };
        for (id, value) in contents.settings.existing.clone() {
            contents.put(&id, value);
        }
        contents
    }

    /// Returns the first thing that `is_wanted` accepts by its id and its token. Skips things that no client can see yet, since the service
    /// is eventually consistent.
    pub(super) fn find(&mut self, is_wanted: impl Fn(&str, &str) -> bool) -> Option<Thing<T>> {
        self.expire();
        let now = Instant::now();
        let mut visible = self.things.iter().filter(|(_, stored)| stored.visible_at <= now);
        visible.find(|(id, stored)| is_wanted(id, &stored.token)).map(|(id, stored)| stored.thing(id))
    }

    /// Returns all things, whether they are visible or not.
    pub(super) fn all(&mut self) -> Vec<Thing<T>> {
        self.expire();
        self.things.iter().map(|(id, stored)| stored.thing(id)).collect()
    }

    /// Creates a thing for the program under test and returns its id. The token identifies the creation: a second thing with the token of
    /// one that exists is recorded as a violation. Fails if the quota is exhausted.
    pub(super) fn create(&mut self, token: &str, mut value: T) -> Result<String, ServiceError> {
        self.expire();
        if self.quota.is_some_and(|most| self.things.len() >= most) {
            self.refused_creations += 1;
            return Err(ServiceError::QuotaExceeded);
        }
        self.created += 1;
        // Other seeds give other ids, so that a comparison of two undisturbed runs shows the fields with ids.
        let mut hasher = DefaultHasher::new();
        (self.seed, self.created).hash(&mut hasher);
        let id = format!("{}-{:08x}", self.settings.path(), hasher.finish() >> 32);
        let has_same_token =
            |stored: &StoredThing<T>| stored.token == token && stored.gone_at.is_none() && !token.is_empty();
        if let Some((other, _)) = self.things.iter().find(|(_, stored)| has_same_token(stored)) {
            let name = &self.settings.name;
            self.violations.push(format!("{name} {id} was created although {name} {other} has the same token {token}"));
        }
        self.complete(&mut value);
        let visible_at = Instant::now() + self.settings.visible_after;
        let stored = StoredThing {
            token: token.to_owned(),
            value,
            visible_at,
            gone_at: None,
            is_existing: false,
            has_foreign_change: false,
        };
        self.things.insert(id.clone(), stored);
        *self.creations.entry(token.to_owned()).or_default() += 1;
        // A creation counts as the repair of one thing that another client has deleted.
        self.lost = self.lost.saturating_sub(1);
        Ok(id)
    }

    /// Changes a thing for the program under test. A change that removes what another client has set is recorded as a violation. Fails if
    /// the thing does not exist, or is not visible yet.
    pub(super) fn change(&mut self, id: &str, change: impl FnOnce(&mut T)) -> Result<(), ServiceError> {
        self.expire();
        let now = Instant::now();
        let stored = self.things.get(id).filter(|stored| stored.visible_at <= now).ok_or(ServiceError::NotFound)?;
        let (mut value, has_foreign_change) = (stored.value.clone(), stored.has_foreign_change);
        change(&mut value);
        self.complete(&mut value);
        if has_foreign_change && !self.keeps_foreign_change(&value) {
            let name = &self.settings.name;
            self.violations.push(format!("an update of {name} {id} removed what another client had set"));
        }
        if let Some(stored) = self.things.get_mut(id) {
            stored.value = value;
        }
        // Any change by the program counts as the repair of what another client has changed.
        self.drifted.remove(id);
        Ok(())
    }

    /// Begins the deletion of a thing for the program under test; it ends after the time in the settings. Succeeds if the deletion has
    /// begun already, and fails if the thing does not exist, or is not visible yet.
    pub(super) fn delete(&mut self, id: &str) -> Result<(), ServiceError> {
        self.expire();
        let now = Instant::now();
        let deletion_time = self.settings.deletion_time;
        let stored = self.things.get_mut(id).filter(|stored| stored.visible_at <= now).ok_or(ServiceError::NotFound)?;
        stored.gone_at.get_or_insert(now + deletion_time);
        self.drifted.remove(id);
        self.expire();
        Ok(())
    }

    /// Creates a thing as another client, or replaces its value if it exists.
    pub(super) fn put(&mut self, id: &str, value: T) {
        match self.things.get_mut(id) {
            Some(stored) => stored.value = value,
            None => {
                let stored = StoredThing {
                    token: String::new(),
                    value,
                    visible_at: Instant::now(),
                    gone_at: None,
                    is_existing: true,
                    has_foreign_change: false,
                };
                self.things.insert(id.to_owned(), stored);
            }
        }
    }

    /// Deletes a thing at once as another client.
    pub(super) fn remove(&mut self, id: &str) {
        self.things.remove(id);
    }

    /// Returns how many things were ever created with a token.
    pub(super) fn creations(&self, token: &str) -> usize {
        self.creations.get(token).copied().unwrap_or_default()
    }

    pub(super) fn violations(&self) -> &[String] {
        &self.violations
    }

    pub(super) fn refused_creations(&self) -> usize {
        self.refused_creations
    }

    /// Returns the number of things that another client has changed or deleted and the program has not repaired yet.
    pub(super) fn unrepaired(&self) -> usize {
        self.drifted.len() + self.lost
    }

    /// Applies an event to all things: a deletion or a change by another client, or an exhausted quota. Ignores the events of single calls,
    /// which are faults.
    pub(super) fn disturb(&mut self, event: ServiceEvent) {
        self.expire();
        match event {
            ServiceEvent::Loss => {
                // Things of other clients, and those that the program is deleting, need no repair.
                let before = self.things.len();
                self.things.retain(|_, stored| stored.is_existing || stored.gone_at.is_some());
                self.lost += before - self.things.len();
            }
            ServiceEvent::Drift | ServiceEvent::ForeignChange => self.change_all(event == ServiceEvent::ForeignChange),
            ServiceEvent::Quota => self.quota = Some(0),
            _ => {}
        }
    }

    /// Restores the quota of the settings.
    pub(super) fn restore_quota(&mut self) {
        self.quota = self.settings.quota;
    }

    /// Returns the things as objects of a snapshot, with `manager`, the program, as field manager unless another client has created them.
    /// The name of such an object is the value of the thing, since ids differ between runs; a snapshot adds a number to the second of two
    /// equal names.
    pub(super) fn objects(&mut self, manager: &str) -> Vec<Value> {
        self.expire();
        let (name, is_retained) = (&self.settings.name, self.settings.is_retained);
        let objects = self.things.values().map(|stored| {
            let value = serde_json::to_value(&stored.value).unwrap_or_default();
            let managers = if stored.is_existing { json!([]) } else { json!([{"manager": manager}]) };
            json!({
                "kind": name,
                "metadata": {"name": value.to_string(), "managedFields": managers},
                "isDeleting": stored.gone_at.is_some(),
                EXTERNAL_FIELD: {"mayRemain": is_retained || stored.is_existing},
            })
        });
        objects.collect()
    }

    /// Changes all things that are not being deleted, as another client: the part that the program manages and has to repair, and with
    /// `also_unmanaged` also a part that the program does not manage and has to keep.
    fn change_all(&mut self, also_unmanaged: bool) {
        let drift = self.settings.drift.clone();
        let foreign_change = self.settings.foreign_change.clone().filter(|_| also_unmanaged);
        for (id, stored) in self.things.iter_mut().filter(|(_, stored)| stored.gone_at.is_none()) {
            if let Some(drift) = &drift {
                drift(&mut stored.value);
                self.drifted.insert(id.clone());
            }
            if let Some(foreign_change) = &foreign_change {
                foreign_change(&mut stored.value);
                stored.has_foreign_change = true;
            }
        }
    }

    /// Returns whether a value still has what another client has set: another application of the foreign change would not alter it.
    fn keeps_foreign_change(&self, value: &T) -> bool {
        let Some(foreign_change) = &self.settings.foreign_change else { return true };
        let mut again = value.clone();
        foreign_change(&mut again);
        serde_json::to_value(&again).ok() == serde_json::to_value(value).ok()
    }

    /// Changes a new or changed value as the service does by itself: fills in defaults, or normalizes it.
    fn complete(&self, value: &mut T) {
        if let Some(completion) = &self.settings.completion {
            completion(value);
        }
    }

    /// Removes the things whose deletion is complete.
    fn expire(&mut self) {
        let now = Instant::now();
        self.things.retain(|_, stored| stored.gone_at.is_none_or(|gone| now < gone));
    }
}

impl<T: Clone> StoredThing<T> {
    /// Returns the thing as clients see it, under its id.
    fn thing(&self, id: &str) -> Thing<T> {
        Thing {
            id: id.to_owned(),
            token: self.token.clone(),
            value: self.value.clone(),
            is_deleting: self.gone_at.is_some(),
        }
    }
}
