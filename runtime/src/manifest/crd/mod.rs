//! Definitions of the custom kinds: mended, merged by kind, linted.

mod contract;
mod cost;
pub(crate) mod definition;
mod effect;
mod keyword;
mod mend;
mod schema;
mod size;
mod structural;
mod types;
pub(crate) mod value;
mod version;

use crate::manifest::crd::definition::Definition;
use serde_json::Value;

use super::finding::{Finding, Findings};
use super::project::Project;
pub(crate) use schema::{field, flag, items, list, text, values};
pub(crate) use types::schema_by_names;

/// The definitions of the project's kinds, sorted by group and plural.
pub(crate) fn definitions(project: &Project, found: &mut Vec<Finding>) -> Vec<Definition> {
    let mut definitions = version::grouped(project, found);
    for definition in &mut definitions {
        label(definition, &project.labels());
        lint(definition, found);
    }
    definitions
}

fn lint(definition: &mut Definition, found: &mut Vec<Finding>) {
    let kind = definition.kind.clone();
    for version in definition.value["spec"]["versions"].as_array_mut().into_iter().flatten() {
        let mut findings = Findings::of(format!("{kind} {}", text(version, "name")));
        let schema = &mut version["schema"]["openAPIV3Schema"];
        mend::mend(schema, "", &mut findings);
        structural::check(schema, &mut findings);
        effect::check(schema, "", &mut findings);
        cost::check(schema, &mut findings);
        contract::check(version, &mut findings);
        found.extend(findings.into_vec());
    }
    let mut findings = Findings::of(kind);
    size::check(&definition.value, &mut findings);
    found.extend(findings.into_vec());
}

fn label(definition: &mut Definition, labels: &Value) {
    let metadata = &mut definition.value["metadata"];
    for (key, value) in labels.as_object().into_iter().flatten() {
        if metadata["labels"][key].is_null() {
            metadata["labels"][key] = value.clone();
        }
    }
}
