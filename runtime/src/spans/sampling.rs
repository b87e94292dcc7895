//! Decides which traces of passes are recorded. A pass whose trace is not recorded gets no span, since a span costs time even if it
//! is not exported.

use super::context::TraceContext;
use std::sync::OnceLock;

/// The fraction of traces that the export of the process records; unset without an export.
static RATIO: OnceLock<f64> = OnceLock::new();

/// Sets the fraction of traces that are recorded. Only the first call of the process has an effect, as for the export.
#[cfg(feature = "otlp")]
pub(super) fn set_ratio(ratio: f64) {
    // A second export of the process is refused, and the first ratio stays.
    let _ = RATIO.set(ratio);
}

/// Returns the context of a pass that the sampling leaves out, given the context of its parent span; `None` for a pass that needs a span.
/// Without an export by opgen it always returns `None`, since then a subscriber of the program decides which spans it records.
pub(super) fn unrecorded_context(parent: Option<&TraceContext>) -> Option<TraceContext> {
    context_unless_recorded(*RATIO.get()?, parent)
}

/// Decides whether a pass is recorded: with a parent if the parent is sampled, else at random with the probability `ratio`. Returns `None`
/// for a recorded pass, and else an unsampled context, by which the next passes of the same trace are not recorded either.
fn context_unless_recorded(ratio: f64, parent: Option<&TraceContext>) -> Option<TraceContext> {
    match parent {
        Some(parent) => (!parent.is_sampled).then(|| parent.clone()),
        None if fastrand::f64() < ratio => None,
        None => {
            let (trace_id, span_id) = (fastrand::u128(1..), fastrand::u64(1..));
            Some(TraceContext { trace_id, span_id, is_sampled: false, state: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_follows_its_parent_and_the_others_the_ratio() {
        let parent = |is_sampled| TraceContext { trace_id: 7, span_id: 8, is_sampled, state: None };
        assert_eq!(context_unless_recorded(0.0, Some(&parent(true))), None);
        assert_eq!(context_unless_recorded(1.0, Some(&parent(false))), Some(parent(false)));
        let recorded = |ratio| (0..2_000).filter(|_| context_unless_recorded(ratio, None).is_none()).count();
        assert_eq!((recorded(0.0), recorded(1.0)), (0, 2_000));
        assert!((400..600).contains(&recorded(0.25)), "a deviation by five standard deviations");
    }

    #[test]
    fn without_an_export_the_subscriber_decides() {
        assert_eq!(unrecorded_context(None), None);
    }
}
