//! Collects the CustomResourceDefinitions of a project, fixes their schemas and lints them.

mod contract;
mod cost;
pub(crate) mod definition;
mod effect;
mod fix;
mod schema;
mod size;
mod structural;
mod types;
pub(crate) mod value;
mod version;

use crate::manifest::crd::definition::Definition;
use serde_json::Value;

use super::lint::{Finding, Findings};
use super::project::Project;
pub(crate) use schema::{field, flag, items, list, text, values};

/// Returns the CustomResourceDefinitions of all kinds of the project, sorted by group and plural. They have the project's labels, and
/// `lint` has corrected their schemas and added its findings to `report`.
pub(crate) fn definitions(project: &Project, report: &mut Vec<Finding>) -> Vec<Definition> {
    let mut definitions = version::merge_versions(project, report);
    for definition in &mut definitions {
        add_labels(definition, &project.labels());
        lint(definition, report);
    }
    definitions
}

/// Fixes the schema of each version, and reports what the API server would refuse or warn about.
fn lint(definition: &mut Definition, report: &mut Vec<Finding>) {
    let kind = definition.kind.clone();
    for version in definition.value["spec"]["versions"].as_array_mut().into_iter().flatten() {
        let mut findings = Findings::of(format!("{kind} {}", text(version, "name")));
        fix::fix_schema(&mut version["schema"]["openAPIV3Schema"], "", &mut findings);
        structural::check(version, &mut findings);
        let schema = &version["schema"]["openAPIV3Schema"];
        effect::check(schema, "", &mut findings);
        cost::check(schema, &mut findings);
        contract::check(version, &mut findings);
        report.extend(findings.into_vec());
    }
    let mut findings = Findings::of(kind);
    size::check(&definition.value, &mut findings);
    report.extend(findings.into_vec());
}

/// Adds labels to a CustomResourceDefinition; a label that it already has keeps its value.
fn add_labels(definition: &mut Definition, labels: &Value) {
    let metadata = &mut definition.value["metadata"];
    for (key, value) in labels.as_object().into_iter().flatten() {
        if metadata["labels"][key].is_null() {
            metadata["labels"][key] = value.clone();
        }
    }
}
