//! Detects drift of an object by field ownership: wanted fields that the operator's apply no longer owns.
//!
//! If another client changes or removes a field, the API server removes the field from `managedFields` of the operator. So as
//! long as the operator owns all fields it applied, their values are the applied ones, however the server stores them
//! (quantities, defaults, order of sets). The sets of fields tell which lists are keyed, so no schema is needed.
//!
//! An entry of `managedFields` names its fields in the version of the write. The API server keeps one entry for all applies of a
//! manager, whatever their versions, so the entry is the operator's own also if it has another version than the desired state.
//!
//! Two kinds of fields have no owner. An empty keyed list counts as unchanged unless another manager owns the list as a whole.
//! The spec of some kinds is immutable, and the server tracks no owner of it: see [`UNOWNED_SPECS`].

use crate::kind::group_of;
use serde_json::{Map, Value};

/// Kinds, by group and name, with an immutable spec that has no owner in `managedFields`.
const UNOWNED_SPECS: [(&str, &str); 1] = [("certificates.k8s.io", "CertificateSigningRequest")];

/// The sets of fields (`fieldsV1`) of an object, or of a part of it, by their owner.
#[derive(Debug)]
pub(crate) struct FieldSets<'a> {
    /// The fields that the operator owns, by its apply or, for a plain object, by its other writes.
    pub(crate) own: &'a Value,
    /// Whether the own fields are those of other writes than an apply. Such a set contains each map itself beside its fields, and only the
    /// map is left in the set after other clients have taken all of these fields.
    pub(crate) is_plain: bool,
    /// The fields of all other managers.
    pub(crate) others: Vec<&'a Value>,
}

impl FieldSets<'_> {
    /// Returns the sets of fields within a field (`f:name`) or list item (`k:{...}`); `None` if the operator owns nothing in it.
    fn nested(&self, step: &str) -> Option<Self> {
        let own = self.own.get(step)?;
        let others = self.others.iter().filter_map(|other| other.get(step)).collect();
        Some(Self { own, is_plain: self.is_plain, others })
    }

    /// Returns whether another manager owns a field as a whole.
    fn is_owned_by_other(&self, step: &str) -> bool {
        self.others.iter().any(|other| other.get(step).is_some_and(is_empty))
    }
}

/// Returns the path of the first wanted field that the operator does not own any more, as another client has changed or removed it;
/// `None` if the operator owns all wanted fields. The owner references come before all other fields.
pub(crate) fn first_lost_path(sets: &FieldSets<'_>, wanted: &Value) -> Option<String> {
    let mut path = Vec::new();
    let wanted_fields = wanted.as_object()?;
    let is_lost = first_of(wanted_fields, "metadata").any(|(name, value)| match name.as_str() {
        // These fields identify the object, and no manager owns them.
        "apiVersion" | "kind" => false,
        "metadata" => is_metadata_lost(sets, value, &mut path),
        // The API server records no managers of this spec.
        "spec" if has_unowned_spec(wanted) => false,
        _ => is_field_lost(sets, name, value, &mut path),
    });
    // The path was collected from the field up to the root.
    is_lost.then(|| path.into_iter().rev().collect::<Vec<_>>().join("."))
}

/// Returns whether a set of fields (`fieldsV1`) has the field with a path such as `spec.ports.name`, which [`first_lost_path`] returns.
/// The path has no keys of list items, so the field of any item counts. A field that is owned as a whole has every path in it.
pub(crate) fn has_field(fields: &Value, path: &str) -> bool {
    let Some(fields) = fields.as_object() else { return false };
    let mut items = fields.iter().filter(|(step, _)| step.starts_with("k:"));
    if items.any(|(_, item)| has_field(item, path)) {
        return true;
    }
    // A field name may have dots, as labels do.
    fields.iter().filter_map(|(step, nested)| Some((step.strip_prefix("f:")?, nested))).any(|(name, nested)| {
        path.strip_prefix(name).is_some_and(|rest| match rest.strip_prefix('.') {
            Some(rest) => is_empty(nested) || has_field(nested, rest),
            None => rest.is_empty(),
        })
    })
}

/// Returns the fields of an object, beginning with the one of this name.
fn first_of<'a>(fields: &'a Map<String, Value>, first: &'a str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let others = fields.iter().filter(move |(name, _)| *name != first);
    fields.get_key_value(first).into_iter().chain(others)
}

/// Returns whether an object is of a kind in [`UNOWNED_SPECS`].
fn has_unowned_spec(object: &Value) -> bool {
    let group = group_of(object["apiVersion"].as_str().unwrap_or_default());
    UNOWNED_SPECS.iter().any(|(spec_group, kind)| *spec_group == group && *kind == object["kind"])
}

// The functions below push the names of a lost field's path onto `path`, the innermost first.

/// Returns whether the operator no longer owns a field of the wanted metadata, except for the fields that identify the object: nobody owns
/// them. Owner references are checked first.
fn is_metadata_lost(sets: &FieldSets<'_>, metadata: &Value, path: &mut Vec<String>) -> bool {
    let Value::Object(metadata) = metadata else { return false };
    let sets =
        sets.nested("f:metadata").unwrap_or(FieldSets { own: &Value::Null, is_plain: false, others: Vec::new() });
    let is_tracked = |name: &str| !matches!(name, "name" | "namespace" | "uid");
    first_of(metadata, "ownerReferences").filter(|(name, _)| is_tracked(name)).any(|(name, value)| {
        let is_lost = is_field_lost(&sets, name, value, path);
        if is_lost {
            path.push("metadata".to_owned());
        }
        is_lost
    })
}

/// Returns whether the operator no longer owns the wanted field `name` of an object, or a part of the field. A null field is not wanted.
/// An empty list or map that the operator does not own is lost only if another manager owns it as a whole.
fn is_field_lost(sets: &FieldSets<'_>, name: &str, wanted: &Value, path: &mut Vec<String>) -> bool {
    if wanted.is_null() {
        return false;
    }
    let step = format!("f:{name}");
    let is_lost = match sets.nested(&step) {
        Some(nested) => is_value_lost(&nested, wanted, path),
        None => {
            let is_lost = !is_empty(wanted) || sets.is_owned_by_other(&step);
            if is_lost {
                push_first_path(wanted, path);
            }
            is_lost
        }
    };
    if is_lost {
        path.push(name.to_owned());
    }
    is_lost
}

/// Pushes the path of the first leaf of `wanted` onto `path`, for a value in which the operator owns no field.
fn push_first_path(wanted: &Value, path: &mut Vec<String>) {
    if let Some((name, value)) = wanted.as_object().and_then(|fields| fields.iter().next()) {
        push_first_path(value, path);
        path.push(name.clone());
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

/// Returns whether the operator no longer owns a part of a wanted value, and adds the path of the first such part to `path`. `sets` are
/// the sets of fields within the value.
fn is_value_lost(sets: &FieldSets<'_>, wanted: &Value, path: &mut Vec<String>) -> bool {
    if is_empty(sets.own) {
        // The operator owns the value as a whole. Either this is all that can be owned, as of a scalar or of an atomic map or list, or
        // others have taken the fields of a map. The latter is certain if another manager owns a part, as an atomic value has no owners of
        // parts, or if the sets are those of plain writes, since the operator writes no atomic maps by these.
        let has_parts = sets.is_plain || sets.others.iter().any(|other| !is_empty(other));
        let is_taken = has_parts && wanted.is_object() && !is_empty(wanted);
        if is_taken {
            push_first_path(wanted, path);
        }
        return is_taken;
    }
    match wanted {
        Value::Object(wanted) => wanted.iter().any(|(name, value)| is_field_lost(sets, name, value, path)),
        Value::Array(items) => items.iter().any(|item| is_item_lost(sets, items, item, path)),
        _ => false,
    }
}

/// Returns whether the operator no longer owns a list item: a scalar of a set (`v:`), or an object with keys (`k:`).
fn is_item_lost(sets: &FieldSets<'_>, items: &[Value], item: &Value, path: &mut Vec<String>) -> bool {
    let steps = || sets.own.as_object().into_iter().flat_map(Map::keys);
    if !item.is_object() {
        return !steps().any(|step| step.strip_prefix("v:").is_some_and(|text| is_same_json(text, item)));
    }
    let entry = steps().find(|step| step.strip_prefix("k:").is_some_and(|key| matches_key(key, items, item)));
    match entry.and_then(|step| sets.nested(step)) {
        // An item of an atomic type, such as an owner reference.
        Some(nested) if is_empty(nested.own) => false,
        Some(nested) => is_value_lost(&nested, item, path),
        None => true,
    }
}

/// Returns whether a list item has the list keys in a `k:` step of a set of fields, which is JSON such as `{"port":80,"protocol":"TCP"}`.
/// The item may leave out key fields, which the API server then defaults, unless another of the `items` has all of them.
pub(crate) fn matches_key(key: &str, items: &[Value], item: &Value) -> bool {
    let Ok(Value::Object(key)) = serde_json::from_str(key) else { return false };
    let has_all = |item: &Value| key.iter().all(|(name, value)| item.get(name) == Some(value));
    let fits = key.iter().all(|(name, value)| item.get(name).is_none_or(|wanted| wanted == value))
        && key.keys().any(|name| item.get(name).is_some());
    fits && (has_all(item) || !items.iter().any(has_all))
}

fn is_same_json(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn first_lost_path(own: &Value, wanted: &Value) -> Option<String> {
        lost_to(&[], own, wanted)
    }

    /// Returns the path of the first wanted field that the operator has lost, if other managers own the fields `others`.
    fn lost_to(others: &[&Value], own: &Value, wanted: &Value) -> Option<String> {
        super::first_lost_path(&FieldSets { own, is_plain: false, others: others.to_vec() }, wanted)
    }

    #[test]
    fn a_plain_object_has_lost_the_fields_of_a_map_if_only_the_map_itself_is_owned() {
        let lost = |own: Value| {
            let wanted = json!({"metadata": {"ownerReferences": [{"uid": "1", "name": "a"}]}, "data": {"a": "1"}});
            super::first_lost_path(&FieldSets { own: &own, is_plain: true, others: Vec::new() }, &wanted)
        };
        let references = json!({"f:ownerReferences": {".": {}, "k:{\"uid\":\"1\"}": {}}});
        assert_eq!(lost(json!({"f:metadata": references, "f:data": {".": {}, "f:a": {}}})), None);
        assert_eq!(lost(json!({"f:metadata": references, "f:data": {}})), Some("data.a".to_owned()));
    }

    /// Without a schema, the set of an apply has each map itself beside its fields.
    #[test]
    fn a_map_without_a_schema_has_lost_its_fields_to_the_manager_that_owns_them() {
        let wanted = json!({"spec": {"text": "a"}});
        let (own, other) = (json!({"f:spec": {}}), json!({"f:spec": {"f:text": {}}}));
        assert_eq!(lost_to(&[&other], &own, &wanted), Some("spec.text".to_owned()));
        // An atomic map, of which both own the whole.
        assert_eq!(lost_to(&[&own], &own, &wanted), None);
        assert_eq!(lost_to(&[], &own, &wanted), None);
    }

    #[test]
    fn a_field_that_the_operator_still_owns_is_not_lost() {
        let owned = json!({"f:data": {"f:a": {}, "f:b": {}}});
        assert_eq!(first_lost_path(&owned, &json!({"kind": "ConfigMap", "data": {"a": "1"}})), None);
    }

    #[test]
    fn a_field_taken_by_another_manager_is_named() {
        let owned = json!({"f:data": {"f:b": {}}});
        assert_eq!(first_lost_path(&owned, &json!({"data": {"a": "1", "b": "2"}})), Some("data.a".to_owned()));
    }

    #[test]
    fn the_manager_of_a_field_is_found_by_its_path() {
        let fields = json!({
            "f:metadata": {"f:labels": {"f:app.kubernetes.io/name": {}}},
            "f:spec": {"f:replicas": {}, "f:ports": {"k:{\"port\":80}": {"f:name": {}}}, "f:list": {}},
        });
        let owned_paths =
            ["metadata.labels.app.kubernetes.io/name", "spec.replicas", "spec.ports", "spec.ports.name", "spec.list.a"];
        for path in owned_paths {
            assert!(has_field(&fields, path), "{path}");
        }
        for path in ["metadata.labels.app", "spec.replica", "spec.ports.port", "data", "spec.replicas2"] {
            assert!(!has_field(&fields, path), "{path}");
        }
    }

    #[test]
    fn keyed_list_items_are_found_by_their_keys_even_if_one_was_defaulted() {
        let port = json!({".": {}, "f:containerPort": {}, "f:name": {}});
        let owned = json!({"f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": port}});
        assert_eq!(first_lost_path(&owned, &json!({"ports": [{"containerPort": 80, "name": "web"}]})), None);
        assert_eq!(
            first_lost_path(&owned, &json!({"ports": [{"containerPort": 81, "name": "web"}]})),
            Some("ports".to_owned())
        );
        assert_eq!(
            first_lost_path(&owned, &json!({"ports": [{"containerPort": 80, "hostPort": 80}]})),
            Some("ports.hostPort".to_owned())
        );
    }

    #[test]
    fn keyed_items_of_an_atomic_type_are_owned_as_a_whole() {
        let owned = json!({"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"1\"}": {}}}});
        let wanted = |uid: &str| json!({"metadata": {"ownerReferences": [{"uid": uid, "name": "a", "kind": "B"}]}});
        assert_eq!(first_lost_path(&owned, &wanted("1")), None);
        assert_eq!(first_lost_path(&owned, &wanted("2")), Some("metadata.ownerReferences".to_owned()));
    }

    #[test]
    fn set_items_are_found_by_value_and_atomic_lists_as_a_whole() {
        let owned = json!({"f:metadata": {"f:finalizers": {".": {}, "v:\"a/b\"": {}}}, "f:args": {}});
        assert_eq!(first_lost_path(&owned, &json!({"metadata": {"finalizers": ["a/b"]}, "args": ["x"]})), None);
        let lost = first_lost_path(&owned, &json!({"metadata": {"finalizers": ["c/d"]}}));
        assert_eq!(lost, Some("metadata.finalizers".to_owned()));
    }

    #[test]
    fn the_name_of_an_object_is_never_owned_and_never_lost() {
        let wanted = json!({"apiVersion": "v1", "metadata": {"name": "a", "namespace": "b", "labels": {"x": "y"}}});
        assert_eq!(first_lost_path(&json!({"f:metadata": {"f:labels": {"f:x": {}}}}), &wanted), None);
    }

    #[test]
    fn an_item_with_a_defaulted_key_does_not_match_the_entry_of_another_item() {
        let owned = json!({"f:ports": {"k:{\"port\":53,\"protocol\":\"SCTP\"}": {"f:port": {}, "f:protocol": {}}}});
        let wanted = json!({"ports": [{"port": 53}, {"port": 53, "protocol": "SCTP"}]});
        assert_eq!(first_lost_path(&owned, &wanted), Some("ports".to_owned()));
        let alone = json!({"ports": [{"port": 53}]});
        assert_eq!(first_lost_path(&owned, &alone), None);
    }

    #[test]
    fn an_empty_list_is_lost_only_to_a_manager_that_owns_the_whole_list() {
        let (own, wanted) = (json!({"f:spec": {"f:replicas": {}}}), json!({"spec": {"replicas": 1, "list": []}}));
        assert_eq!(first_lost_path(&own, &wanted), None);
        let items = json!({"f:spec": {"f:list": {".": {}, "k:{\"name\":\"a\"}": {}}}});
        assert_eq!(lost_to(&[&items], &own, &wanted), None);
        let whole = json!({"f:spec": {"f:list": {}}});
        assert_eq!(lost_to(&[&items, &whole], &own, &wanted), Some("spec.list".to_owned()));
    }

    #[test]
    fn an_empty_list_in_an_item_is_lost_only_to_a_manager_of_the_same_item() {
        let item = |fields: Value| json!({"f:items": {"k:{\"name\":\"a\"}": fields}});
        let (own, wanted) = (item(json!({"f:name": {}})), json!({"items": [{"name": "a", "args": []}]}));
        assert_eq!(lost_to(&[&item(json!({"f:env": {}}))], &own, &wanted), None);
        let lost = lost_to(&[&item(json!({"f:args": {}}))], &own, &wanted);
        assert_eq!(lost, Some("items.args".to_owned()));
    }

    #[test]
    fn the_spec_of_a_kind_without_recorded_owners_is_never_lost() {
        let wanted = |group: &str| json!({"apiVersion": format!("{group}/v1"), "kind": "CertificateSigningRequest", "spec": {"a": 1}});
        assert_eq!(first_lost_path(&json!({}), &wanted("certificates.k8s.io")), None);
        assert_eq!(first_lost_path(&json!({}), &wanted("example.com")), Some("spec.a".to_owned()));
    }
}
