//! `Priority` of a queued key, and `Trigger`: the reason why it was added.

/// The priority of ready keys. Within one priority the order is that of arrival.
///
/// To prevent starvation, every sixteenth taken key is the one that has been ready longest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Priority {
    /// For lists and resyncs, for which nobody waits.
    Low,
    /// For changes of children and of other objects, and for requeues.
    #[default]
    Normal,
    /// For changes of the object by a user, who waits for the effect.
    High,
}

/// The reason why a key is in the queue. Of several triggers the highest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Trigger {
    /// The operator itself changed the object, or nothing changed and a [hold](Queue::hold) ended.
    #[default]
    Own,
    /// A child of the object changed, or an object that a custom node of its tree wrote.
    Children,
    /// The delay of [`Queue::add_after`] ended.
    Timer,
    /// Another object changed.
    Related,
    /// A user changed the object, or requested a reconcile. It ends a hold.
    Request,
}
