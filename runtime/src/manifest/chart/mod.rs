//! Generates the Helm chart of an operator: the objects of `install.yaml` as templates, with the values that they depend on.
//!
//! The templates come from the same documents as the other manifests. The names of a release take the place of the names of the
//! operator, so several releases can be in one cluster and in one namespace.
//!
//! The options of the operator are values below `config`. They become a configuration file in a ConfigMap and not arguments: the file
//! has the options of single kinds, for which there are no flags, and its published schema is the schema of these values.

mod certificate;
mod nats;
mod objects;
mod operator;
mod options;
mod placeholder;
mod schema;
mod template;
mod values;

use super::{ManifestError, crd::definition::Definition, json, project::Project, yaml};
use placeholder::Placeholders;
use serde_json::json;

/// The folder of the chart.
const FOLDER: &str = "chart";
/// The named templates, which the other templates include.
const NAMED: &str = include_str!("named.tpl");

/// Returns the path and the text of each file of the chart: its description, its values with their schema, and its templates.
pub(crate) fn files(project: &Project, definitions: &[Definition]) -> Result<Vec<(String, String)>, ManifestError> {
    let placeholders = Placeholders::new(project);
    let path = |file: &str| format!("{FOLDER}/{file}");
    let mut files = vec![
        (path("Chart.yaml"), yaml::render(&path("Chart.yaml"), &[&description(project)])?),
        (path("values.yaml"), values::file(project, &path("values.yaml"))?),
        (path("values.schema.json"), json::render(schema::document(project))),
        (
            path("templates/_helpers.tpl"),
            format!("{}\n{}", yaml::TEMPLATE_HEADER, placeholders.fill_named_templates(NAMED)),
        ),
    ];
    for (file, documents) in objects::templates(project, &placeholders, definitions) {
        let path = path(&format!("templates/{file}"));
        let mut text = format!("{}\n", yaml::TEMPLATE_HEADER);
        for document in documents {
            text.push_str("---\n");
            text.push_str(&placeholders.replace(&document.document(&path)?));
        }
        files.push((path, text));
    }
    Ok(files)
}

/// Returns the content of `Chart.yaml`.
fn description(project: &Project) -> serde_json::Value {
    json!({
        "apiVersion": "v2",
        "appVersion": project.version,
        "description": format!("The operator {}", project.name),
        "name": project.name,
        "type": "application",
        "version": chart_version(&project.version),
    })
}

/// Returns the version of the chart: `version`, which is the operator's, or `0.0.0` if `version` is not a semantic version, which Helm
/// requires.
fn chart_version(version: &str) -> &str {
    if semver::Version::parse(version).is_ok() { version } else { "0.0.0" }
}

#[cfg(test)]
mod tests;
