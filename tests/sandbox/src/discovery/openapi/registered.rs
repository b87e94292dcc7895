//! Lists the groups and versions of `DeleteOptions` that OpenAPI documents name; a document about custom kinds names those of all built-in
//! groups.

use serde_json::{Value, json};

/// All versions that kube-apiserver registers, served or not: custom kinds accept the `DeleteOptions` of all of them.
const GROUPS: [(&str, &[&str]); 22] = [
    ("", &["v1"]),
    ("admissionregistration.k8s.io", &["v1", "v1alpha1", "v1beta1"]),
    ("apps", &["v1", "v1beta1", "v1beta2"]),
    ("authentication.k8s.io", &["v1", "v1alpha1", "v1beta1"]),
    ("authorization.k8s.io", &["v1", "v1beta1"]),
    ("autoscaling", &["v1", "v2"]),
    ("batch", &["v1", "v1beta1"]),
    ("certificates.k8s.io", &["v1", "v1alpha1", "v1beta1"]),
    ("coordination.k8s.io", &["v1", "v1alpha2", "v1beta1"]),
    ("discovery.k8s.io", &["v1", "v1beta1"]),
    ("events.k8s.io", &["v1", "v1beta1"]),
    ("extensions", &["v1beta1"]),
    ("flowcontrol.apiserver.k8s.io", &["v1", "v1beta1", "v1beta2", "v1beta3"]),
    ("internal.apiserver.k8s.io", &["v1alpha1"]),
    ("networking.k8s.io", &["v1", "v1beta1"]),
    ("node.k8s.io", &["v1", "v1alpha1", "v1beta1"]),
    ("policy", &["v1", "v1beta1"]),
    ("rbac.authorization.k8s.io", &["v1", "v1alpha1", "v1beta1"]),
    ("resource.k8s.io", &["v1", "v1alpha3", "v1beta1", "v1beta2"]),
    ("scheduling.k8s.io", &["v1", "v1alpha2", "v1beta1"]),
    ("storage.k8s.io", &["v1", "v1alpha1", "v1beta1"]),
    ("storagemigration.k8s.io", &["v1beta1"]),
];

/// Returns the `x-kubernetes-group-version-kind` of `DeleteOptions` in the document of a group version: if the document has custom kinds,
/// all registered versions, otherwise `v1` and the version of the document.
pub(super) fn delete_options(group: &str, version: &str, custom: bool) -> Value {
    let gvk = |group: &str, version: &str| json!({"group": group, "kind": "DeleteOptions", "version": version});
    if custom {
        let all = GROUPS.iter().flat_map(|(group, versions)| versions.iter().map(|version| gvk(group, version)));
        return all.collect();
    }
    let core = gvk("", "v1");
    if group.is_empty() { json!([core]) } else { json!([core, gvk(group, version)]) }
}
