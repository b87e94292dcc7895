//! Tests the generated Prometheus alert rules and the Grafana dashboard: each metric that they query is in the table of the metrics of an
//! operator.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::{files, fixture};
use crate::metrics::{ALERTS, MetricKind, TABLE};

/// The words of PromQL in generated queries that are no names of metrics or labels.
const KEYWORDS: [&str; 7] = ["absent", "histogram_quantile", "increase", "or", "rate", "sum", "time"];

/// Returns the names of the series that a query selects. Panics if a word of the query is neither a name that label matchers
/// follow, nor a keyword, nor an aggregation with its labels.
fn series(query: &str) -> Vec<&str> {
    let (mut names, mut rest) = (Vec::new(), query);
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || "{[(".contains(c)) {
        rest = &rest[at..];
        let skipped = match rest.as_bytes()[0] {
            b'[' => rest.find(']').unwrap(),
            b'{' => rest.find('}').unwrap(),
            b'(' => 1,
            _ => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                if after.starts_with('{') {
                    names.push(word);
                    end
                } else if let Some(labels) = after.strip_prefix(" by (") {
                    assert!(["max", "min", "sum"].contains(&word), "{word} in {query}");
                    end + " by (".len() + labels.find(')').unwrap()
                } else {
                    assert!(KEYWORDS.contains(&word), "{word} in {query}");
                    end
                }
            }
        };
        rest = &rest[skipped..];
    }
    names
}

/// Returns whether the series are those of a metric of the table.
fn is_listed(series: &str) -> bool {
    TABLE.iter().any(|metric| match metric.kind {
        MetricKind::Histogram => series.strip_prefix(metric.name) == Some("_bucket"),
        _ => metric.name == series,
    })
}

/// The string values below a value, with their keys.
fn texts<'a>(value: &'a Value, key: &'a str, found: &mut Vec<(&'a str, &'a str)>) {
    match value {
        Value::String(text) => found.push((key, text)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, key, found)),
        Value::Object(object) => object.iter().for_each(|(key, value)| texts(value, key, found)),
        _ => {}
    }
}

fn queries(document: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    texts(document, "", &mut found);
    found.into_iter().filter(|(key, _)| *key == "expr").map(|(_, query)| query).collect()
}

fn rules() -> Value {
    let rendered = files(&fixture::project()).unwrap();
    serde_saphyr::from_str(rendered.text("components/monitoring/rules.yaml").unwrap()).unwrap()
}

fn dashboard() -> Value {
    serde_json::from_str(files(&fixture::project()).unwrap().text("grafana/dashboard.json").unwrap()).unwrap()
}

#[test]
fn every_metric_of_rules_and_dashboard_is_a_row_of_the_table() {
    for (document, least) in [(rules(), ALERTS.len()), (dashboard(), TABLE.len())] {
        let queries = queries(&document);
        assert!(queries.len() >= least, "{queries:?}");
        for query in queries {
            let series = series(query);
            let unlisted: Vec<_> = series.iter().filter(|name| !is_listed(name)).collect();
            assert!(!series.is_empty() && unlisted.is_empty(), "{unlisted:?} in {query}");
            let selected = query.matches("job=\"demo-metrics\",namespace=\"demo-system\"").count();
            assert_eq!(selected, series.len(), "series of other operators: {query}");
        }
    }
}

#[test]
fn a_metric_that_does_not_exist_is_seen() {
    let query = "sum by (a, b) (rate(x_total{a=\"b(c\"}[5m])) / max by (a) (y{d=~\"e|f\"}) > 900 or absent(z{})";
    assert_eq!(series(query), ["x_total", "y", "z"]);
    assert!(!is_listed("x_total") && !is_listed("opgen_call_duration_seconds") && is_listed("opgen_watches"));
    assert!(is_listed("opgen_call_duration_seconds_bucket") && !is_listed("opgen_watches_bucket"));
}

#[test]
fn each_rule_says_what_happens_what_it_means_and_what_to_do() {
    let rules = rules();
    let rules = rules["spec"]["groups"][0]["rules"].as_array().unwrap().clone();
    let names: BTreeSet<_> = rules.iter().map(|rule| rule["alert"].as_str().unwrap()).collect();
    assert_eq!((names.len(), rules.len()), (ALERTS.len(), ALERTS.len()), "each name once");
    for rule in &rules {
        for key in ["summary", "description", "runbook"] {
            let text = rule["annotations"][key].as_str().unwrap_or_default();
            assert!(!text.is_empty() && !text.contains("$operator"), "{key} of {rule}");
        }
        assert_eq!(rule["labels"]["operator"], "demo");
        let description = rule["annotations"]["description"].as_str().unwrap();
        let labels = description.split("$labels.").skip(1).filter_map(|rest| rest.split(' ').next());
        let kept = rule["expr"].as_str().unwrap().split_once(" by (").and_then(|(_, rest)| rest.split(')').next());
        let kept: Vec<_> = kept.unwrap_or_default().split(", ").collect();
        for label in labels {
            assert!(kept.contains(&label), "{label} is not in {rule}");
        }
    }
}

#[test]
fn panels_do_not_overlap_and_have_ids_of_their_own() {
    let dashboard = dashboard();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut cells = BTreeSet::new();
    let number = |panel: &Value, key: &str| panel["gridPos"][key].as_u64().unwrap();
    for panel in panels {
        let (left, top) = (number(panel, "x"), number(panel, "y"));
        for x in left..left + number(panel, "w") {
            for y in top..top + number(panel, "h") {
                assert!(x < 24 && cells.insert((x, y)), "{panel}");
            }
        }
    }
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
}

#[test]
fn the_uid_of_a_dashboard_is_never_too_long() {
    let mut project = fixture::project();
    assert_eq!(dashboard()["uid"], "opgen-demo");
    project.name = "a".repeat(63);
    let rendered = files(&project).unwrap();
    let dashboard: Value = serde_json::from_str(rendered.text("grafana/dashboard.json").unwrap()).unwrap();
    let uid = dashboard["uid"].as_str().unwrap();
    assert!(uid.starts_with("opgen-") && uid.len() <= 40, "{uid}");
}
