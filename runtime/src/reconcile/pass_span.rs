//! Starts and ends the spans of passes: each continues the trace of its object, or starts a new one.

use crate::{
    cache::Header,
    engine::pass::PassTrigger,
    queue::Trigger,
    reconcile::{control_loop::Loop, next::Next},
    spans::{
        context::TraceContext,
        convergence::Lineage,
        pass::{self, PassSpan},
    },
};
use tokio::time::Instant;

/// The span of a pass that runs, and how it relates to the other passes over its object.
pub(super) struct TracedPass {
    pub(super) span: PassSpan,
    lineage: Option<Lineage>,
}

impl TracedPass {
    /// Returns a pass that nothing records.
    pub(super) fn unrecorded() -> Self {
        Self { span: PassSpan::disabled(), lineage: None }
    }

    /// Returns the trigger with the start of the trace, for the writes of the pass.
    pub(super) fn with_trace(&self, trigger: PassTrigger) -> PassTrigger {
        PassTrigger { trace_start: self.lineage.as_ref().map(|lineage| lineage.started), ..trigger }
    }
}

impl Loop {
    /// Starts the tracing span of a pass over an object. If a change of the object or a requested reconcile led to the pass
    /// ([`Trigger::Request`]), the span continues the trace of the write of this operator that made the change, or starts a trace. After
    /// any other event, such as the change of a child, it continues the trace of the earlier passes until the object has its wanted state.
    /// Returns a disabled span while nothing records spans.
    pub(super) fn begin_span(&self, header: &Header, trigger: PassTrigger) -> TracedPass {
        if !pass::is_enabled() {
            return TracedPass::unrecorded();
        }
        let kind = self.source.kind();
        let is_request = trigger.event == Trigger::Request;
        let cause = if is_request { self.shared.chains.traces.take(kind, header) } else { None };
        let lineage = self.states.read(&header.key, &header.uid, |state| {
            Lineage::of_next(state.convergence.as_deref(), is_request, cause, Instant::now())
        });
        let span = PassSpan::begin(kind, header, trigger.event, &lineage);
        TracedPass { span, lineage: Some(lineage) }
    }

    /// Ends the span of a pass, and stores whether the next pass over the object continues its trace, as after a pass that was not the last
    /// step to the wanted state. Returns the context of the span; `None` if the trace is not exported.
    pub(super) fn end_span(&self, traced: TracedPass, header: &Header, next: Next) -> Option<TraceContext> {
        let TracedPass { span, lineage } = traced;
        if let Some(kind) = next.kind() {
            span.record_result(kind.as_str());
        }
        let (context, lineage) = (span.context?, lineage?);
        let is_sampled = context.is_sampled;
        self.states.update(&header.key, &header.uid, |state| {
            let is_open = match next {
                Next::AwaitChange | Next::Parked | Next::Resync | Next::OtherShard => false,
                Next::After(_) => state.unready_since.is_some(),
                Next::Requeue | Next::Failed | Next::Retry | Next::CatchUp => true,
            };
            // A trace that is not exported is only stored until it is complete; an exported one is stored for a link from the next trace.
            let is_kept = is_open || is_sampled;
            state.convergence = is_kept.then(|| Box::new(lineage.end(context.clone(), is_open)));
        });
        is_sampled.then_some(context)
    }
}
