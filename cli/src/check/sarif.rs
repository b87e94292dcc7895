//! Writes the changes of a release as SARIF, which code reviews show beside the files.

use serde_json::{Value, json};

use super::comparison::{Comparison, DefinitionChange};

/// The ids of the SARIF rules, with their descriptions: the first is for changes of CRDs, the second for roles.
const RULES: [(&str, &str); 2] = [
    ("breaking-change", "A change of a definition that is breaking for stored objects or for clients"),
    ("new-permission", "A permission that a role of the release before did not have"),
];

/// Returns a comparison as a SARIF 2.1.0 log. Breaking changes are errors, or notes if `allow_alpha` allows them. Permissions that
/// roles gain are warnings. Harmless changes are left out.
pub(crate) fn to_sarif(comparison: &Comparison, allow_alpha: bool) -> Value {
    let change = |change: &DefinitionChange| {
        let level = if change.is_breaking(allow_alpha) { "error" } else { "note" };
        let message = format!("{} (breaking for {})", change.text(), change.breaks);
        let location = json!({"physicalLocation": {
            "artifactLocation": {"uri": change.file},
            "region": {"startLine": 1},
        }});
        json!({"ruleId": RULES[0].0, "level": level, "message": {"text": message}, "locations": [location]})
    };
    let breaking = comparison.definition_changes.iter().filter(|change| change.breaks.any()).map(change);
    let gained = comparison.role_changes.iter().flat_map(|role| {
        let message = move |permission: &String| format!("{} gains: {permission}", role.role);
        role.gained.iter().map(message)
    });
    let gained = gained.map(|text| json!({"ruleId": RULES[1].0, "level": "warning", "message": {"text": text}}));
    let rules = RULES.map(|(id, text)| json!({"id": id, "shortDescription": {"text": text}}));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "opgen", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": breaking.chain(gained).collect::<Vec<_>>(),
        }],
    })
}
