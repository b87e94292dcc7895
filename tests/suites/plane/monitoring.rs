//! Tests the monitoring of an operator with a real Prometheus: the scrape, the dashboard and the alerts.

mod binary;
mod dashboard;
mod manifest;
mod prometheus;
mod promtool;
mod rules;
mod scrape;

use libtest_mimic::Trial;

pub(crate) fn cases() -> Vec<Trial> {
    let suites = [rules::cases(), scrape::cases()];
    suites.into_iter().flatten().map(binary::needs_prometheus).collect()
}
