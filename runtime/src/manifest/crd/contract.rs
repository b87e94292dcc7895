//! Checks that a kind has a status subresource with conditions and `observedGeneration`, as opgen needs.

use serde_json::Value;

use super::super::lint::Findings;
use super::schema::list;

/// Reports an error for each part that the operator needs to write an object's status and that `version`, one version of a
/// CustomResourceDefinition, lacks: the status subresource, `conditions` as a list map with the key `type`, and `observedGeneration`.
pub(crate) fn check(version: &Value, findings: &mut Findings) {
    const EMBED: &str = "embed `opgen::Status` in the status, or use it directly with `#[kube(status = \"Status\")]`";
    if !version["subresources"]["status"].is_object() {
        findings.error(".status", "the kind has no status subresource", EMBED);
        return;
    }
    let status = &version["schema"]["openAPIV3Schema"]["properties"]["status"];
    for (field, kind) in [("conditions", "array"), ("observedGeneration", "integer")] {
        if status["properties"][field]["type"] != kind {
            findings.error(".status", format!("the status has no `{field}` of type {kind}"), EMBED);
        }
    }
    let conditions = &status["properties"]["conditions"];
    let keys = list(conditions, "x-kubernetes-list-map-keys");
    if conditions.is_object() && (conditions["x-kubernetes-list-type"] != "map" || keys != ["type"]) {
        findings.error(
            ".status.conditions",
            "conditions are not a list of type map with the key `type`: an apply would remove those of other clients",
            EMBED,
        );
    }
}
