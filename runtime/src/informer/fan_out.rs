//! Sinks that one watch feeds.

use crate::informer::reflector::Sink;
use std::sync::Arc;

/// Several sinks, each told in turn.
#[derive(Clone, Default)]
pub(crate) struct Sinks<'a>(Vec<Arc<dyn Sink + 'a>>);

impl<'a> Sinks<'a> {
    pub(crate) fn push(&mut self, sink: Arc<dyn Sink + 'a>) {
        self.0.push(sink);
    }
}

impl Sink for Sinks<'_> {
    fn begin(&self) {
        self.0.iter().for_each(|sink| sink.begin());
    }

    fn apply(&self, json: &[u8], listing: bool) {
        self.0.iter().for_each(|sink| sink.apply(json, listing));
    }

    fn delete(&self, json: &[u8]) {
        self.0.iter().for_each(|sink| sink.delete(json));
    }

    fn finish(&self) {
        self.0.iter().for_each(|sink| sink.finish());
    }
}
