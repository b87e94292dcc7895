//! Runs the nodes of a provisioner tree in tracing spans: groups, hand-written nodes, and resource nodes that have something to do.

use super::{pass::record_error, target::TARGET};
use crate::{
    error::{Error, Result},
    reconcile::verdict::{Direction, verdict_of},
    shape::without_keys,
};
use std::fmt::Display;
use tracing::{Instrument as _, Span, field::Empty};

/// Runs a tree node (`run`) in a tracing span, and records its outcome. If the spans of the pass are not recorded, runs it without a span.
pub(crate) async fn in_span<D: Display + ?Sized>(
    is_recorded: bool,
    node: &D,
    run: impl Future<Output = Result<()>>,
) -> Result<()> {
    if !is_recorded {
        return run.await;
    }
    let span = node_span(&node.to_string());
    let outcome = run.instrument(span.clone()).await;
    end(&span, &outcome);
    outcome
}

/// Creates the span of a tree node, as a child of the current span. The empty fields are recorded when the node ends.
fn node_span(node: &str) -> Span {
    tracing::debug_span!(
        target: TARGET,
        "node",
        otel.name = format!("node {}", without_keys(node)),
        opgen.node.path = node,
        opgen.node.outcome = Empty,
        opgen.node.reason = Empty,
        error.type = Empty,
        otel.status_code = Empty,
        otel.status_description = Empty,
    )
}

/// Records the outcome of a tree node in its span. An error has the reason and message of the status condition, without internal details.
fn end(span: &Span, outcome: &Result<()>) {
    span.record("opgen.node.outcome", outcome_name(outcome));
    if outcome.is_ok() {
        return;
    }
    // For errors, the direction matters only for a yield without a reason, so the one of a provisioning pass is good enough.
    if let Some(verdict) = verdict_of(Direction::Up, outcome) {
        span.record("opgen.node.reason", &*verdict.reason);
        if verdict.is_failure() {
            record_error(span, &verdict.reason, &verdict.message);
        }
    }
}

/// Returns the value of the span attribute `opgen.node.outcome` for the outcome of a node.
fn outcome_name(outcome: &Result<()>) -> &'static str {
    match outcome {
        Ok(()) => "success",
        Err(Error::Yield { .. }) => "yield",
        Err(Error::Conflict(_)) => "conflict",
        Err(Error::Unexpected(_)) => "error",
        Err(Error::UserAction { .. }) => "user_action",
        Err(Error::Terminal { .. }) => "terminal",
    }
}
