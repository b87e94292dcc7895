//! Taking over what somebody else has made.
//!
//! An object that nobody controls can become a child where its node says so. The fields of the managers that the node names
//! become the operator's, so that what it doesn't want of them goes with the next apply; the fields of all others stay
//! theirs, and are taken only where they are wanted.

use crate::{
    cache::{Header, ObjectKey, Uid},
    client::Target,
    error::{Error, Result},
    pass::Core,
    provisioner::{child::Child, desired::Desired, ownership::foreign, shape::ResourceOptions},
    readiness::Readiness,
    watch::Watched,
};
use kube::api::Patch;
use serde_json::{Map, Value, json};

impl Core<'_> {
    pub(super) async fn adopt(
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
    pub(super) async fn take_over(
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
            self.apply_child(children, desired, Some(uid)).await?
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
        let Some(fields) = migrated(&found, operator, options.adopt_from) else { return Ok(()) };
        // The version makes the server refuse the whole patch if somebody wrote in between.
        let patch: Patch<()> = Patch::Json(serde_json::from_value(json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": fields},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": found["metadata"]["resourceVersion"]},
        ]))?);
        self.shared.client.patch(target, &patch, operator).await?;
        Ok(())
    }
}

/// The list of managed fields in which what `from` held is the operator's; `None` if they hold nothing.
fn migrated(object: &Value, operator: &str, from: &[&str]) -> Option<Vec<Value>> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    let is_main = |entry: &Value| entry["subresource"].as_str().unwrap_or_default().is_empty();
    let is_given = |entry: &&Value| is_main(entry) && from.iter().any(|name| entry["manager"] == *name);
    let (given, mut kept): (Vec<&Value>, Vec<&Value>) = entries.iter().partition(is_given);
    let first = given.first()?;
    let is_own = |entry: &&Value| is_main(entry) && entry["manager"] == operator && entry["operation"] == "Apply";
    let own = kept.iter().position(is_own).map(|at| kept.remove(at));
    let mut fields = own.map_or_else(|| json!({}), |own| own["fieldsV1"].clone());
    for entry in &given {
        unite(&mut fields, &entry["fieldsV1"]);
    }
    let mut taken = json!({
        "manager": operator, "operation": "Apply", "apiVersion": first["apiVersion"],
        "fieldsType": "FieldsV1", "fieldsV1": fields,
    });
    if let Some(time) = first.get("time") {
        taken["time"] = time.clone();
    }
    Some(kept.into_iter().cloned().chain([taken]).collect())
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
        let expected = vec![
            entry("kubectl", "Update", json!({"f:data": {"f:b": {}}})),
            status.clone(),
            entry("web", "Apply", json!({"f:data": {"f:a": {}, ".": {}, "f:c": {}}})),
        ];
        assert_eq!(migrated(&object, "web", &["helm"]), Some(expected));
    }

    #[test]
    fn nothing_is_migrated_from_managers_that_hold_nothing() {
        let object = json!({"metadata": {"managedFields": [entry("kubectl", "Update", json!({"f:data": {}}))]}});
        assert_eq!(migrated(&object, "web", &["helm"]), None);
        assert_eq!(migrated(&json!({}), "web", &["helm"]), None);
    }
}
