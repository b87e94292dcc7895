//! Sinks that one watch feeds.

use super::feed::Sink;
use std::sync::Arc;

/// Several sinks, each told in turn.
#[derive(Default)]
pub(crate) struct Sinks(pub(crate) Vec<Arc<dyn Sink>>);

impl Sink for Sinks {
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

/// Two sinks, told one after the other.
pub(crate) struct Both<'a>(pub(crate) &'a dyn Sink, pub(crate) &'a dyn Sink);

impl Sink for Both<'_> {
    fn begin(&self) {
        self.0.begin();
        self.1.begin();
    }

    fn apply(&self, json: &[u8], listing: bool) {
        self.0.apply(json, listing);
        self.1.apply(json, listing);
    }

    fn delete(&self, json: &[u8]) {
        self.0.delete(json);
        self.1.delete(json);
    }

    fn finish(&self) {
        self.0.finish();
        self.1.finish();
    }
}
