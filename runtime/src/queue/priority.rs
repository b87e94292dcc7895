//! `Priority` of a queued key, and `Trigger`: the reason for which it was added.

/// Who goes first among the keys that are ready. Within one priority the order is that of arrival.
///
/// Every sixteenth key handed out is, of the first of each priority, the one ready longest, so that nothing starves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Priority {
    /// Lists and polls: nobody waits for these in particular [M45].
    Low,
    /// Changes of children and of other objects, requeues.
    #[default]
    Normal,
    /// A user changed the object itself and waits for the effect.
    High,
}

/// Why a key is in the queue. Of several triggers the highest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Trigger {
    /// Nothing changed but the object of the key, by the operator's own write; or nothing at all after a [hold](Queue::hold).
    #[default]
    Own,
    /// Nothing changed but objects that were made for the key, its children, or that its own nodes have written.
    Children,
    /// The delay of [`Queue::add_after`] ended.
    Timer,
    /// Another object changed.
    Related,
    /// A user changed the object of the key, or asked for it. Ends a hold.
    Request,
}
