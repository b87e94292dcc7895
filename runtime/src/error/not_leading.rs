//! `NotLeading`: the error of a write that the operator must not send, or must abort, because it is not the leader.

/// The reason why a write was not sent, or its response not awaited. The replica that holds the lead now writes instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotLeading {
    /// The lead was not held, or its deadline had passed, when the write was to be sent.
    #[error("the write was not sent: this replica is not the leader")]
    NotSent,
    /// The lead ended before the API server responded. Whether the write was executed is unknown.
    #[error("the write was canceled: this replica lost the lead before the API server responded")]
    GivenUp,
}

impl NotLeading {
    /// Returns whether this is the cause of an error of a client.
    pub(crate) fn is_cause_of(error: &kube::Error) -> bool {
        matches!(error, kube::Error::Service(source) if source.is::<Self>())
    }
}
