//! `PassSpan`: the span of one pass over a primary.

use super::{bridge, context::TraceContext, convergence::Lineage, sampling, target::TARGET};
use crate::{cache::Header, kind::Kind, queue::Trigger};
use std::fmt::Display;
use tracing::{Level, Span, field::Empty};

/// The attribute that every span of a pass has, and no other span.
pub(super) const PASS_NUMBER: &str = "opgen.pass.number";

/// The span of a pass; disabled while nothing records spans.
#[derive(Debug)]
pub(crate) struct PassSpan {
    pub(crate) span: Span,
    /// Its context, also of a disabled span whose trace is not recorded; `None` if the span has none.
    pub(crate) context: Option<TraceContext>,
}

/// Returns whether anything records the spans of passes.
pub(crate) fn is_enabled() -> bool {
    tracing::span_enabled!(target: TARGET, Level::DEBUG)
}

impl PassSpan {
    /// Returns the span of a pass that nothing records.
    pub(crate) fn disabled() -> Self {
        Self { span: Span::none(), context: None }
    }

    /// Starts the span of a reconcile pass over an object. Parent and link come from `lineage`, never from the current span of the task.
    /// Returns a disabled span if the sampling leaves its trace out.
    pub(crate) fn begin(kind: &Kind, header: &Header, trigger: Trigger, lineage: &Lineage) -> Self {
        if let Some(context) = sampling::unrecorded_context(lineage.parent.as_ref()) {
            // The context is kept, so that the next passes of the same trace are not recorded either.
            return Self { span: Span::none(), context: Some(context) };
        }
        let Header { key, uid, resource_version, .. } = header;
        let span = tracing::debug_span!(
            target: TARGET,
            parent: None,
            "pass",
            otel.name = format!("pass {}", kind.kind),
            opgen.resource = kind.full_name(),
            k8s.namespace.name = key.namespace(),
            opgen.object.name = key.name(),
            opgen.object.uid = %uid,
            opgen.object.resource_version = %resource_version,
            opgen.pass.trigger = trigger_name(trigger),
            { PASS_NUMBER } = lineage.number,
            opgen.pass.result = Empty,
            opgen.pass.reason = Empty,
            error.type = Empty,
            otel.status_code = Empty,
            otel.status_description = Empty,
        );
        if let Some(parent) = &lineage.parent {
            bridge::set_parent(&span, parent);
        }
        if let Some(link) = &lineage.link {
            bridge::link(&span, link);
        }
        let context = bridge::context_of(&span);
        Self { span, context }
    }

    /// Records the result of the pass, as the metrics name it.
    pub(crate) fn record_result(&self, result: &'static str) {
        self.span.record("opgen.pass.result", result);
    }
}

/// Records the reason of the outcome of a pass in the current span, which has to be the span of the pass. `failure` is the message of a
/// failure, which marks the span as failed; it must have no internal details.
pub(crate) fn record_reason(reason: &str, failure: Option<&str>) {
    let span = Span::current();
    if span.is_disabled() {
        return;
    }
    span.record("opgen.pass.reason", reason);
    if let Some(message) = failure {
        record_error(&span, reason, &message);
    }
}

/// Marks a span as failed: sets its error type and its OpenTelemetry status.
pub(super) fn record_error(span: &Span, error_type: &str, message: &dyn Display) {
    span.record("error.type", error_type);
    span.record("otel.status_code", "ERROR");
    span.record("otel.status_description", tracing::field::display(message));
}

/// Returns the value of the span attribute `opgen.pass.trigger` for the event that triggered a pass.
fn trigger_name(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Own => "own_write",
        Trigger::Children => "child",
        Trigger::Timer => "timer",
        Trigger::Related => "related",
        Trigger::Request => "request",
    }
}
