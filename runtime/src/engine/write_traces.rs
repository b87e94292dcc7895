//! `WriteTraces`: the tracing spans in which the operator wrote objects that it also reconciles, so that the passes over these objects
//! continue the traces.

use crate::{
    cache::{Header, ObjectKey},
    engine::applied_mark::APPLIED_ANNOTATION,
    kind::Kind,
    spans::convergence::{MAX_AGE, WriteCause},
};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};

/// The number of writes from which on old ones are dropped: those of objects that were deleted before a pass, for example.
const MAX_WRITES: usize = 1000;

/// The writes of children that are primaries of a controller of the same operator, until the pass over each of them begins.
#[derive(Debug, Default)]
pub(crate) struct WriteTraces(Mutex<Writes>);

#[derive(Debug, Default)]
struct Writes {
    /// The kinds of the operator's primaries.
    kinds: HashSet<Kind>,
    /// The last write of each object, with the digest that the operator puts into an annotation: the event may come before the
    /// response with the version.
    last: HashMap<(Kind, ObjectKey), (Box<str>, WriteCause)>,
}

impl WriteTraces {
    /// Adds a kind of primaries.
    pub(crate) fn add_kind(&self, kind: &Kind) {
        self.0.lock().kinds.insert(kind.clone());
    }

    /// Records a write of an object before it is sent, with the tracing span that wrote it, if the object is a primary of the operator.
    /// `cause` returns this span, and is called only for a primary. Drops old writes if there are too many.
    pub(crate) fn record(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        digest: &str,
        cause: impl FnOnce() -> Option<WriteCause>,
    ) {
        let mut writes = self.0.lock();
        if writes.kinds.contains(kind)
            && let Some(cause) = cause()
        {
            if writes.last.len() >= MAX_WRITES {
                let now = cause.started;
                writes.last.retain(|_, (_, earlier)| now.saturating_duration_since(earlier.started) < MAX_AGE);
            }
            writes.last.insert((kind.clone(), key.clone()), (digest.into(), cause));
        }
    }

    /// Removes and returns the write that led to this state of a primary; `None` if another client wrote this state, or if the write was
    /// returned before. The annotation with the digest of the applied state identifies the write.
    pub(crate) fn take(&self, kind: &Kind, header: &Header) -> Option<WriteCause> {
        let mut writes = self.0.lock();
        if writes.last.is_empty() {
            return None;
        }
        let (digest, cause) = writes.last.remove(&(kind.clone(), header.key.clone()))?;
        (header.annotations.get(APPLIED_ANNOTATION) == Some(&*digest)).then_some(cause)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{kind::kind_of, spans::context::TraceContext};
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use tokio::time::Instant;

    fn header(digest: &str) -> Header {
        let object = serde_json::json!({"metadata": {"name": "a", "annotations": {APPLIED_ANNOTATION: digest}}});
        Header::parse(object.to_string().as_bytes()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_state_that_a_pass_wrote_continues_its_trace_and_only_once() {
        let (traces, kind, header) = (WriteTraces::default(), kind_of::<ConfigMap>(), header("d1"));
        let context = TraceContext { trace_id: 1, span_id: 2, is_sampled: true, state: None };
        let cause = WriteCause { context, started: Instant::now() };
        let record = |kind: &Kind, digest: &str| traces.record(kind, &header.key, digest, || Some(cause.clone()));
        record(&kind, "d1");
        assert_eq!(traces.take(&kind, &header), None, "the kind has no controller");
        traces.add_kind(&kind);
        record(&kind, "d1");
        record(&kind_of::<Secret>(), "d1");
        assert_eq!(traces.take(&kind, &header), Some(cause.clone()));
        assert_eq!(traces.take(&kind, &header), None);
        record(&kind, "another");
        assert_eq!(traces.take(&kind, &header), None, "a user has edited the object meanwhile");
    }
}
