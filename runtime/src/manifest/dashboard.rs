//! Generates the Grafana dashboard of an operator: one panel for each metric of the table.

use super::{json, metrics, project::Project};
use crate::metrics::panel::{self, CONTROLLERS, Panel, Query};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The path of the dashboard.
pub(crate) const DASHBOARD_PATH: &str = "grafana/dashboard.json";

/// The version of the format, which Grafana 10 and newer read.
const SCHEMA_VERSION: u32 = 38;

/// The maximum length of the uid of a dashboard.
const MAX_UID: usize = 40;

/// The width and the height of a panel in units of the grid, which is 24 wide.
const SIZE: (usize, usize) = (8, 7);
const PANELS_IN_A_LINE: usize = 24 / SIZE.0;

/// Returns the Grafana dashboard as the text of a JSON file.
pub(crate) fn render(project: &Project) -> String {
    json::render(document(project))
}

/// Returns the Grafana dashboard of the operator: its variables, and the panels of all metrics.
pub(crate) fn document(project: &Project) -> Value {
    let matchers = metrics::matchers(project);
    json!({
        "annotations": {"list": []},
        "description": json::description(),
        "editable": true,
        "graphTooltip": 1,
        "links": [],
        "panels": panels(&matchers),
        "refresh": "1m",
        "schemaVersion": SCHEMA_VERSION,
        "tags": ["opgen", project.name],
        "templating": {"list": [data_source_variable(), controller_variable(&matchers)]},
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "title": format!("Operator {}", project.cluster_name()),
        "uid": uid(project),
    })
}

/// Returns the uid of the dashboard, which is part of its URL: `opgen-` and the operator's name, or a digest if this is too long.
fn uid(project: &Project) -> String {
    let uid = format!("opgen-{}", project.cluster_name());
    if uid.len() <= MAX_UID {
        return uid;
    }
    let digest = Sha256::digest(uid.as_bytes());
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("opgen-{digits}")
}

/// Returns the data source that all panels read: the user selects it.
fn data_source() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

fn data_source_variable() -> Value {
    json!({"label": "Data source", "name": "datasource", "query": "prometheus", "type": "datasource"})
}

/// Returns the dashboard variable by which the user selects the controllers to show; all are selected at first.
fn controller_variable(matchers: &str) -> Value {
    let query = format!("label_values({}{{{matchers}}}, controller)", CONTROLLERS.name);
    // In Grafana, `refresh` 2 is "on time range change", and `sort` 1 is "alphabetical, ascending".
    json!({
        "allValue": ".*",
        "current": {"selected": true, "text": ["All"], "value": ["$__all"]},
        "datasource": data_source(),
        "definition": query,
        "includeAll": true,
        "label": "Controller",
        "multi": true,
        "name": "controller",
        "query": {"query": query, "refId": "controllers"},
        "refresh": 2,
        "sort": 1,
        "type": "query",
    })
}

/// Returns the rows of the dashboard and their panels, from the top to the bottom, with consecutive numbers as ids. The panels of a row
/// stand side by side, and continue on the next line of the grid if the line is full.
fn panels(matchers: &str) -> Vec<Value> {
    let (mut panels, mut top) = (Vec::new(), 0);
    for (title, row) in panel::rows(matchers) {
        let grid = json!({"h": 1, "w": 24, "x": 0, "y": top});
        let id = panels.len() + 1;
        panels
            .push(json!({"collapsed": false, "gridPos": grid, "id": id, "panels": [], "title": title, "type": "row"}));
        top += 1;
        for (number, panel) in row.iter().enumerate() {
            let (line, column) = (number / PANELS_IN_A_LINE, number % PANELS_IN_A_LINE);
            let grid = json!({"h": SIZE.1, "w": SIZE.0, "x": column * SIZE.0, "y": top + line * SIZE.1});
            panels.push(graph(panels.len() + 1, &grid, panel));
        }
        top += row.len().div_ceil(PANELS_IN_A_LINE) * SIZE.1;
    }
    panels
}

/// Returns the Grafana panel that shows a metric as a graph, at the position `grid`.
fn graph(id: usize, grid: &Value, panel: &Panel) -> Value {
    let targets: Vec<_> = panel.queries.iter().zip('A'..).map(|(query, id)| target(query, id)).collect();
    json!({
        "datasource": data_source(),
        "description": format!("{} (`{}`)", panel.metric.help, panel.metric.name),
        "fieldConfig": {"defaults": {"min": 0, "unit": panel.unit}, "overrides": []},
        "gridPos": grid,
        "id": id,
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": true},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": targets,
        "title": panel.metric.title,
        "type": "timeseries",
    })
}

/// Returns a PromQL query in the form of a Grafana panel; `id` distinguishes the queries of the panel.
fn target(query: &Query, id: char) -> Value {
    json!({
        "datasource": data_source(),
        "editorMode": "code",
        "expr": query.expression,
        "legendFormat": query.legend,
        "range": true,
        "refId": id,
    })
}
