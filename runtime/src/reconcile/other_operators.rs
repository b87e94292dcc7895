//! Finds objects that another operator controls as well, by the finalizers on them.

use crate::{cache::Header, reconcile::control_loop::Loop};

impl Loop {
    /// Wakes [`Loop::wait_for_other_operator`] if a primary that the watch has delivered has a finalizer of another operator.
    pub(super) fn note_finalizers(&self, header: &Header) {
        if has_finalizer_of_other(header, &self.source.kind().group, &[self.finalizer.as_str()]) {
            self.other_operator.notify_one();
        }
    }

    /// Waits until the watch has delivered an object that has a finalizer of another operator, or of another controller of this one.
    /// An object that came before the call counts once.
    pub(crate) async fn wait_for_other_operator(&self) {
        self.other_operator.notified().await;
    }
}

/// Returns whether another operator of the kind's group has a finalizer on an object.
pub(crate) fn has_finalizer_of_other(header: &Header, group: &str, own_finalizers: &[&str]) -> bool {
    let is_of_group = |finalizer: &str| finalizer.split_once('/').is_some_and(|(domain, _)| domain == group);
    header.finalizers.iter().any(|finalizer| is_of_group(finalizer) && !own_finalizers.contains(&finalizer))
}
