//! `FanOut` passes the events of one watch to several sinks.

use crate::informer::reflector::Sink;
use std::sync::Arc;

/// A sink that passes each event to other sinks, in the order in which they were added.
#[derive(Clone, Default)]
pub(crate) struct FanOut<'a>(Vec<Arc<dyn Sink + 'a>>);

impl<'a> FanOut<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, sink: Arc<dyn Sink + 'a>) {
        self.0.push(sink);
    }
}

impl Sink for FanOut<'_> {
    fn begin_list(&self) {
        self.0.iter().for_each(|sink| sink.begin_list());
    }

    fn apply(&self, json: &[u8], from_list: bool) {
        self.0.iter().for_each(|sink| sink.apply(json, from_list));
    }

    fn delete(&self, json: &[u8]) {
        self.0.iter().for_each(|sink| sink.delete(json));
    }

    fn finish_list(&self) {
        self.0.iter().for_each(|sink| sink.finish_list());
    }

    fn remove_foreign(&self) {
        self.0.iter().for_each(|sink| sink.remove_foreign());
    }
}
