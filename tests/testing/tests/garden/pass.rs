//! Reconciles all gardens once, in the hand-written operator `gardener` for tests.

use std::collections::BTreeSet;

use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, Preconditions},
};
use opgen::environment::Environment;
use serde_json::{Value, json};

use super::{
    Bug, Gardener, NAME,
    watch::{Cache, config_map, garden},
};

const FINALIZER: &str = "example.com/gardener";

pub struct Gardens {
    pub bug: Bug,
    weeds: bool,
    waits_for_permit: bool,
    pub(super) client: Client,
    pub(super) environment: Environment,
    /// Whether there is a new list of ConfigMaps.
    pub relisted: bool,
    pub gardens: Cache,
    pub maps: Cache,
    /// The incomplete lists of gardens and of ConfigMaps.
    pub listing: [Cache; 2],
    /// The UIDs of gardens whose deletion orphans the children.
    orphaning: BTreeSet<String>,
    /// The finished work, if a bug remembers it by name and generation.
    done: BTreeSet<(String, i64)>,
    /// The generated name of the soil, if a bug keeps it in memory.
    soil: Option<String>,
}

pub(super) type Done<T = ()> = Result<T, kube::Error>;

impl Gardens {
    pub fn new(
        Gardener { bug, weeds, waits_for_permit, .. }: Gardener,
        client: Client,
        environment: Environment,
    ) -> Self {
        let (gardens, maps, listing, orphaning, done) = Default::default();
        let (relisted, soil) = (false, None);
        Self {
            bug,
            weeds,
            waits_for_permit,
            client,
            environment,
            relisted,
            gardens,
            maps,
            listing,
            orphaning,
            done,
            soil,
        }
    }

    pub async fn pass(&mut self) -> Done {
        if self.weeds {
            self.remove_unowned_maps().await?;
        }
        for garden in self.gardens.values().cloned().collect::<Vec<_>>() {
            self.reconcile_garden(&garden).await?;
        }
        Ok(())
    }

    pub(super) fn maps(&self, garden: &DynamicObject) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &garden.namespace().unwrap_or_default(), &config_map())
    }

    pub(super) fn api(&self, of: &DynamicObject) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &of.namespace().unwrap_or_default(), &garden())
    }

    /// Reads all gardens, as an operator that polls does.
    pub async fn poll(&self) {
        for garden in self.gardens.values() {
            // The next poll repeats a failed read.
            drop(self.api(garden).get_opt(&garden.name_any()).await);
        }
    }

    /// Deletes ConfigMaps without a garden.
    async fn remove_unowned_maps(&self) -> Done {
        for ((namespace, name), map) in &self.maps {
            let owner = map.labels().get("garden").cloned().unwrap_or_default();
            if self.gardens.contains_key(&(namespace.clone(), owner.clone())) {
                continue;
            }
            let gardens: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &garden());
            // The list may be stale.
            if !self.bug.is(Bug::StaleState) && gardens.get_opt(&owner).await?.is_some() {
                continue;
            }
            let maps: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &config_map());
            // An orphaned one has another version meanwhile.
            let unchanged = Preconditions { resource_version: map.resource_version(), uid: map.uid() };
            let params = DeleteParams { preconditions: Some(unchanged), ..DeleteParams::default() };
            match maps.delete(name, &params).await.map(drop) {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                done => ignore_not_found(done)?,
            }
        }
        Ok(())
    }

    async fn reconcile_garden(&mut self, garden: &DynamicObject) -> Done {
        let has_finalizer = garden.finalizers().iter().any(|one| one == FINALIZER);
        if garden.metadata.deletion_timestamp.is_some() {
            let uid = garden.uid().unwrap_or_default();
            if garden.finalizers().iter().any(|one| one == "orphan") {
                self.orphaning.insert(uid.clone());
            }
            return match has_finalizer {
                true if self.orphaning.contains(&uid) && !self.bug.is(Bug::OrphansDeleted) => {
                    self.orphan_children(garden).await
                }
                true => self.delete_children(garden).await,
                false => Ok(()),
            };
        }
        let known = (garden.name_any(), garden.metadata.generation.unwrap_or_default());
        if self.done.contains(&known) {
            return Ok(());
        }
        let late = self.bug.is(Bug::FinalizerAfterSideEffect);
        if !has_finalizer && !late {
            return self.add_finalizer(garden).await;
        }
        let generation = garden.metadata.generation.unwrap_or_default();
        let status = &garden.data["status"];
        let seen = status["observedGeneration"].as_i64() == Some(generation);
        let skips = self.bug.is(Bug::StatusFromStaleRead) || self.bug.is(Bug::IntermediateState);
        if skips && seen {
            return Ok(());
        }
        if self.bug.is(Bug::IntermediateState) {
            self.patch_status(garden, json!({"observedGeneration": generation})).await?;
        }
        self.misbehave(garden).await?;
        if self.waits_for_permit && garden.data["spec"]["shed"] != true {
            return self.wait_for_permit(garden).await;
        }
        self.create_children(garden).await?;
        if !has_finalizer {
            return self.add_finalizer(garden).await;
        }
        self.write_status(garden, generation).await?;
        if self.bug.is(Bug::MemoryByName) {
            self.done.insert(known);
        }
        Ok(())
    }

    /// Everything that a garden has.
    async fn create_children(&mut self, garden: &DynamicObject) -> Done {
        let (spec, name) = (&garden.data["spec"], garden.name_any());
        if self.bug.is(Bug::ReplacedOnUpgrade) {
            self.clear_former(garden).await?;
        }
        self.apply_soil(garden, &spec["plants"].to_string()).await?;
        self.apply(garden, &format!("{name}-seedbox"), json!({"seeds": "many"}), true).await?;
        let status = &garden.data["status"];
        if self.bug.is(Bug::NonIdempotentGenerateName) && status["ticket"].is_null() {
            let ticket = self.create(garden, &format!("{name}-ticket-")).await?;
            self.patch_status(garden, json!({"ticket": ticket})).await?;
        }
        let shed = if self.bug.is(Bug::SharedName) { "shed".to_owned() } else { format!("{name}-shed") };
        if spec["shed"] == true {
            let owned = !self.bug.is(Bug::UnownedChild);
            self.apply(garden, &shed, json!({"tools": "some"}), owned).await?;
        } else if !self.bug.is(Bug::LeakedOnFlip) && self.has_map(garden, &shed) {
            ignore_not_found(self.maps(garden).delete(&shed, &DeleteParams::default()).await.map(drop))?;
        }
        Ok(())
    }

    /// Deletes what no release label says to be of this release.
    async fn clear_former(&self, garden: &DynamicObject) -> Done {
        let is_former = |map: &DynamicObject| {
            map.labels().get("garden") == Some(&garden.name_any()) && !map.labels().contains_key("release")
        };
        for map in self.maps.values().filter(|map| is_former(map)) {
            ignore_not_found(self.maps(garden).delete(&map.name_any(), &DeleteParams::default()).await.map(drop))?;
        }
        Ok(())
    }

    async fn apply_soil(&mut self, garden: &DynamicObject, plants: &str) -> Done {
        let prefix = format!("{}-soil", garden.name_any());
        if !self.bug.is(Bug::CreateWithoutName) {
            return self.apply(garden, &prefix, json!({"plants": plants}), true).await;
        }
        let name = match &self.soil {
            Some(name) => name.clone(),
            None => self.create(garden, &format!("{prefix}-")).await?,
        };
        self.soil = Some(name.clone());
        self.apply(garden, &name, json!({"plants": plants}), true).await
    }

    pub(super) fn has_map(&self, garden: &DynamicObject, name: &str) -> bool {
        self.maps.contains_key(&(garden.namespace().unwrap_or_default(), name.to_owned()))
    }

    /// Applies a ConfigMap, unless the cache has it with this data.
    pub(super) async fn apply(&self, garden: &DynamicObject, name: &str, data: Value, owned: bool) -> Done {
        let key = (garden.namespace().unwrap_or_default(), name.to_owned());
        if self.maps.get(&key).is_some_and(|map| map.data["data"] == data) {
            return Ok(());
        }
        self.apply_with(garden, name, data, owned).await
    }

    /// Applies a ConfigMap without a look into the cache.
    pub(super) async fn apply_anew(&self, garden: &DynamicObject, name: &str, data: Value) -> Done {
        self.apply_with(garden, name, data, true).await
    }

    async fn apply_with(&self, garden: &DynamicObject, name: &str, data: Value, owned: bool) -> Done {
        let mut labels = if owned { json!({"garden": garden.name_any()}) } else { json!({}) };
        // Opgen operators set this annotation; orphaning would have to remove it.
        let node = match self.bug {
            Bug::RemadeOnEdit | Bug::RemadeOnRelist | Bug::RefusedOnEdit => {
                json!({"opgen.dev/node": name.rsplit('-').next().unwrap_or_default()})
            }
            _ => json!({}),
        };
        if self.bug.is(Bug::ReplacedOnUpgrade) {
            labels["release"] = json!("new");
        }
        let metadata = json!({"name": name, "labels": labels, "annotations": node});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
        if !owned && self.maps(garden).get_opt(name).await?.is_some() {
            return Ok(());
        }
        let done = self.maps(garden).patch(name, &PatchParams::apply(NAME).force(), &Patch::Apply(&map)).await;
        self.with_swallowed_error(done.map(drop))
    }

    async fn create(&self, garden: &DynamicObject, prefix: &str) -> Done<String> {
        let mut map = DynamicObject::new("", &config_map());
        (map.metadata.name, map.metadata.generate_name) = (None, Some(prefix.to_owned()));
        map.metadata.labels = Some([("garden".to_owned(), garden.name_any())].into());
        let params = PostParams { field_manager: Some(NAME.to_owned()), ..PostParams::default() };
        Ok(self.maps(garden).create(&params, &map).await?.name_any())
    }

    async fn add_finalizer(&self, garden: &DynamicObject) -> Done {
        let patch = if self.bug.is(Bug::OthersFinalizers) {
            Patch::Merge(json!({"metadata": {"finalizers": [FINALIZER]}}))
        } else {
            let all: Vec<_> = garden.finalizers().iter().map(String::as_str).chain([FINALIZER]).collect();
            Patch::Merge(json!({"metadata": {"finalizers": all, "resourceVersion": garden.resource_version()}}))
        };
        self.with_swallowed_error(self.api(garden).patch(&garden.name_any(), &manager(), &patch).await.map(drop))
    }

    async fn delete_children(&self, garden: &DynamicObject) -> Done {
        let of_garden = ListParams::default().labels(&format!("garden={}", garden.name_any()));
        if self.bug.is(Bug::OthersSecrets) {
            self.clear_secrets(garden).await?;
        }
        let maps = self.maps(garden);
        let left = maps.list(&of_garden).await?.items;
        for map in left.iter().filter(|map| map.metadata.deletion_timestamp.is_none()) {
            ignore_not_found(maps.delete(&map.name_any(), &DeleteParams::default()).await.map(drop))?;
        }
        // A blocked deletion leads to an event later.
        let is_waited_for = |map: &DynamicObject| match self.bug {
            Bug::UngatedDelete => false,
            Bug::OneUngated => !map.name_any().ends_with("-seedbox"),
            _ => true,
        };
        if maps.list(&of_garden).await?.items.iter().any(is_waited_for) {
            return Ok(());
        }
        self.remove_finalizer(garden).await
    }

    /// Removes the owner marks of the children.
    async fn orphan_children(&self, garden: &DynamicObject) -> Done {
        let of_garden = ListParams::default().labels(&format!("garden={}", garden.name_any()));
        let maps = self.maps(garden);
        for map in maps.list(&of_garden).await?.items {
            let patch = Patch::Merge(json!({"metadata": {"labels": {"garden": null}}}));
            ignore_not_found(maps.patch(&map.name_any(), &manager(), &patch).await.map(drop))?;
        }
        self.remove_finalizer(garden).await
    }

    async fn remove_finalizer(&self, garden: &DynamicObject) -> Done {
        let rest: Vec<_> = garden.finalizers().iter().filter(|one| *one != FINALIZER).collect();
        let patch = if self.bug.is(Bug::OthersFinalizers) {
            json!({"metadata": {"finalizers": null}})
        } else {
            json!({"metadata": {"finalizers": rest, "resourceVersion": garden.resource_version()}})
        };
        let done = self.api(garden).patch(&garden.name_any(), &manager(), &Patch::Merge(patch)).await;
        ignore_not_found(self.with_swallowed_error(done.map(drop)))
    }

    /// Writes the status after all work is done.
    async fn write_status(&self, garden: &DynamicObject, mut generation: i64) -> Done {
        if self.bug.is(Bug::StatusFromStaleRead) {
            let now = self.api(garden).get(&garden.name_any()).await?;
            generation = now.metadata.generation.unwrap_or_default();
        }
        let (plants, status) = (&garden.data["spec"]["plants"], &garden.data["status"]);
        let ready =
            json!({"type": "Ready", "status": "True", "reason": "Planted", "message": format!("{plants} plants")});
        let mut wanted = json!({"observedGeneration": generation, "conditions": [ready]});
        if self.bug.is(Bug::OldMessage) && status["conditions"][0]["reason"] == "Planted" {
            wanted["conditions"] = status["conditions"].clone();
        }
        if self.bug.is(Bug::HotLoop) {
            wanted["passes"] = json!(status["passes"].as_i64().unwrap_or_default() + 1);
        }
        let same = |key: &str| status[key] == wanted[key];
        if same("observedGeneration") && same("conditions") && (wanted["passes"].is_null() || same("passes")) {
            return Ok(());
        }
        self.patch_status(garden, wanted).await
    }

    /// Writes a status that waits for a permit, which never comes.
    async fn wait_for_permit(&self, garden: &DynamicObject) -> Done {
        let waits =
            json!({"type": "Ready", "status": "False", "reason": "PermitMissing", "message": "nobody allows it"});
        let status = &garden.data["status"];
        if status["conditions"][0] == waits {
            return Ok(());
        }
        self.patch_status(garden, json!({"observedGeneration": status["observedGeneration"], "conditions": [waits]}))
            .await
    }

    async fn patch_status(&self, garden: &DynamicObject, status: Value) -> Done {
        let patch = Patch::Merge(json!({"status": status}));
        self.with_swallowed_error(self.api(garden).patch_status(&garden.name_any(), &manager(), &patch).await.map(drop))
    }

    fn with_swallowed_error(&self, done: Done) -> Done {
        match done {
            Err(kube::Error::Api(status)) if status.code == 409 && self.bug.is(Bug::SwallowedConflict) => Ok(()),
            Err(kube::Error::Api(status))
                if self.bug.is(Bug::SwallowedWebhookFailure) && status.message.contains("failed calling webhook") =>
            {
                Ok(())
            }
            Err(kube::Error::Api(status))
                if self.bug.is(Bug::FinalDenial) && status.message.contains("denied the request") =>
            {
                Ok(())
            }
            done => done,
        }
    }
}

fn manager() -> PatchParams {
    PatchParams { field_manager: Some(NAME.to_owned()), ..PatchParams::default() }
}

/// Succeeds if the object does not exist.
pub(super) fn ignore_not_found(done: Done) -> Done {
    match done {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        done => done,
    }
}
