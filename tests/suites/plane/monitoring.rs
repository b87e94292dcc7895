//! Monitoring of an operator by a real Prometheus: what it scrapes, what the dashboard shows, and when alerts fire.

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
