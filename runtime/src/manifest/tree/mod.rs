//! Renders provisioner trees as text, mermaid, SVG or JSON.

mod diagram;
#[cfg(test)]
pub(crate) mod example;
mod json;
mod labels;
mod mermaid;
mod svg;
mod text;

pub(crate) use diagram::{Diagram, DiagramNode, DiagramObject, DiagramOwner, NodeState};

use super::project::Project;
use serde_json::Value;

/// The output format of a tree diagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
#[non_exhaustive]
pub enum TreeFormat {
    /// Text for a terminal.
    #[default]
    Text,
    /// JSON for programs.
    Json,
    /// A mermaid flowchart.
    Mermaid,
    /// A self-contained SVG image.
    Svg,
}

/// Returns every tree of the project as text: the type, the options and the permissions of each node.
///
/// ```text
/// WebApp (demo.example.com/v1alpha1): serial
/// ├─ config: resource  ConfigMap: get, patch, delete
/// └─ workload: concurrent  when app.spec.replicas > 0
///    └─ service: resource  Service: get, patch, delete
/// ```
pub fn tree(project: &Project) -> String {
    text::text(&Diagram::all(project))
}

/// Returns every tree of the project as JSON: nodes with their type, options, permissions and children.
pub fn tree_json(project: &Project) -> Value {
    json::diagrams_json(&Diagram::all(project))
}

/// Returns every tree of the project as one mermaid flowchart.
pub fn mermaid(project: &Project) -> String {
    mermaid::mermaid(&Diagram::all(project))
}

/// Returns every tree of the project as one SVG image, which needs no external font, style or image.
pub fn svg(project: &Project) -> String {
    svg::svg(&project.name, &project.version, &Diagram::all(project))
}

/// Renders diagrams in a format. As JSON, the diagram of a single object is one JSON object, and all others are a list.
pub(crate) fn render_diagrams(project: &Project, diagrams: &[Diagram], format: TreeFormat) -> String {
    match format {
        TreeFormat::Text => text::text(diagrams),
        TreeFormat::Json => match diagrams {
            [single] if single.object.is_some() => format!("{}\n", json::diagram_json(single)),
            _ => format!("{}\n", json::diagrams_json(diagrams)),
        },
        TreeFormat::Mermaid => mermaid::mermaid(diagrams),
        TreeFormat::Svg => svg::svg(&project.name, &project.version, diagrams),
    }
}
