//! Pictures of the trees: text for a terminal, mermaid for a page, SVG for a slide, JSON for programs.

mod drawn;
#[cfg(test)]
pub(crate) mod example;
mod json;
mod mermaid;
mod svg;
mod text;
mod words;

pub(crate) use drawn::{Drawing, Drawn, Found, NodeState, Sight};

use super::project::Project;
use serde_json::Value;

/// A form of picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
#[non_exhaustive]
pub enum Picture {
    /// For a terminal.
    #[default]
    Text,
    /// For programs.
    Json,
    /// A flowchart for a page that understands mermaid.
    Mermaid,
    /// A drawing that needs nothing else: for a slide, a page, or print.
    Svg,
}

/// Every tree of the project as text: what each node is, on which terms, and what it may do.
///
/// ```text
/// WebApp (demo.example.com/v1alpha1): serial
/// ├─ config: resource  ConfigMap: get, patch, delete
/// └─ workload: concurrent  when app.spec.replicas > 0
///    └─ service: resource  Service: get, patch, delete
/// ```
pub fn tree(project: &Project) -> String {
    text::text(&Drawing::all(project))
}

/// Every tree of the project for programs: nodes with their kind, terms, permissions and children.
pub fn tree_json(project: &Project) -> Value {
    json::all(&Drawing::all(project))
}

/// Every tree of the project as one mermaid flowchart.
pub fn mermaid(project: &Project) -> String {
    mermaid::mermaid(&Drawing::all(project))
}

/// Every tree of the project as one SVG drawing. It needs no font, style or picture from elsewhere.
pub fn svg(project: &Project) -> String {
    svg::svg(&project.name, &project.version, &Drawing::all(project))
}

/// Trees in the form that was asked for.
pub(crate) fn drawn(project: &Project, drawings: &[Drawing], picture: Picture) -> String {
    match picture {
        Picture::Text => text::text(drawings),
        Picture::Json => match drawings {
            [one] if one.object.is_some() => format!("{}\n", json::one(one)),
            all => format!("{}\n", json::all(all)),
        },
        Picture::Mermaid => mermaid::mermaid(drawings),
        Picture::Svg => svg::svg(&project.name, &project.version, drawings),
    }
}
