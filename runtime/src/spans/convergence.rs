//! `Convergence`: the passes over an object from a change until the object has its wanted state, which share one trace.

use super::context::TraceContext;
use std::time::Duration;
use tokio::time::Instant;

/// A trace gets no more passes over an object than this. An object that never has its wanted state would fill one trace without end.
const MAX_PASSES: u32 = 100;

/// A trace gets no pass that begins later than this after its start.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(600);

/// The passes over an object that belong to one trace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Convergence {
    /// The span of the first pass, the parent of the later ones.
    first: TraceContext,
    /// The span of the last pass.
    last: TraceContext,
    /// The start of the trace, which may be a pass over another object.
    started: Instant,
    passes: u32,
    /// Whether the object does not have its wanted state yet, so that the next pass continues the trace.
    is_open: bool,
}

/// A span that caused a pass over another object, by a write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WriteCause {
    pub(crate) context: TraceContext,
    /// The start of the trace.
    pub(crate) started: Instant,
}

/// How the span of a pass relates to earlier spans.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lineage {
    /// The parent; `None` for the root of a new trace.
    pub(crate) parent: Option<TraceContext>,
    /// A span of another trace that the pass follows.
    pub(crate) link: Option<TraceContext>,
    /// The number of the pass within its convergence, from 1 on.
    pub(crate) number: u32,
    /// The start of the trace.
    pub(crate) started: Instant,
    /// The first pass of the convergence; `None` if this pass is the first.
    first: Option<TraceContext>,
}

impl Lineage {
    /// Returns the parent span and the link for the span of a pass that begins at `now`. `earlier` are the earlier passes over the object.
    /// `is_request` is whether a change of the object by a user, or a requested pass, triggered the pass. `cause` is the write of another
    /// pass that led to this pass; only a request has a cause.
    ///
    /// A pass with a cause continues the trace of that write. Any other request starts a trace. A pass that is no request continues the
    /// trace of the earlier passes while the object does not have its wanted state, and else starts a trace. A trace that is too old or has
    /// too many passes is not continued. The first pass of a trace links to the last pass over the object, so that the history of the
    /// object can be followed backwards, or to a cause that is too old.
    pub(crate) fn of_next(
        earlier: Option<&Convergence>,
        is_request: bool,
        cause: Option<WriteCause>,
        now: Instant,
    ) -> Self {
        let link = earlier.map(|earlier| earlier.last.clone()).filter(|last| last.is_sampled);
        let is_young = |started: Instant| now.saturating_duration_since(started) < MAX_AGE;
        if let Some(WriteCause { context, started }) = cause {
            return match is_young(started) {
                true => Self { parent: Some(context), link, number: 1, started, first: None },
                false => Self { parent: None, link: Some(context), number: 1, started: now, first: None },
            };
        }
        match earlier {
            Some(open) if open.is_open && !is_request && open.passes < MAX_PASSES && is_young(open.started) => Self {
                parent: Some(open.first.clone()),
                link: None,
                number: open.passes + 1,
                started: open.started,
                first: Some(open.first.clone()),
            },
            _ => Self { parent: None, link, number: 1, started: now, first: None },
        }
    }

    /// Returns the passes of the trace including the pass that ends, whose span has this context. `is_open` is whether the next pass over
    /// the object continues the trace.
    pub(crate) fn end(self, context: TraceContext, is_open: bool) -> Convergence {
        Convergence {
            first: self.first.unwrap_or_else(|| context.clone()),
            last: context,
            started: self.started,
            passes: self.number,
            is_open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(span_id: u64) -> TraceContext {
        TraceContext { trace_id: 7, span_id, is_sampled: true, state: None }
    }

    /// Returns the lineage of a pass that begins now and that no write of another pass caused.
    fn next(earlier: Option<&Convergence>, is_request: bool) -> Lineage {
        Lineage::of_next(earlier, is_request, None, Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn passes_until_the_object_has_its_wanted_state_are_children_of_the_first() {
        let root = next(None, true);
        assert_eq!((root.parent.clone(), root.link.clone(), root.number), (None, None, 1));
        let after_first = root.end(context(1), true);
        let second = next(Some(&after_first), false);
        assert_eq!((second.parent.clone(), second.link.clone(), second.number), (Some(context(1)), None, 2));
        let after_second = second.end(context(2), true);
        let third = next(Some(&after_second), false);
        assert_eq!((third.parent.clone(), third.number), (Some(context(1)), 3));
        let settled = third.end(context(3), false);
        let later = next(Some(&settled), false);
        assert_eq!((later.parent, later.link, later.number), (None, Some(context(3)), 1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_edit_starts_a_trace_that_links_to_the_last_pass() {
        let open = next(None, true).end(context(1), true);
        let edited = next(Some(&open), true);
        assert_eq!((edited.parent, edited.link), (None, Some(context(1))));
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_that_never_gets_its_wanted_state_does_not_fill_one_trace() {
        let mut convergence = next(None, true).end(context(1), true);
        for number in 2..=MAX_PASSES {
            let lineage = next(Some(&convergence), false);
            assert_eq!((lineage.parent.clone(), lineage.number), (Some(context(1)), number));
            convergence = lineage.end(context(number.into()), true);
        }
        let last = context(MAX_PASSES.into());
        let lineage = next(Some(&convergence), false);
        assert_eq!((lineage.parent.clone(), lineage.link.clone(), lineage.number), (None, Some(last), 1));
        let open = lineage.end(context(1), true);
        tokio::time::advance(MAX_AGE).await;
        assert_eq!(next(Some(&open), false).parent, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_that_another_pass_caused_continues_its_trace() {
        let writer = next(None, true);
        let cause = WriteCause { context: context(5), started: writer.started };
        let lineage = Lineage::of_next(None, true, Some(cause.clone()), Instant::now());
        assert_eq!((lineage.parent.clone(), lineage.number), (Some(context(5)), 1));
        let open = lineage.end(context(6), true);
        assert_eq!(next(Some(&open), false).parent, Some(context(6)));
        tokio::time::advance(MAX_AGE).await;
        let late = Lineage::of_next(None, true, Some(cause), Instant::now());
        assert_eq!((late.parent, late.link), (None, Some(context(5))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_that_the_sampling_left_out_is_no_target_of_a_link() {
        let unsampled = TraceContext { is_sampled: false, ..context(1) };
        let settled = next(None, true).end(unsampled, false);
        assert_eq!(next(Some(&settled), true).link, None);
    }
}
