//! Estimates the cost of CEL rules as the API server does before it accepts a CustomResourceDefinition.
//!
//! The server multiplies the worst cost of one evaluation by the number of times that the schema may occur in an object. A value
//! without a bound is assumed to be as long as the longest request. This estimate follows the same model without types, so it is near the
//! server's estimate, not equal. An estimate that exceeds the limit by more than its inaccuracy is an error. A smaller excess is a warning,
//! and the server decides.

mod expression;
mod size;

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::lint::{Findings, Severity};
use super::schema::{children, list, text};

/// The limit of the API server for one rule.
const RULE_LIMIT: f64 = 10_000_000.0;
/// The limit of the API server for all rules of a schema together.
const SCHEMA_LIMIT: f64 = 100_000_000.0;
/// The factor by which this estimate may exceed the API server's for an expression whose functions are all known.
const MARGIN: f64 = 2.0;
/// The largest factor that a message shows as a number; the API server has the same limit.
const MAX_FACTOR: f64 = 100.0;

/// Reports CEL rules and message expressions whose estimated cost exceeds, or may exceed, the limits of the API server, each with the
/// missing size bounds that would lower the cost. Then reports the total of all rules if it exceeds the limit of a schema.
pub(crate) fn check(schema: &Value, findings: &mut Findings) {
    let mut total = Total::default();
    check_node(schema, "", &Occurrence::root(), &mut total, findings);
    if total.cost > SCHEMA_LIMIT {
        let severity = severity(total.certain, SCHEMA_LIMIT);
        let problem = problem("all CEL rules together", severity, total.cost / SCHEMA_LIMIT);
        findings.push(severity, "", problem, total.fix());
    }
}

/// Returns the severity for a cost above `limit`: an error if `certain`, the cost of the expressions whose functions are all known, exceeds
/// the limit by more than [`MARGIN`], a warning otherwise.
fn severity(certain: f64, limit: f64) -> Severity {
    if certain > limit * MARGIN { Severity::Error } else { Severity::Warning }
}

/// Returns the message for a cost above the limit by `factor`.
fn problem(subject: &str, severity: Severity, factor: f64) -> String {
    let exceeds = if severity == Severity::Error { "exceeds" } else { "may exceed" };
    let factor = if factor > MAX_FACTOR { format!("more than {MAX_FACTOR:.0}") } else { format!("{factor:.1}") };
    format!("the estimated cost of {subject} {exceeds} the limit of the API server by a factor of {factor}")
}

/// The cost of all rules of a schema.
#[derive(Default)]
struct Total {
    cost: f64,
    /// The part of the cost from expressions whose functions are all known.
    certain: f64,
    unbounded: BTreeSet<(String, &'static str)>,
}

impl Total {
    /// Returns the fix for a total that exceeds the limit.
    fn fix(&self) -> String {
        if self.cost.is_infinite() { FIX_UNBOUNDED.to_owned() } else { bounds_fix(&self.unbounded) }
    }
}

/// The number of times that a schema may occur in one object.
#[derive(Clone)]
struct Occurrence {
    /// The product of the bounds of all enclosing lists and maps; `None` if one of them has no bound.
    bounded: Option<f64>,
    unbounded: BTreeSet<(String, &'static str)>,
}

impl Occurrence {
    /// Returns the occurrence of the whole object: once.
    fn root() -> Self {
        Self { bounded: Some(1.0), unbounded: BTreeSet::new() }
    }

    /// Returns the occurrence of the items of a list, or of the values of a map, whose `schema` is at `path`: the occurrence of the list
    /// times its size bound.
    fn nested(&self, schema: &Value, path: &str) -> Self {
        let mut inner = self.clone();
        let bound = size::bound(schema);
        match bound.limit {
            Some(limit) => inner.bounded = inner.bounded.map(|count| count * limit),
            None => {
                inner.bounded = None;
                inner.unbounded.extend(bound.missing.map(|missing| (path.to_owned(), missing)));
            }
        }
        inner
    }

    /// Returns the number of occurrences; without a bound, as many as fit in a request.
    fn count(&self, schema: &Value) -> f64 {
        self.bounded.unwrap_or_else(|| size::max_per_request(schema))
    }
}

/// Estimates the cost of the CEL rules of a schema and of all schemas below it, reports each rule above the limit, and adds all costs to
/// `total`.
fn check_node(schema: &Value, path: &str, occurrence: &Occurrence, total: &mut Total, findings: &mut Findings) {
    for rule in list(schema, "x-kubernetes-validations") {
        for (name, key) in [("rule", "rule"), ("message expression", "messageExpression")] {
            let expression = text(rule, key);
            let Some(estimate) = expression::estimate(expression, schema, path) else { continue };
            let cost = estimate.cost * occurrence.count(schema);
            let certain = if estimate.certain { cost } else { 0.0 };
            let unbounded: BTreeSet<_> = estimate.unbounded.union(&occurrence.unbounded).cloned().collect();
            if cost > RULE_LIMIT {
                let severity = severity(certain, RULE_LIMIT);
                let expression = expression.split_whitespace().collect::<Vec<_>>().join(" ");
                let problem = problem(&format!("the {name} `{expression}`"), severity, cost / RULE_LIMIT);
                let fix = if cost.is_infinite() { FIX_UNBOUNDED.to_owned() } else { bounds_fix(&unbounded) };
                findings.push(severity, path, problem, fix);
            }
            total.cost += cost;
            total.certain += certain;
            total.unbounded.extend(unbounded);
        }
    }
    for (child_path, child) in children(schema, path) {
        // A field occurs as often as its object, and an item or a map value as often as the size bound of the list or map allows.
        let is_field = schema["properties"].is_object() && !child_path.ends_with("[*]");
        if is_field {
            check_node(child, &child_path, occurrence, total, findings);
        } else {
            check_node(child, &child_path, &occurrence.nested(schema, path), total, findings);
        }
    }
}

const FIX_UNBOUNDED: &str = "do not join, search or compare the results of `string(...)`, `format(...)` and `charAt(...)`: \
                       the API server assumes that their length is unbounded";

/// Returns the fix for a rule whose cost exceeds the limit. `unbounded` contains the values without a size bound, each as its path and the
/// keyword that would bound it.
fn bounds_fix(unbounded: &BTreeSet<(String, &'static str)>) -> String {
    if unbounded.is_empty() {
        return "lower the bounds of the fields that it iterates over, or simplify it".to_owned();
    }
    let bounds: Vec<_> = unbounded.iter().map(|(path, keyword)| format!("`{keyword}` to `{path}`")).collect();
    format!("add {}; use `#[schemars(length(max = ...))]` for strings and lists", bounds.join(", "))
}

#[cfg(test)]
mod tests;
