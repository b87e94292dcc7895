//! Detects ConfigMaps and Secrets without lists that other clients may share. They are written by merge patches instead of server-side
//! apply, which costs the API server less.
//!
//! Apply merges lists by their keys, and removes the fields that the manager no longer wants. An object without lists that other
//! clients may share needs only the latter, and a merge patch with nulls does the same. The annotation with the digest of a plain
//! object has a hash of the paths of its fields, so that the next pass can tell whether only values have changed, also after a
//! restart. If not, the fields that the operator owns in the live object are the ones it may have to remove.

use crate::kind::Kind;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// The kinds of the core group without lists.
const KINDS: [&str; 2] = ["ConfigMap", "Secret"];

/// Returns whether an object is plain, so that it is written by merge patches instead of server-side apply: a ConfigMap or Secret without
/// lists that other clients may share. A merge patch replaces whole lists, so at most one owner reference is allowed, usually the
/// operator's own.
pub(crate) fn is_plain(kind: &Kind, object: &Value) -> bool {
    let has_list =
        |name: &str, allowed: usize| object["metadata"][name].as_array().is_some_and(|list| list.len() > allowed);
    kind.group.is_empty()
        && KINDS.contains(&kind.kind.as_ref())
        && !has_list("ownerReferences", 1)
        && !has_list("finalizers", 0)
}

/// Returns a hash of the paths of all fields of an object. It is independent of their values and of the order of keys, and stable
/// across builds and releases.
pub(crate) fn paths_hash(object: &Value) -> String {
    let mut hasher = Sha256::new();
    add_paths(object, &mut hasher);
    hasher.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes the sorted field names of an object and of the objects in it. All values that are no objects hash to the same byte, so that the
/// hash does not depend on them.
fn add_paths(value: &Value, hasher: &mut Sha256) {
    let Value::Object(fields) = value else { return hasher.update(b";") };
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_unstable_by_key(|(name, _)| name.as_str());
    hasher.update(b"{");
    for (name, value) in fields {
        hasher.update(name.len().to_le_bytes());
        hasher.update(name);
        add_paths(value, hasher);
    }
    hasher.update(b"}");
}

/// Adds a null to a merge patch for each field that the operator owns and that the patch does not have, so that the patch removes the
/// field. Keeps fields that another manager owns as well. `own` and `others` are the sets of fields (`fieldsV1`) of the managers.
pub(crate) fn add_nulls(patch: &mut Map<String, Value>, own: &Value, others: &[&Value]) {
    for (step, own) in own.as_object().into_iter().flatten() {
        let Some(name) = step.strip_prefix("f:") else { continue };
        let others: Vec<&Value> = others.iter().filter_map(|other| other.get(step)).collect();
        match patch.get_mut(name) {
            Some(Value::Object(nested)) => add_nulls(nested, own, &others),
            Some(_) => {}
            None if others.is_empty() => drop(patch.insert(name.to_owned(), Value::Null)),
            // Another manager owns the field or a part of it: only the parts that nobody else owns are removed.
            None => {
                let mut nested = Map::new();
                add_nulls(&mut nested, own, &others);
                if !nested.is_empty() {
                    patch.insert(name.to_owned(), nested.into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::{ConfigMap, Service};
    use serde_json::json;

    #[test]
    fn an_object_with_a_list_that_others_may_share_is_not_plain() {
        let config = kind_of::<ConfigMap>();
        assert!(is_plain(&config, &json!({"metadata": {"ownerReferences": [{"uid": "1"}]}, "data": {"a": "1"}})));
        for metadata in [json!({"ownerReferences": [{"uid": "1"}, {"uid": "2"}]}), json!({"finalizers": ["a.b/c"]})] {
            assert!(!is_plain(&config, &json!({"metadata": metadata})), "{metadata}");
        }
        assert!(!is_plain(&kind_of::<Service>(), &json!({})));
    }

    #[test]
    fn the_hash_of_the_paths_changes_with_a_field_and_not_with_a_value() {
        let hash = |data: Value| paths_hash(&json!({"kind": "ConfigMap", "data": data}));
        let first = hash(json!({"a": "1", "b": "2"}));
        assert_eq!(first, hash(json!({"b": "3", "a": ""})));
        for other in
            [json!({"a": "1"}), json!({"a": "1", "c": "2"}), json!({"ab": "1"}), json!({"a": {"b": "1"}}), json!({})]
        {
            assert_ne!(first, hash(other.clone()), "{other}");
        }
    }

    #[test]
    fn a_field_that_is_not_wanted_becomes_null_unless_another_manager_owns_it() {
        let own = json!({
            "f:data": {".": {}, "f:kept": {}, "f:gone": {}, "f:shared": {}},
            "f:binaryData": {".": {}, "f:all": {}},
            "f:metadata": {"f:labels": {".": {}, "f:gone": {}}, "f:annotations": {".": {}, "f:shared": {}}},
        });
        let other = json!({
            "f:data": {"f:shared": {}, "f:theirs": {}},
            "f:metadata": {"f:labels": {"f:theirs": {}}, "f:annotations": {"f:shared": {}}},
        });
        let Value::Object(mut patch) = json!({"data": {"kept": "1"}}) else { unreachable!() };
        add_nulls(&mut patch, &own, &[&other]);
        let expected = json!({
            "data": {"kept": "1", "gone": null}, "binaryData": null, "metadata": {"labels": {"gone": null}},
        });
        assert_eq!(Value::Object(patch), expected);
    }
}
