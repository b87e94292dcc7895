//! What CEL rules may cost, estimated as the API server does before it accepts a definition.
//!
//! The server multiplies what one evaluation costs at worst by how often the schema may occur in an object, and takes
//! what has no bound to be as long as a request may be. This estimate follows the same model without types, so it is
//! near the server's, not equal. Where it is over the limit by more than it may be wrong, that is an error; elsewhere it
//! warns, and the server decides.

mod expression;
mod size;

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::finding::{Findings, Severity};
use super::schema::{children, list, text};

/// What one rule may cost.
const RULE_LIMIT: f64 = 10_000_000.0;
/// What all rules of a schema may cost together.
const SCHEMA_LIMIT: f64 = 100_000_000.0;
/// How far the estimate may be above the server's, where it knows every function of an expression.
const MARGIN: f64 = 2.0;
/// The largest factor that is given as a figure; the server does the same.
const MOST: f64 = 100.0;

/// Refuses rules and messages that the API server finds too dear, warns about those that it may find so, and says which
/// bounds are missing.
pub(crate) fn check(schema: &Value, found: &mut Findings) {
    let mut total = Total::default();
    node(schema, "", &Occurrence::once(), &mut total, found);
    if total.cost > SCHEMA_LIMIT {
        let severity = severity(total.certain, SCHEMA_LIMIT);
        let problem = problem("all CEL rules together", severity, total.cost / SCHEMA_LIMIT);
        found.push(severity, "", problem, total.fix());
    }
}

/// By the part of a cost that is certain.
fn severity(certain: f64, limit: f64) -> Severity {
    if certain > limit * MARGIN { Severity::Error } else { Severity::Warning }
}

fn problem(subject: &str, severity: Severity, factor: f64) -> String {
    let exceeds = if severity == Severity::Error { "exceeds" } else { "may exceed" };
    let factor = if factor > MOST { format!("more than {MOST:.0}") } else { format!("{factor:.1}") };
    format!("the estimated cost of {subject} {exceeds} what the API server allows by a factor of {factor}")
}

#[derive(Default)]
struct Total {
    cost: f64,
    /// The part of it of which every function is known.
    certain: f64,
    unbounded: BTreeSet<(String, &'static str)>,
}

impl Total {
    fn fix(&self) -> String {
        if self.cost.is_infinite() { ENDLESS.to_owned() } else { fix(&self.unbounded) }
    }
}

/// How often a schema may occur in one object.
#[derive(Clone)]
struct Occurrence {
    /// The product of the bounds of all lists and maps around; `None` as soon as one has no bound.
    bounded: Option<f64>,
    unbounded: BTreeSet<(String, &'static str)>,
}

impl Occurrence {
    fn once() -> Self {
        Self { bounded: Some(1.0), unbounded: BTreeSet::new() }
    }

    /// Within the items of a list or the values of a map.
    fn within(&self, schema: &Value, path: &str) -> Self {
        let mut inner = self.clone();
        let bound = size::bound(schema);
        match bound.limit {
            Some(limit) => inner.bounded = inner.bounded.map(|times| times * limit),
            None => {
                inner.bounded = None;
                inner.unbounded.extend(bound.missing.map(|missing| (path.to_owned(), missing)));
            }
        }
        inner
    }

    fn times(&self, schema: &Value) -> f64 {
        self.bounded.unwrap_or_else(|| size::most_in_a_request(schema))
    }
}

fn node(schema: &Value, path: &str, occurrence: &Occurrence, total: &mut Total, found: &mut Findings) {
    for rule in list(schema, "x-kubernetes-validations") {
        for (name, key) in [("rule", "rule"), ("message expression", "messageExpression")] {
            let expression = text(rule, key);
            let Some(estimate) = expression::estimate(expression, schema, path) else { continue };
            let cost = estimate.cost * occurrence.times(schema);
            let certain = if estimate.certain { cost } else { 0.0 };
            let unbounded: BTreeSet<_> = estimate.unbounded.union(&occurrence.unbounded).cloned().collect();
            if cost > RULE_LIMIT {
                let severity = severity(certain, RULE_LIMIT);
                let expression = expression.split_whitespace().collect::<Vec<_>>().join(" ");
                let problem = problem(&format!("the {name} `{expression}`"), severity, cost / RULE_LIMIT);
                let fix = if cost.is_infinite() { ENDLESS.to_owned() } else { fix(&unbounded) };
                found.push(severity, path, problem, fix);
            }
            total.cost += cost;
            total.certain += certain;
            total.unbounded.extend(unbounded);
        }
    }
    for (at, child) in children(schema, path) {
        let field = schema["properties"].is_object() && !at.ends_with("[*]");
        if field {
            node(child, &at, occurrence, total, found);
        } else {
            node(child, &at, &occurrence.within(schema, path), total, found);
        }
    }
}

const ENDLESS: &str = "do not join or search what `string(...)`, `format(...)` and `charAt(...)` give, nor compare two of these: \
                       the API server takes their length to have no bound";

fn fix(unbounded: &BTreeSet<(String, &'static str)>) -> String {
    if unbounded.is_empty() {
        return "lower the bounds of what it goes through, or make it simpler".to_owned();
    }
    let bounds: Vec<_> = unbounded.iter().map(|(path, keyword)| format!("`{keyword}` to `{path}`")).collect();
    format!("add {}; `#[schemars(length(max = ...))]` does it for texts and lists", bounds.join(", "))
}

#[cfg(test)]
mod tests;
