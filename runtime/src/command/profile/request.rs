//! `PodRequest`: an HTTP request to the metrics port of an operator's Pod.

/// An HTTP request to the metrics port of an operator's Pod.
#[cfg_attr(not(feature = "profiling"), allow(dead_code, reason = "nothing is sent without the feature"))]
pub(super) struct PodRequest<'a> {
    pub(super) pod: &'a str,
    pub(super) namespace: &'a str,
    pub(super) port: u16,
    pub(super) path: &'a str,
    /// The ServiceAccount of the token, in the same namespace.
    pub(super) account: &'a str,
    pub(super) token: &'a str,
}
