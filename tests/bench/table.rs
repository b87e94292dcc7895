//! Figures of several runs as a Markdown table.

use std::fmt::Write;

/// Rows of figures; each cell is the median of its runs, with the smallest and the largest.
pub(crate) struct Table {
    text: String,
}

impl Table {
    pub(crate) fn new(title: &str, columns: &[&str]) -> Self {
        let rule = "---|".repeat(columns.len());
        Self { text: format!("### {title}\n\n| {} |\n|{rule}\n", columns.join(" | ")) }
    }

    /// A row: its name, and for each further column the figures of the runs.
    pub(crate) fn row(&mut self, name: &str, cells: &[&[f64]]) {
        let cells: Vec<_> = cells.iter().map(|runs| cell(runs)).collect();
        let _ = writeln!(self.text, "| {name} | {} |", cells.join(" | "));
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

fn cell(runs: &[f64]) -> String {
    let mut sorted = runs.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.first(), sorted.last()) {
        (Some(min), Some(max)) => format!("{} ({} – {})", figure(sorted[sorted.len() / 2]), figure(*min), figure(*max)),
        _ => "–".to_owned(),
    }
}

/// Three digits that mean something.
fn figure(value: f64) -> String {
    match value.abs() {
        large if large >= 10_000.0 => format!("{:.0} k", value / 1000.0),
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        middle if middle >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
