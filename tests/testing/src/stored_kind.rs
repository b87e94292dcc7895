//! `StoredKind`: a kind whose objects are in a bucket and not in the Kubernetes API, with the conversion between objects and keys and
//! values.

use serde_json::{Value, json};

use crate::object::{group, text};

/// The annotation of a CustomResourceDefinition with the name of the bucket that keeps the objects of its kind.
pub const BUCKET_ANNOTATION: &str = "testing.opgen.dev/bucket";

/// The annotation of a CustomResourceDefinition whose kind the program only reads, or creates as children.
pub const UNCONTROLLED_ANNOTATION: &str = "testing.opgen.dev/uncontrolled";

/// The keys with this prefix belong to opgen.
const OWN_PREFIX: &str = "_";

/// The prefix of the keys of claims, with which an operator finds out that another client has deleted an object.
const CLAIM_PREFIX: &str = "_claim.";

/// The kind of an entry of a snapshot that is no object.
const ENTRY_KIND: &str = "BucketEntry";

/// A kind whose objects are in a bucket.
#[derive(Clone, Debug)]
pub(crate) struct StoredKind {
    /// The name of the bucket, which has objects of this kind only.
    pub(crate) bucket: String,
    /// The CustomResourceDefinition, which is not installed.
    pub(crate) definition: Value,
    /// Whether the program reconciles each object of the kind.
    pub(crate) is_controlled: bool,
    version: String,
}

impl StoredKind {
    /// Returns the kind that a CustomResourceDefinition with [`BUCKET_ANNOTATION`] defines, in its storage version; `None` for another
    /// object.
    pub(crate) fn of(definition: &Value) -> Option<Self> {
        let annotations = &definition["metadata"]["annotations"];
        let bucket =
            annotations[BUCKET_ANNOTATION].as_str().filter(|_| definition["kind"] == "CustomResourceDefinition")?;
        let versions = definition["spec"]["versions"].as_array()?;
        let version = versions.iter().find(|version| version["storage"] == true).or(versions.first())?;
        Some(Self {
            bucket: bucket.to_owned(),
            is_controlled: annotations[UNCONTROLLED_ANNOTATION].is_null(),
            version: text(version, "/name").to_owned(),
            definition: definition.clone(),
        })
    }

    /// Returns the kinds among installed manifests whose objects are in buckets.
    pub(crate) fn all(installed: &[Value]) -> Vec<Self> {
        installed.iter().filter_map(Self::of).collect()
    }

    /// Returns the OpenAPI schema of the spec in the version of the kind; null if the definition has none.
    pub(crate) fn spec_schema(&self) -> &Value {
        let versions = self.definition["spec"]["versions"].as_array().into_iter().flatten();
        let mut served = versions.filter(|version| version["name"] == self.version.as_str());
        served.next().map_or(&Value::Null, |version| &version["schema"]["openAPIV3Schema"]["properties"]["spec"])
    }

    /// Returns whether an object is of this kind.
    pub(crate) fn is_kind_of(&self, object: &Value) -> bool {
        let spec = &self.definition["spec"];
        object["kind"] == spec["names"]["kind"] && group(object) == text(spec, "/group")
    }

    /// Returns whether the path of a request is that of a collection, an object or a subresource of this kind.
    pub(crate) fn has_path(&self, path: &str) -> bool {
        let spec = &self.definition["spec"];
        let (group, plural) = (text(spec, "/group"), text(spec, "/names/plural"));
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        match segments[..] {
            ["apis", path_group, _, "namespaces", _, resource, ..] | ["apis", path_group, _, resource, ..] => {
                path_group == group && resource == plural
            }
            _ => false,
        }
    }

    /// Returns whether the objects have a namespace.
    pub(crate) fn is_namespaced(&self) -> bool {
        self.definition["spec"]["scope"] == "Namespaced"
    }

    /// Returns the key of an object.
    pub(crate) fn key(&self, object: &Value) -> String {
        self.key_of(text(object, "/metadata/namespace"), text(object, "/metadata/name"))
    }

    /// Returns the key of an object of this name.
    pub(crate) fn key_of(&self, namespace: &str, name: &str) -> String {
        if self.is_namespaced() { format!("{namespace}.{name}") } else { name.to_owned() }
    }

    /// Returns a bucket entry as an object of a snapshot: the object in it, or an object of the kind `BucketEntry` with the value as text
    /// if the value is invalid. An entry with which opgen accompanies an object, such as a claim, has no value, since only its existence is
    /// compared.
    pub(crate) fn snapshot_object(&self, key: &str, value: &[u8]) -> Value {
        if let Some(object) = self.object(key, value) {
            return object;
        }
        let mut entry = json!({"kind": ENTRY_KIND, "metadata": {"name": format!("{}/{key}", self.bucket)}});
        if !key.starts_with(OWN_PREFIX) {
            entry["value"] = String::from_utf8_lossy(value).into();
        }
        entry
    }

    /// Returns the object in a bucket entry, with its `apiVersion`, kind, name and namespace, which the value need not have. `None` for an
    /// entry of opgen, such as a claim, and for a value that is no JSON object with a spec.
    pub(crate) fn object(&self, key: &str, value: &[u8]) -> Option<Value> {
        let (namespace, name) = if self.is_namespaced() { key.split_once('.')? } else { ("", key) };
        let is_of_opgen = key.starts_with(OWN_PREFIX);
        let mut object: Value = serde_json::from_slice(value).ok()?;
        // The API of a bucket needs a spec, and takes missing metadata as empty.
        if is_of_opgen
            || !object["spec"].is_object()
            || !(object["metadata"].is_object() || object["metadata"].is_null())
        {
            return None;
        }
        let spec = &self.definition["spec"];
        object["apiVersion"] = format!("{}/{}", text(spec, "/group"), self.version).into();
        object["kind"] = spec["names"]["kind"].clone();
        object["metadata"]["name"] = name.into();
        if self.is_namespaced() {
            object["metadata"]["namespace"] = namespace.into();
        }
        Some(object)
    }
}

/// Returns the key of the claim of an object: an entry that the operator writes beside the object, by which it notices its deletion.
pub(crate) fn claim_key(key: &str) -> String {
    format!("{CLAIM_PREFIX}{key}")
}

/// Returns an object as a client that knows nothing of Kubernetes writes it: its spec, with labels and annotations if it has any.
pub(crate) fn bare_object(object: &Value) -> Value {
    let mut bare = json!({"spec": object["spec"]});
    for field in ["labels", "annotations"] {
        let value = &object["metadata"][field];
        if !value.is_null() {
            bare["metadata"][field] = value.clone();
        }
    }
    bare
}

/// Returns the value of a [`bare_object`].
pub(crate) fn bare_value(object: &Value) -> Vec<u8> {
    bare_object(object).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a namespaced kind in the bucket `units`.
    fn units() -> Option<StoredKind> {
        StoredKind::of(&json!({
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "units.plant.example.com", "annotations": {BUCKET_ANNOTATION: "units"}},
            "spec": {
                "group": "plant.example.com", "scope": "Namespaced", "names": {"kind": "Unit", "plural": "units"},
                "versions": [{"name": "v1", "storage": true}],
            },
        }))
    }

    /// A claim is the entry that an operator writes beside an object in a bucket (a key-value store).
    #[test]
    fn an_entry_is_an_object_a_claim_or_neither() {
        let units = units().unwrap_or_else(|| unreachable!("the annotation names a bucket"));
        let object = units.snapshot_object("shop.web.1", br#"{"spec": {"a": 1}}"#);
        let expected = json!({
            "apiVersion": "plant.example.com/v1", "kind": "Unit", "metadata": {"namespace": "shop", "name": "web.1"},
            "spec": {"a": 1},
        });
        assert_eq!(object, expected);
        assert_eq!(units.key(&object), "shop.web.1");
        let claim = units.snapshot_object("_claim.shop.web", br#"{"spec": {}}"#);
        assert_eq!(claim, json!({"kind": "BucketEntry", "metadata": {"name": "units/_claim.shop.web"}}));
        let other = units.snapshot_object("shop.web", b"[]");
        assert_eq!(other, json!({"kind": "BucketEntry", "metadata": {"name": "units/shop.web"}, "value": "[]"}));
    }

    #[test]
    fn a_path_belongs_to_a_kind_by_group_and_plural() {
        let units = units().unwrap_or_else(|| unreachable!("the annotation names a bucket"));
        for path in ["/apis/plant.example.com/v1/units", "/apis/plant.example.com/v1/namespaces/a/units/b/status"] {
            assert!(units.has_path(path), "{path}");
        }
        for path in ["/api/v1/units", "/apis/plant.example.com/v1/namespaces/a/pools", "/apis/other/v1/units/a"] {
            assert!(!units.has_path(path), "{path}");
        }
    }

    #[test]
    fn a_bare_value_has_what_a_client_without_kubernetes_writes() {
        let object =
            json!({"kind": "Unit", "metadata": {"name": "a", "uid": "1", "labels": {"b": "c"}}, "spec": {"d": 1}});
        let bare: Value = serde_json::from_slice(&bare_value(&object)).unwrap_or_default();
        assert_eq!(bare, json!({"metadata": {"labels": {"b": "c"}}, "spec": {"d": 1}}));
    }
}
