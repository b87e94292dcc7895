//! Taking over what somebody else has made.
//!
//! An object that nobody controls can become a child where its node says so. The fields of the managers that the node names
//! become the operator's, so that what it doesn't want of them goes with the next apply; the fields of all others stay
//! theirs, and are taken only where they are wanted.

use crate::{
    cache::{Header, ObjectKey, Uid},
    client::Target,
    engine::{child::Child, desired::Desired, ownership::foreign, pass::Core, resource::Expected},
    error::{Error, Result},
    informer::watch::Watched,
    readiness::Readiness,
    shape::ResourceOptions,
};
use kube::api::Patch;
use serde_json::{Map, Value, json};

impl Core<'_> {
    pub(crate) async fn adopt(
        &self,
        children: &Watched<Child>,
        options: ResourceOptions,
        header: &Header,
        desired: &Desired,
    ) -> Result<Readiness> {
        let kind = &children.kind;
        if !options.adopt || header.controller().is_some() {
            return Err(foreign(kind, &header.key, header, options.adopt));
        }
        self.take_over(children, options, &header.uid, desired).await
    }

    /// The first apply of an object that is there already: a stranger's that is adopted, or one that its owner had from an
    /// earlier operator. Of what is made once only the owner changes.
    pub(crate) async fn take_over(
        &self,
        children: &Watched<Child>,
        options: ResourceOptions,
        uid: &Uid,
        desired: &Desired,
    ) -> Result<Readiness> {
        let readiness = if options.once {
            self.mark_child(children, desired, uid).await?
        } else {
            if !options.adopt_from.is_empty() {
                self.take_over_fields(children, options, desired).await?;
            }
            self.apply_child(children, desired, Expected::Is(uid)).await?
        };
        let key = ObjectKey::new(desired.namespace.as_deref(), &desired.name);
        let note = format!("took over {} {key}", children.kind);
        self.shared.recorder.normal(&self.owner.regarding(), "Adopted", "Apply", &note);
        Ok(readiness)
    }

    async fn take_over_fields(
        &self,
        children: &Watched<Child>,
        options: ResourceOptions,
        desired: &Desired,
    ) -> Result<()> {
        let target = Target { kind: &children.kind, namespace: desired.namespace.as_deref(), name: &desired.name };
        let Some(found) = self.shared.client.get(target).await? else {
            return Err(Error::yielding("AdoptedGone", "the object to take over is gone"));
        };
        let operator = &self.shared.operator;
        let Some(patch) = transfer_patch(&found, operator, |entry| take_all(entry, options.adopt_from)) else {
            return Ok(());
        };
        self.shared.client.patch(target, &Patch::<()>::Json(serde_json::from_value(patch)?), operator).await?;
        Ok(())
    }
}

/// All that a manager holds, if it is one of the named.
fn take_all(entry: &mut Value, from: &[&str]) -> Value {
    let is_named = from.iter().any(|name| entry["manager"] == *name);
    if is_named { std::mem::replace(&mut entry["fieldsV1"], json!({})) } else { json!({}) }
}

/// The JSON patch after which what `take` takes out of the entries of other managers is held by the operator's applies; `None` if it
/// takes nothing. The server refuses it if somebody has written since the object was read.
pub(crate) fn transfer_patch(object: &Value, operator: &str, take: impl Fn(&mut Value) -> Value) -> Option<Value> {
    let is_main = |entry: &Value| entry["subresource"].as_str().unwrap_or_default().is_empty();
    let is_own = |entry: &Value| is_main(entry) && entry["manager"] == operator && entry["operation"] == "Apply";
    let is_empty = |fields: &Value| fields.as_object().is_some_and(Map::is_empty);
    let (mut own, mut others): (Vec<Value>, Vec<Value>) =
        object["metadata"]["managedFields"].as_array()?.iter().cloned().partition(is_own);
    let mut own = own.pop();
    let mut any = false;
    others.retain_mut(|entry| {
        if !is_main(entry) {
            return true;
        }
        let taken = take(entry);
        if is_empty(&taken) {
            return true;
        }
        any = true;
        let (version, time) = (&entry["apiVersion"], &entry["time"]);
        let own = own.get_or_insert_with(|| {
            let mut own = json!({
                "manager": operator, "operation": "Apply", "apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": {},
            });
            if !time.is_null() {
                own["time"] = time.clone();
            }
            own
        });
        unite(&mut own["fieldsV1"], &taken);
        !is_empty(&entry["fieldsV1"])
    });
    let entries: Vec<Value> = others.into_iter().chain(own).collect();
    any.then(|| {
        json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": entries},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": object["metadata"]["resourceVersion"]},
        ])
    })
}

/// Sets of fields are maps of maps, so their union is a union of keys at every level.
fn unite(into: &mut Value, other: &Value) {
    let Value::Object(other) = other else { return };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    if let Value::Object(into) = into {
        for (field, below) in other {
            unite(into.entry(field.clone()).or_insert_with(|| json!({})), below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    #[test]
    fn the_fields_of_the_named_managers_become_the_operators() {
        let status =
            json!({"manager": "helm", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}});
        let object = json!({"metadata": {"managedFields": [
            entry("helm", "Update", json!({"f:data": {"f:a": {}, ".": {}}})),
            entry("kubectl", "Update", json!({"f:data": {"f:b": {}}})),
            entry("web", "Apply", json!({"f:data": {"f:c": {}}})),
            status,
        ]}});
        let expected = json!([
            entry("kubectl", "Update", json!({"f:data": {"f:b": {}}})),
            status.clone(),
            entry("web", "Apply", json!({"f:data": {"f:a": {}, ".": {}, "f:c": {}}})),
        ]);
        let patch = transfer_patch(&object, "web", |entry| take_all(entry, &["helm"]));
        assert_eq!(patch.map(|patch| patch[0]["value"].clone()), Some(expected));
    }

    #[test]
    fn nothing_is_taken_from_managers_that_hold_nothing() {
        let object = json!({"metadata": {"managedFields": [entry("kubectl", "Update", json!({"f:data": {}}))]}});
        assert_eq!(transfer_patch(&object, "web", |entry| take_all(entry, &["helm"])), None);
        assert_eq!(transfer_patch(&json!({}), "web", |entry| take_all(entry, &["helm"])), None);
    }
}
