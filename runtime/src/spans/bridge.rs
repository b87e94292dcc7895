//! Reads and sets the OpenTelemetry context of `tracing` spans. Without the feature `otlp`, no span has one.

#[cfg(feature = "otlp")]
use opentelemetry_context as context;
#[cfg(not(feature = "otlp"))]
use without_opentelemetry as context;

use super::context::TraceContext;
pub(crate) use context::active_context;
pub(super) use context::{link, set_parent};
use tracing::Span;

/// Returns the context of a span; `None` if the span is disabled, or if no layer of OpenTelemetry records it. The span must have its
/// parent and its links already.
pub(crate) fn context_of(span: &Span) -> Option<TraceContext> {
    if span.is_disabled() { None } else { context::context_of_enabled_span(span) }
}

/// Returns the context of the current span, as [`context_of`].
pub(crate) fn current_context() -> Option<TraceContext> {
    context_of(&Span::current())
}

/// Returns whether spans below the current span are recorded: there is an enabled current span, and the sampling includes its trace.
pub(crate) fn is_recorded() -> bool {
    let current = Span::current();
    if current.is_disabled() {
        return false;
    }
    // No layer of OpenTelemetry samples an enabled span without a context, so another subscriber records it.
    context::context_of_enabled_span(&current).is_none_or(|context| context.is_sampled)
}

#[cfg(feature = "otlp")]
mod opentelemetry_context {
    use crate::spans::context::TraceContext;
    use opentelemetry::{
        Context,
        trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState},
    };
    use std::str::FromStr as _;
    use tracing::Span;
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;

    /// Returns the context of an enabled span.
    pub(super) fn context_of_enabled_span(span: &Span) -> Option<TraceContext> {
        from_opentelemetry(span.context().span().span_context())
    }

    /// Returns the context of the span that this thread is in, also while `tracing` handles an event.
    pub(crate) fn active_context() -> Option<TraceContext> {
        Context::map_current(|context| from_opentelemetry(context.span().span_context()))
    }

    /// Makes a span the child of another one that may have ended. The span must not have been entered.
    pub(crate) fn set_parent(span: &Span, parent: &TraceContext) {
        let context = Context::new().with_remote_span_context(to_opentelemetry(parent));
        // The call fails for a span that no layer of OpenTelemetry records, which needs no parent.
        let _ = span.set_parent(context);
    }

    /// Links a span to another one.
    pub(crate) fn link(span: &Span, other: &TraceContext) {
        span.add_link(to_opentelemetry(other));
    }

    /// Converts a context of OpenTelemetry; `None` if it is not valid.
    fn from_opentelemetry(context: &SpanContext) -> Option<TraceContext> {
        context.is_valid().then(|| TraceContext {
            trace_id: u128::from_be_bytes(context.trace_id().to_bytes()),
            span_id: u64::from_be_bytes(context.span_id().to_bytes()),
            is_sampled: context.is_sampled(),
            state: Some(context.trace_state().header()).filter(|state| !state.is_empty()).map(Into::into),
        })
    }

    /// Converts a context to one of OpenTelemetry, without a `tracestate` that can't be parsed.
    fn to_opentelemetry(context: &TraceContext) -> SpanContext {
        let flags = if context.is_sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
        let state = context.state.as_deref().and_then(|state| TraceState::from_str(state).ok()).unwrap_or_default();
        let trace_id = TraceId::from_bytes(context.trace_id.to_be_bytes());
        SpanContext::new(trace_id, SpanId::from_bytes(context.span_id.to_be_bytes()), flags, false, state)
    }
}

#[cfg(not(feature = "otlp"))]
mod without_opentelemetry {
    use crate::spans::context::TraceContext;
    use tracing::Span;

    pub(super) fn context_of_enabled_span(_: &Span) -> Option<TraceContext> {
        None
    }

    pub(crate) fn active_context() -> Option<TraceContext> {
        None
    }

    pub(crate) fn set_parent(_: &Span, _: &TraceContext) {}

    pub(crate) fn link(_: &Span, _: &TraceContext) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disabled_span_has_no_context() {
        assert_eq!((context_of(&Span::none()), current_context()), (None, None));
        assert!(!is_recorded());
    }
}
