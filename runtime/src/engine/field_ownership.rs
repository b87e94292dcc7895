//! Whether an object still is as it was applied, told by who owns its fields.
//!
//! The API server takes a field away from a manager when somebody else gives it another value, or removes it. So as long as
//! the fields that were applied are ours, their values are as applied, and whatever the server made of them (quantities,
//! defaults, order of sets) is no difference. The set says of itself which lists are keyed, so no schema is needed.
//!
//! Two things have no owner. A keyed list without items: it is as wanted while nobody else holds the list as a whole. And
//! what the server takes once and then keeps for itself: nobody can change it.

use serde_json::{Map, Value};

/// Kinds, by group and name, whose spec has no owner since the server never changes it.
const KEPT_BY_SERVER: [(&str, &str); 1] = [("certificates.k8s.io", "CertificateSigningRequest")];

/// Who owns what of an object, as sets of fields (`fieldsV1`).
#[derive(Debug)]
pub(crate) struct Owned<'a> {
    /// What our apply holds.
    pub(crate) ours: &'a Value,
    /// What anybody else does.
    pub(crate) others: Vec<&'a Value>,
}

impl Owned<'_> {
    /// What is owned below a field or an item, if some of it is ours.
    fn below(&self, step: &str) -> Option<Self> {
        let ours = self.ours.get(step)?;
        Some(Self { ours, others: self.others.iter().filter_map(|other| other.get(step)).collect() })
    }

    /// Whether somebody else holds a field as one value.
    fn is_taken(&self, step: &str) -> bool {
        self.others.iter().any(|other| other.get(step).is_some_and(is_empty))
    }
}

/// The first wanted field that isn't ours any more, as a path; `None` if all are.
pub(crate) fn first_lost(owned: &Owned<'_>, wanted: &Value) -> Option<String> {
    let mut path = Vec::new();
    let lost = wanted.as_object()?.iter().any(|(name, value)| match name.as_str() {
        // Never owned: they say which object is meant.
        "apiVersion" | "kind" => false,
        "metadata" => metadata_lost(owned, value, &mut path),
        "spec" if is_kept_by_server(wanted) => false,
        _ => field_lost(owned, name, value, &mut path),
    });
    lost.then(|| path.into_iter().rev().collect::<Vec<_>>().join("."))
}

/// Whether a set of fields has the one of a path, as [`first_lost`] writes it: below the items of lists it may be any item's.
pub(crate) fn has_field(fields: &Value, path: &str) -> bool {
    let Some(of_manager) = fields.as_object() else { return false };
    let in_items = of_manager.iter().filter(|(step, _)| step.starts_with("k:"));
    if in_items.into_iter().any(|(_, item)| has_field(item, path)) {
        return true;
    }
    // A name may have dots in it, as those of labels have.
    of_manager.iter().filter_map(|(step, below)| Some((step.strip_prefix("f:")?, below))).any(|(name, below)| {
        path.strip_prefix(name).is_some_and(|rest| match rest.strip_prefix('.') {
            Some(rest) => is_empty(below) || has_field(below, rest),
            None => rest.is_empty(),
        })
    })
}

fn is_kept_by_server(wanted: &Value) -> bool {
    let version = wanted["apiVersion"].as_str().unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    KEPT_BY_SERVER.iter().any(|(of, kind)| *of == group && *kind == wanted["kind"])
}

fn metadata_lost(owned: &Owned<'_>, metadata: &Value, path: &mut Vec<String>) -> bool {
    let Value::Object(metadata) = metadata else { return false };
    let held = owned.below("f:metadata").unwrap_or(Owned { ours: &Value::Null, others: Vec::new() });
    metadata.iter().filter(|(name, _)| !matches!(name.as_str(), "name" | "namespace" | "uid")).any(|(name, value)| {
        let lost = field_lost(&held, name, value, path);
        if lost {
            path.push("metadata".to_owned());
        }
        lost
    })
}

fn field_lost(owned: &Owned<'_>, name: &str, wanted: &Value, path: &mut Vec<String>) -> bool {
    if wanted.is_null() {
        return false;
    }
    let step = format!("f:{name}");
    let lost = match owned.below(&step) {
        Some(below) => value_lost(&below, wanted, path),
        None => {
            let lost = !is_empty(wanted) || owned.is_taken(&step);
            if lost {
                push_first(wanted, path);
            }
            lost
        }
    };
    if lost {
        path.push(name.to_owned());
    }
    lost
}

/// Adds the path of the first field of a value of which nothing is ours.
fn push_first(wanted: &Value, path: &mut Vec<String>) {
    if let Some((name, value)) = wanted.as_object().and_then(|fields| fields.iter().next()) {
        push_first(value, path);
        path.push(name.clone());
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

fn value_lost(owned: &Owned<'_>, wanted: &Value, path: &mut Vec<String>) -> bool {
    // A leaf: the value is owned as a whole. An item of an atomic type (an owner reference is one) is one, too.
    if is_empty(owned.ours) {
        return false;
    }
    match wanted {
        Value::Object(wanted) => wanted.iter().any(|(name, value)| field_lost(owned, name, value, path)),
        Value::Array(items) => items.iter().any(|item| item_lost(owned, items, item, path)),
        _ => false,
    }
}

fn item_lost(owned: &Owned<'_>, items: &[Value], item: &Value, path: &mut Vec<String>) -> bool {
    let steps = || owned.ours.as_object().into_iter().flat_map(Map::keys);
    if !item.is_object() {
        return !steps().any(|step| step.strip_prefix("v:").is_some_and(|text| same_json(text, item)));
    }
    let entry = steps().find(|step| step.strip_prefix("k:").is_some_and(|key| is_keyed(key, items, item)));
    match entry.and_then(|step| owned.below(step)) {
        Some(below) => value_lost(&below, item, path),
        None => true,
    }
}

/// Whether an item has these keys; one that it leaves out was defaulted by the server, but not to what another item says.
pub(crate) fn is_keyed(key: &str, items: &[Value], item: &Value) -> bool {
    let Ok(Value::Object(key)) = serde_json::from_str(key) else { return false };
    let has_all = |item: &Value| key.iter().all(|(name, value)| item.get(name) == Some(value));
    let fits = key.iter().all(|(name, value)| item.get(name).is_none_or(|wanted| wanted == value))
        && key.keys().any(|name| item.get(name).is_some());
    fits && (has_all(item) || !items.iter().any(has_all))
}

fn same_json(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|owned| owned == *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn first_lost(ours: &Value, wanted: &Value) -> Option<String> {
        lost_to(&[], ours, wanted)
    }

    fn lost_to(others: &[&Value], ours: &Value, wanted: &Value) -> Option<String> {
        super::first_lost(&Owned { ours, others: others.to_vec() }, wanted)
    }

    #[test]
    fn a_field_that_is_still_ours_is_no_drift() {
        let owned = json!({"f:data": {"f:a": {}, "f:b": {}}});
        assert_eq!(first_lost(&owned, &json!({"kind": "ConfigMap", "data": {"a": "1"}})), None);
    }

    #[test]
    fn a_field_taken_by_another_manager_is_named() {
        let owned = json!({"f:data": {"f:b": {}}});
        assert_eq!(first_lost(&owned, &json!({"data": {"a": "1", "b": "2"}})), Some("data.a".to_owned()));
    }

    #[test]
    fn the_manager_of_a_field_is_found_by_its_path() {
        let fields = json!({
            "f:metadata": {"f:labels": {"f:app.kubernetes.io/name": {}}},
            "f:spec": {"f:replicas": {}, "f:ports": {"k:{\"port\":80}": {"f:name": {}}}, "f:list": {}},
        });
        let held =
            ["metadata.labels.app.kubernetes.io/name", "spec.replicas", "spec.ports", "spec.ports.name", "spec.list.a"];
        for path in held {
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
        assert_eq!(first_lost(&owned, &json!({"ports": [{"containerPort": 80, "name": "web"}]})), None);
        assert_eq!(
            first_lost(&owned, &json!({"ports": [{"containerPort": 81, "name": "web"}]})),
            Some("ports".to_owned())
        );
        assert_eq!(
            first_lost(&owned, &json!({"ports": [{"containerPort": 80, "hostPort": 80}]})),
            Some("ports.hostPort".to_owned())
        );
    }

    #[test]
    fn keyed_items_of_an_atomic_type_are_owned_as_a_whole() {
        let owned = json!({"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"1\"}": {}}}});
        let wanted = |uid: &str| json!({"metadata": {"ownerReferences": [{"uid": uid, "name": "a", "kind": "B"}]}});
        assert_eq!(first_lost(&owned, &wanted("1")), None);
        assert_eq!(first_lost(&owned, &wanted("2")), Some("metadata.ownerReferences".to_owned()));
    }

    #[test]
    fn set_items_are_found_by_value_and_atomic_lists_as_a_whole() {
        let owned = json!({"f:metadata": {"f:finalizers": {".": {}, "v:\"a/b\"": {}}}, "f:args": {}});
        assert_eq!(first_lost(&owned, &json!({"metadata": {"finalizers": ["a/b"]}, "args": ["x"]})), None);
        let lost = first_lost(&owned, &json!({"metadata": {"finalizers": ["c/d"]}}));
        assert_eq!(lost, Some("metadata.finalizers".to_owned()));
    }

    #[test]
    fn the_name_of_an_object_is_never_owned_and_never_lost() {
        let wanted = json!({"apiVersion": "v1", "metadata": {"name": "a", "namespace": "b", "labels": {"x": "y"}}});
        assert_eq!(first_lost(&json!({"f:metadata": {"f:labels": {"f:x": {}}}}), &wanted), None);
    }

    #[test]
    fn an_item_without_a_key_is_not_the_one_of_another_item() {
        let owned = json!({"f:ports": {"k:{\"port\":53,\"protocol\":\"SCTP\"}": {"f:port": {}, "f:protocol": {}}}});
        let wanted = json!({"ports": [{"port": 53}, {"port": 53, "protocol": "SCTP"}]});
        assert_eq!(first_lost(&owned, &wanted), Some("ports".to_owned()));
        let alone = json!({"ports": [{"port": 53}]});
        assert_eq!(first_lost(&owned, &alone), None);
    }

    #[test]
    fn an_empty_list_is_lost_only_to_one_who_holds_it_as_a_whole() {
        let (ours, wanted) = (json!({"f:spec": {"f:replicas": {}}}), json!({"spec": {"replicas": 1, "list": []}}));
        assert_eq!(first_lost(&ours, &wanted), None);
        let items = json!({"f:spec": {"f:list": {".": {}, "k:{\"name\":\"a\"}": {}}}});
        assert_eq!(lost_to(&[&items], &ours, &wanted), None);
        let whole = json!({"f:spec": {"f:list": {}}});
        assert_eq!(lost_to(&[&items, &whole], &ours, &wanted), Some("spec.list".to_owned()));
    }

    #[test]
    fn an_empty_list_of_an_item_is_looked_for_in_the_same_item() {
        let item = |fields: Value| json!({"f:items": {"k:{\"name\":\"a\"}": fields}});
        let (ours, wanted) = (item(json!({"f:name": {}})), json!({"items": [{"name": "a", "args": []}]}));
        assert_eq!(lost_to(&[&item(json!({"f:env": {}}))], &ours, &wanted), None);
        let lost = lost_to(&[&item(json!({"f:args": {}}))], &ours, &wanted);
        assert_eq!(lost, Some("items.args".to_owned()));
    }

    #[test]
    fn what_the_server_keeps_for_itself_is_never_lost() {
        let wanted = |group: &str| json!({"apiVersion": format!("{group}/v1"), "kind": "CertificateSigningRequest", "spec": {"a": 1}});
        assert_eq!(first_lost(&json!({}), &wanted("certificates.k8s.io")), None);
        assert_eq!(first_lost(&json!({}), &wanted("example.com")), Some("spec.a".to_owned()));
    }
}
