//! The predicate of primaries without its type, and facts cached of their last states.

use crate::{
    Managed,
    predicate::{Facts, Passes, Predicate},
    reconcile::{ObjectKey, recent::Recent},
};
use std::fmt;
use std::sync::Arc;

/// The annotation that asks for a pass at once: any value that it didn't have before, for example the time.
///
/// It asks for no more than a pass: nothing is written that wouldn't be, a paused object stays alone, and one that was parked
/// until somebody does something is tried again. `opgen reconcile KIND/NAME` sets it.
pub const RECONCILE: &str = "opgen.dev/reconcile";

/// The predicate of the primaries with its type gone.
#[derive(Clone)]
pub struct News {
    pub(super) facts: ReadFacts,
    pub(super) passes: Passes,
}

type ReadFacts = Arc<dyn Fn(&[u8]) -> serde_json::Result<Facts> + Send + Sync>;

impl News {
    pub(crate) fn new<K: Managed>(predicate: Predicate<K>) -> Self {
        let read = predicate.clone();
        let facts = move |json: &[u8]| {
            let object: K = serde_json::from_slice(json)?;
            Ok(read.facts(object.metadata(), Some(&object)))
        };
        Self { facts: Arc::new(facts), passes: Arc::new(move |old, new| predicate.passes(old, new)) }
    }
}

impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("News")
    }
}

/// What was found out of the last states of objects.
#[derive(Debug, Default)]
pub(crate) struct LastStates {
    pub(super) facts: Recent<Facts>,
    pub(super) wishes: Recent<String>,
}

impl LastStates {
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.facts.forget(key);
        self.wishes.forget(key);
    }
}
