//! `PrimaryPredicate`: a type-erased predicate that decides which changes of a controller's primary objects start a pass. `RecentStates`:
//! cached values of recent states of these objects, with which a change is compared.

use crate::{
    Managed,
    predicate::{Facts, Passes, Predicate},
    reconcile::{ObjectKey, recent::RecentValues},
};
use std::fmt;
use std::sync::Arc;

/// The annotation that requests an immediate pass. Each new value is a request, for example the current time.
///
/// The pass is an ordinary one: it makes no additional writes, and it does nothing on a paused object. A parked object, which
/// waits for an action of a user, is tried again. `opgen reconcile KIND/NAME` sets the annotation.
pub const RECONCILE_ANNOTATION: &str = "opgen.dev/reconcile";

/// The predicate of a controller's primaries, without the type of their kind.
#[derive(Clone)]
pub(crate) struct PrimaryPredicate {
    /// Reads the facts that the predicate compares from the JSON of an object.
    pub(super) facts: ReadFactsFn,
    /// Whether the change between two states passes the predicate.
    pub(super) passes: Passes,
}

type ReadFactsFn = Arc<dyn Fn(&[u8]) -> serde_json::Result<Facts> + Send + Sync>;

impl PrimaryPredicate {
    /// Erases the type of a predicate. To compare two states of an object, it decodes each of them and reads the facts that the predicate
    /// compares.
    pub(crate) fn new<K: Managed>(predicate: Predicate<K>) -> Self {
        let reader = predicate.clone();
        let facts = move |json: &[u8]| {
            let object: K = serde_json::from_slice(json)?;
            Ok(reader.facts(object.metadata(), Some(&object)))
        };
        Self { facts: Arc::new(facts), passes: Arc::new(move |old, new| predicate.passes(old, new)) }
    }
}

impl fmt::Debug for PrimaryPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrimaryPredicate")
    }
}

/// Cached facts of the recent states of primaries.
#[derive(Debug, Default)]
pub(crate) struct RecentStates {
    pub(super) facts: RecentValues<Facts>,
    /// The digests of spec, labels and annotations.
    pub(super) content_digests: RecentValues<String>,
}

impl RecentStates {
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.facts.forget(key);
        self.content_digests.forget(key);
    }
}
