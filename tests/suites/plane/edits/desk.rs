//! A kind whose objects say what is to be edited, and an operator that does it with the runtime's own means.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use k8s_openapi::api::{core::v1::Service, networking::v1::Ingress};
use kube::{
    Api, Client, CustomResource, ResourceExt as _,
    api::{ApiResource, DynamicObject, PatchParams},
};
use opgen::{Operator, Typed, access, patch::Snapshot, prelude::*};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// What is edited, and how.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "edits.example.com", version = "v1", kind = "Desk", namespaced, status = "DeskStatus")]
pub(crate) struct DeskSpec {
    /// The kind of the object that is edited.
    pub(crate) what: String,
    /// Its name.
    pub(crate) name: String,
    /// Merged into the object as it was read, in memory.
    #[schemars(schema_with = "anything")]
    pub(crate) edit: Value,
    /// What a stranger writes between the first read and the first write.
    #[schemars(schema_with = "anything")]
    pub(crate) meanwhile: Value,
    /// Another number makes another pass.
    pub(crate) pass: i32,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeskStatus {
    #[serde(flatten)]
    pub(crate) standard: Status,
    /// The object as the write gave it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "anything")]
    pub(crate) written: Option<Value>,
}

/// What is edited, if it is nothing built in.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "edits.example.com", version = "v1", kind = "Sheet", namespaced, status = "SheetStatus")]
pub(crate) struct SheetSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    one: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    two: Option<i32>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
pub(crate) struct SheetStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<Link>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub(crate) struct Link {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<String>,
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

pub(crate) fn operator(stranger: Option<Client>) -> Operator {
    let strangers = Strangers { client: stranger, done: Arc::default() };
    Operator::new("edits").controls_with::<For<Desk, Strangers>, Editor>(|controller| controller.options(strangers))
}

/// Who edits at the same time.
#[derive(Clone, Default)]
pub(crate) struct Strangers {
    client: Option<Client>,
    done: Arc<Mutex<BTreeSet<String>>>,
}

impl Strangers {
    /// Once for a Desk: a conflict is not met with the next one.
    async fn edit<K: Typed>(&self, desk: &Desk) {
        let first = self.done.lock().unwrap().insert(desk.name_any());
        let meanwhile = desk.spec.meanwhile.as_object().filter(|patch| first && !patch.is_empty());
        let (Some(client), Some(meanwhile)) = (&self.client, meanwhile) else { return };
        let resource = ApiResource::erase::<K>(&());
        let namespace = desk.namespace().unwrap_or_default();
        let api = Api::<DynamicObject>::namespaced_with(client.clone(), &namespace, &resource);
        let (mut main, parameters) = (meanwhile.clone(), PatchParams::default());
        if let Some(status) = main.remove("status") {
            let status = kube::api::Patch::Merge(json!({ "status": status }));
            api.patch_status(&desk.spec.name, &parameters, &status).await.unwrap();
        }
        if !main.is_empty() {
            api.patch(&desk.spec.name, &parameters, &kube::api::Patch::Merge(main)).await.unwrap();
        }
    }
}

/// Reads, edits in memory, writes.
#[derive(Debug, Provisioner)]
#[provisioner(access(
    Sheet: get, patch; Sheet/status: update;
    Service: get, patch; Service/status: update;
    Ingress: get, patch; Ingress/status: update;
))]
pub(crate) struct Editor;

type Cx<'a> = Context<'a, For<Desk, Strangers>, Editor>;

impl Provision<For<Desk, Strangers>> for Editor {
    async fn provision(cx: &Cx<'_>) -> Result<()> {
        match cx.object().spec.what.as_str() {
            "Sheet" => edit::<Sheet>(cx).await,
            "Service" => edit::<Service>(cx).await,
            "Ingress" => edit::<Ingress>(cx).await,
            other => yield_because("Unknown", format!("{other} can't be edited")),
        }
    }

    async fn deprovision(_: &Teardown<'_, For<Desk, Strangers>, Self>) -> Result<()> {
        Ok(())
    }
}

async fn edit<K>(cx: &Cx<'_>) -> Result<()>
where
    K: Typed + access::Get<Editor> + access::Patch<Editor> + access::UpdateStatus<Editor>,
    K: Serialize + DeserializeOwned + Send + Sync,
{
    let desk = cx.object();
    let read: K = cx.get(&desk.spec.name).await?;
    let before = Snapshot::of(&read)?;
    let mut edited = serde_json::to_value(&read)?;
    merge(&mut edited, &desk.spec.edit);
    cx.options().edit::<K>(desk).await;
    let written = cx.write(before, &serde_json::from_value::<K>(edited)?).await?;
    let mut written = serde_json::to_value(&written)?;
    written["metadata"] = json!({"resourceVersion": written["metadata"]["resourceVersion"]});
    cx.status(|status| status.written = Some(written));
    Ok(())
}

/// RFC 7386.
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return *value = patch.clone() };
    if !value.is_object() {
        *value = json!({});
    }
    for (name, patch) in patch {
        match patch {
            Value::Null => drop(value.as_object_mut().and_then(|map| map.remove(name))),
            patch => merge(&mut value[name], patch),
        }
    }
}
