//! Bugs of a hand-written operator for tests: bugs that lose data, and bugs that make a reconcile fail forever.

use kube::{
    Api, ResourceExt as _,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{
    Bug, NAME,
    pass::{Done, Gardens, ignore_not_found},
};

/// More Pods than a cluster can run.
const CROWD: u32 = 2_000_000_000;

fn core(kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind))
}

impl Gardens {
    /// Runs the bug at the beginning of a pass.
    pub(super) async fn misbehave(&mut self, garden: &DynamicObject) -> Done {
        let (generation, seen) = (garden.metadata.generation, &garden.data["status"]["observedGeneration"]);
        let is_edited = seen.is_i64() && seen.as_i64() != generation;
        let relisted = std::mem::take(&mut self.relisted);
        match self.bug {
            Bug::RemadeOnEdit if is_edited => self.remove_seedbox(garden).await,
            Bug::RemadeOnRelist if relisted => self.remove_seedbox(garden).await,
            Bug::PanicOnEdit if garden.data["spec"]["shed"] == false => panic!("a garden has a shed"),
            Bug::RefusedOnEdit if garden.data["spec"]["shed"] == false => {
                self.apply(garden, "No_Shed", json!({}), true).await
            }
            Bug::ClaimRemade => self.cellar(garden, is_edited).await,
            Bug::ExistsOnEdit if garden.data["spec"]["shed"] == false => {
                self.post(garden, &format!("{}-soil", garden.name_any())).await
            }
            Bug::MissingOnEdit if garden.data["spec"]["shed"] == false => {
                let patch = Patch::Merge(json!({"data": {"tools": "none"}}));
                let name = format!("{}-pond", garden.name_any());
                self.maps(garden).patch(&name, &PatchParams::default(), &patch).await.map(drop)
            }
            Bug::ForbiddenOnEdit if garden.data["spec"]["shed"] == false => {
                let patch = Patch::Merge(json!({"data": {"tools": null}}));
                let name = format!("{}-key", garden.name_any());
                self.api_of(garden, "Secret").patch(&name, &PatchParams::default(), &patch).await.map(drop)
            }
            Bug::RolledPassword if is_edited || self.password(garden).await?.is_none() => self.roll(garden).await,
            Bug::Crowd => self.crowd(garden).await,
            _ => Ok(()),
        }
    }

    async fn remove_seedbox(&self, garden: &DynamicObject) -> Done {
        let name = format!("{}-seedbox", garden.name_any());
        if !self.has_map(garden, &name) {
            return Ok(());
        }
        ignore_not_found(self.maps(garden).delete(&name, &DeleteParams::default()).await.map(drop))?;
        self.apply_anew(garden, &name, json!({"seeds": "many"})).await
    }

    async fn post(&self, garden: &DynamicObject, name: &str) -> Done {
        let map = DynamicObject::new(name, &core("ConfigMap"));
        self.maps(garden).create(&PostParams::default(), &map).await.map(drop)
    }

    /// Creates the claim of the cellar, and recreates it after an edit.
    async fn cellar(&self, garden: &DynamicObject, is_edited: bool) -> Done {
        let (name, claims) = (format!("{}-cellar", garden.name_any()), self.api_of(garden, "PersistentVolumeClaim"));
        let is_there = claims.get_opt(&name).await?.is_some();
        if is_there && !is_edited {
            return Ok(());
        }
        if is_there {
            ignore_not_found(claims.delete(&name, &DeleteParams::default()).await.map(drop))?;
        }
        let requests = json!({"requests": {"storage": "1Gi"}});
        let claim = json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": name, "ownerReferences": [owner(garden)], "annotations": {"opgen.dev/node": "house/cellar"},
            },
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": requests},
        });
        claims.patch(&name, &PatchParams::apply(NAME).force(), &Patch::Apply(&claim)).await.map(drop)
    }

    async fn password(&self, garden: &DynamicObject) -> Done<Option<DynamicObject>> {
        self.api_of(garden, "Secret").get_opt(&format!("{}-password", garden.name_any())).await
    }

    async fn roll(&self, garden: &DynamicObject) -> Done {
        let name = format!("{}-password", garden.name_any());
        let password = format!("{:016x}", self.environment.random());
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "stringData": {"password": password},
            "metadata": {"name": name, "ownerReferences": [owner(garden)]},
        });
        let params = PatchParams::apply(NAME).force();
        self.api_of(garden, "Secret").patch(&name, &params, &Patch::Apply(&secret)).await.map(drop)
    }

    /// Deletes all Secrets of the namespace, foreign ones included.
    pub(super) async fn clear_secrets(&self, garden: &DynamicObject) -> Done {
        let all = ListParams::default();
        self.api_of(garden, "Secret").delete_collection(&DeleteParams::default(), &all).await.map(drop)
    }

    async fn crowd(&self, garden: &DynamicObject) -> Done {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("apps", "v1", "ReplicaSet"));
        let sets: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &garden.namespace().unwrap_or_default(), &kind);
        let (name, labels) = (format!("{}-crowd", garden.name_any()), json!({"crowd": garden.name_any()}));
        let template =
            json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "one", "image": "one"}]}});
        let set = json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": name, "ownerReferences": [owner(garden)]},
            "spec": {"replicas": CROWD, "selector": {"matchLabels": labels}, "template": template},
        });
        sets.patch(&name, &PatchParams::apply(NAME).force(), &Patch::Apply(&set)).await.map(drop)
    }

    fn api_of(&self, garden: &DynamicObject, kind: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &garden.namespace().unwrap_or_default(), &core(kind))
    }
}

fn owner(garden: &DynamicObject) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Garden", "name": garden.name_any(), "uid": garden.uid()})
}
