//! `OperatorClusterError`: marks the error of a call to the operator's own cluster, so that it does not count as a failure of the other
//! cluster in which a tree node has its objects.

use crate::{
    engine::pass::PassCore,
    error::{Error, Result},
};
use std::{error::Error as StdError, fmt};

/// The error of a call to the operator's cluster by a node in another cluster, such as an application. Without it, the failed call
/// would count as one to the other cluster, and a teardown could give that up.
#[derive(Debug)]
pub(super) struct OperatorClusterError(Box<dyn StdError + Send + Sync>);

impl OperatorClusterError {
    /// Marks an unexpected error, such as a failed call, as one of the operator's cluster. Other errors don't concern a cluster and stay
    /// the same.
    fn wrap(error: Error) -> Error {
        match error {
            Error::Unexpected(source) => Error::Unexpected(Box::new(Self(source))),
            other => other,
        }
    }

    /// Removes the mark from an error, so that the control loop finds the failed call as the source. An error without the mark stays the
    /// same.
    pub(super) fn unwrap(error: Error) -> Error {
        match error {
            Error::Unexpected(source) => match source.downcast::<Self>() {
                Ok(marked) => Error::Unexpected(marked.0),
                Err(source) => Error::Unexpected(source),
            },
            other => other,
        }
    }
}

impl PassCore<'_> {
    /// Marks the error of an outcome as [`OperatorClusterError`] if the node is in another cluster: the calls went to the operator's
    /// cluster, so their failure must not count for the other one.
    pub(in crate::provisioner) fn mark_operator_cluster_error(&self, outcome: Result<()>) -> Result<()> {
        if self.owner.is_remote() { outcome.map_err(OperatorClusterError::wrap) } else { outcome }
    }
}

impl fmt::Display for OperatorClusterError {
    /// Writes the message of the wrapped error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for OperatorClusterError {
    /// Returns the source of the wrapped error, whose own message [`fmt::Display`] writes.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;
    use crate::{
        client::{Client, Target},
        error::CallError,
        kind::kind_of,
    };
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::Value;

    /// Returns whether the source of an error is a failed call.
    fn is_call(error: &Error) -> bool {
        matches!(error, Error::Unexpected(source) if source.is::<CallError>())
    }

    #[tokio::test]
    async fn a_marked_error_is_no_failed_call_until_it_is_unwrapped() {
        let kind = kind_of::<ConfigMap>();
        let target = Target { kind: &kind, namespace: Some("default"), name: "a" };
        let failed: Result<Option<Value>> = Client::disconnected().get(target).await.map_err(Error::from);
        let Err(error) = failed else { panic!("there is no cluster") };
        let text = error.to_string();
        assert!(is_call(&error));
        let wrapped = OperatorClusterError::wrap(error);
        assert!(!is_call(&wrapped));
        assert_eq!(wrapped.to_string(), text);
        assert!(is_call(&OperatorClusterError::unwrap(wrapped)));
    }
}
